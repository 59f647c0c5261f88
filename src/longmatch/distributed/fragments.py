"""Parts of the store that are written apart and become visible together, in one commit."""

import json
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from longmatch.library.errors import storage_errors
from longmatch.library.store import DOCUMENTS, Store, sql_in

Fragment = str  # JSON, as the store's format describes a part


def write_fragments(address: str, rows: pa.Table) -> list[Fragment]:
    """Write rows beside those of the library. Nobody sees them before they are committed."""
    import lance
    from lance.fragment import write_fragments as write

    with storage_errors(address):
        known = lance.dataset(_place(address)).schema.names  # a library made before may lack some
        rows = rows.select([name for name in rows.column_names if name in known])
        return [json.dumps(fragment.to_json()) for fragment in write(rows, _place(address), mode="append")]


def commit(store: Store, fragments: Sequence[Fragment], gone: Sequence[str]) -> None:
    """Make fragments part of the library and take documents away, in one commit."""
    import lance

    with storage_errors(store.address):
        dataset = lance.dataset(_place(store.address), version=store.version)
        new = [lance.FragmentMetadata.from_json(fragment) for fragment in fragments]
        changed, emptied = _without(dataset, gone) if gone else ([], [])
        operation = lance.LanceOperation.Update(
            removed_fragment_ids=emptied, updated_fragments=changed, new_fragments=new
        )
        lance.LanceDataset.commit(_place(store.address), operation, read_version=store.version)
    store.refresh()


def are_there(store: Store, fragments: Sequence[Fragment]) -> bool:
    """Whether the files of fragments written before are still there, and whole."""
    import lance
    from lance.file import LanceFileReader

    try:
        for fragment in fragments:
            known = lance.FragmentMetadata.from_json(fragment)
            for file in known.files:
                LanceFileReader(f"{_place(store.address)}/data/{file.path}").num_rows()
    except (OSError, ValueError):
        return False
    return True


def _without(dataset: Any, ids: Sequence[str]) -> tuple[list[Any], list[int]]:
    """The fragments that lose documents, and the numbers of those that lose all."""
    changed, emptied = [], []
    for fragment in dataset.get_fragments():
        left = fragment.delete(sql_in("id", ids))
        if left is None:
            emptied.append(fragment.fragment_id)
        elif left.deletion_file != fragment.metadata.deletion_file:
            changed.append(left)
    return changed, emptied


def _place(address: str) -> str:
    return f"{address.rstrip('/')}/{DOCUMENTS}.lance"

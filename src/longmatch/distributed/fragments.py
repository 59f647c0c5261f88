"""Fragments of the store: written separately by workers, made visible together in one commit."""

import json
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from longmatch.library.storage_errors import storage_errors
from longmatch.library.store import DOCUMENTS, Store, sql_in

Fragment = str  # JSON, as Lance describes a fragment


def write_fragments(address: str, rows: pa.Table) -> list[Fragment]:
    """Write rows into the library's store; they stay invisible until they are committed."""
    import lance
    from lance.fragment import write_fragments as write

    with storage_errors(address):
        known = lance.dataset(_dataset_address(address)).schema.names  # an older library may lack some columns
        rows = rows.select([name for name in rows.column_names if name in known])
        return [json.dumps(fragment.to_json()) for fragment in write(rows, _dataset_address(address), mode="append")]


def commit(store: Store, fragments: Sequence[Fragment], removed: Sequence[str]) -> None:
    """Add fragments to the library and remove documents (ids), in one commit."""
    import lance

    with storage_errors(store.address):
        dataset = lance.dataset(_dataset_address(store.address), version=store.version)
        new = [lance.FragmentMetadata.from_json(fragment) for fragment in fragments]
        changed, emptied = _without(dataset, removed) if removed else ([], [])
        operation = lance.LanceOperation.Update(
            removed_fragment_ids=emptied, updated_fragments=changed, new_fragments=new
        )
        lance.LanceDataset.commit(_dataset_address(store.address), operation, read_version=store.version)
    store.refresh()


def are_readable(store: Store, fragments: Sequence[Fragment]) -> bool:
    """Whether the files of fragments still exist and are intact."""
    import lance
    from lance.file import LanceFileReader

    try:
        for fragment in fragments:
            metadata = lance.FragmentMetadata.from_json(fragment)
            for file in metadata.files:
                LanceFileReader(f"{_dataset_address(store.address)}/data/{file.path}").num_rows()
    except (OSError, ValueError):
        return False
    return True


def _without(dataset: Any, ids: Sequence[str]) -> tuple[list[Any], list[int]]:
    """Delete documents: the fragments that lose some, and the ids of those that lose all."""
    changed, emptied = [], []
    for fragment in dataset.get_fragments():
        remaining = fragment.delete(sql_in("id", ids))
        if remaining is None:
            emptied.append(fragment.fragment_id)
        elif remaining.deletion_file != fragment.metadata.deletion_file:
            changed.append(remaining)
    return changed, emptied


def _dataset_address(address: str) -> str:
    return f"{address.rstrip('/')}/{DOCUMENTS}.lance"

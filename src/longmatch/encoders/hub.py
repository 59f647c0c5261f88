"""The Hugging Face hub: files from its cache, and from the network if it can be reached."""

import ssl
from functools import cache
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from longmatch.errors import LongmatchError

PATIENCE = 5  # seconds to wait for the hub


@cache
def is_reachable() -> bool:
    """Whether the hub answers; asked once, as its own client would try again and again."""
    from huggingface_hub import constants

    if constants.HF_HUB_OFFLINE:
        return False
    try:
        with urlopen(Request(constants.ENDPOINT, method="HEAD"), timeout=PATIENCE):
            return True
    except HTTPError:
        return True
    except URLError as error:
        return isinstance(error.reason, ssl.SSLError)  # there, but its client has certificates of its own
    except OSError:
        return False


def need_model(id: str) -> None:
    """Raise LongmatchError if a hub id is not in the cache while the hub cannot be reached."""
    from huggingface_hub import constants
    from huggingface_hub.file_download import repo_folder_name

    cached = Path(constants.HF_HUB_CACHE) / repo_folder_name(repo_id=id, repo_type="model")
    if not cached.is_dir() and not is_reachable():
        raise LongmatchError(
            f"The model {id} is neither a folder nor in the cache, and the Hugging Face hub cannot be reached. "
            "Check the name, or connect to the network."
        )


def cached_folder(id: str) -> Path | None:
    """The folder of a hub id in the cache; None if it is not there. Asks nobody."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError

    try:
        return Path(snapshot_download(id, local_files_only=True))
    except (HFValidationError, LocalEntryNotFoundError, OSError):
        return None


def hub_file(id: str, name: str) -> Path | None:
    """A file of a hub id, downloaded unless it is in the cache; None if there is none."""
    from huggingface_hub import hf_hub_download
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError
    from huggingface_hub.utils import validate_repo_id  # type: ignore[attr-defined]

    try:
        validate_repo_id(id)
        need_model(id)
        return Path(hf_hub_download(id, name, local_files_only=not is_reachable()))
    except (HfHubHTTPError, HFValidationError, LocalEntryNotFoundError, OSError):
        return None


def hub_folder(id: str, patterns: list[str], ignored: list[str]) -> Path:
    """The folder where the files of a hub id are cached, downloaded if necessary."""
    from huggingface_hub import snapshot_download

    need_model(id)
    local = not is_reachable()
    return Path(snapshot_download(id, allow_patterns=patterns, ignore_patterns=ignored, local_files_only=local))

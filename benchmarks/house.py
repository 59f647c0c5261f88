"""The size of the house, and the way of a query through it.

    python -m benchmarks.house                    modules, lines, importers, short functions, circles
    python -m benchmarks.house --single FOLDER    modules with one importer, short functions with one use
    python -m benchmarks.house --query            the way of a query: in a library, in memory

Lines are all lines of a file. A circle is a set of modules that import each other, at any depth of their code; what
stands under `TYPE_CHECKING` binds nothing and is left out.
"""

import argparse
import ast
import inspect
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from pathlib import Path
from types import FrameType
from typing import Any

from scipy.sparse import lil_array
from scipy.sparse.csgraph import connected_components

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "longmatch"
SHORT = 4  # lines of a function's body, its docstring left out


@dataclass(frozen=True)
class Module:
    """A file of the project."""

    path: Path

    @cached_property
    def text(self) -> str:
        """Its code."""
        return self.path.read_text(encoding="utf-8")

    @cached_property
    def tree(self) -> ast.Module:
        """Its syntax."""
        return ast.parse(self.text)

    @property
    def part(self) -> str:
        """Product, laboratory, benchmarks or tests."""
        first = self.path.relative_to(ROOT).parts[0]
        if first == "src":
            return "laboratory" if (SOURCE / "lab") in self.path.parents else "product"
        return first

    @property
    def name(self) -> str:
        """As it is imported."""
        base = ROOT / "src" if (ROOT / "src") in self.path.parents else ROOT
        return ".".join(self.path.relative_to(base).with_suffix("").parts).removesuffix(".__init__")

    @property
    def lines(self) -> int:
        """All of them."""
        return len(self.text.splitlines())

    @property
    def functions(self) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
        """Functions and methods."""
        return (node for node in ast.walk(self.tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def imported(nodes: Iterable[ast.AST]) -> set[str]:
    """What some statements import, each name also as the module that may hold it."""
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


def at_run_time(tree: ast.AST) -> Iterator[ast.AST]:
    """The statements of a file but for those that type checkers alone read."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if not (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)):
            yield node
            waiting += ast.iter_child_nodes(node)


def modules() -> list[Module]:
    """All files of source, benchmarks and tests."""
    return [Module(path) for folder in ("src", "benchmarks", "tests") for path in sorted((ROOT / folder).rglob("*.py"))]


def body_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """The lines of a function's body without its docstring."""
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    return (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0


def importers(files: list[Module]) -> dict[str, set[str]]:
    """The modules of the package that import each, packages left out."""
    names = {file.name for file in files if file.path.name != "__init__.py"}
    found: dict[str, set[str]] = {name: set() for name in names if name.startswith("longmatch.")}
    for file in files:
        if file.part != "tests":
            for name in imported(ast.walk(file.tree)) & found.keys() - {file.name}:
                found[name].add(file.name)
    return found


def circles(files: list[Module]) -> list[list[str]]:
    """Sets of modules that import each other when they run, inside functions too."""
    names = [file.name for file in files if file.part in ("product", "laboratory")]
    place = {name: number for number, name in enumerate(names)}
    graph = lil_array((len(names), len(names)))
    for file in files:
        if file.name in place:
            graph[place[file.name], [place[name] for name in imported(at_run_time(file.tree)) & place.keys()]] = 1
    _, circle = connected_components(graph.tocsr(), connection="strong")
    together: dict[int, list[str]] = defaultdict(list)
    for name, number in zip(names, circle.tolist(), strict=True):
        together[number].append(name)
    return [sorted(modules) for modules in together.values() if len(modules) > 1]


def size() -> None:
    """The table of the whole house."""
    files = modules()
    single = {name for name, users in importers(files).items() if len(users) == 1}
    print(f"{'':12}{'modules':>9}{'lines':>9}{'single importer':>17}{'functions':>11}{'short ones':>12}")
    total: Counter[str] = Counter()
    for part in ("product", "laboratory", "benchmarks", "tests"):
        mine = [file for file in files if file.part == part]
        functions = [function for file in mine for function in file.functions]
        row = {
            "modules": len(mine),
            "lines": sum(file.lines for file in mine),
            "single": sum(file.name in single for file in mine),
            "functions": len(functions),
            "short": sum(body_lines(function) <= SHORT for function in functions),
        }
        total.update({} if part == "tests" else row)
        print(f"{part:12}{row['modules']:9}{row['lines']:9}{row['single']:17}{row['functions']:11}{row['short']:12}")
    counts = f"{total['modules']:9}{total['lines']:9}{total['single']:17}{total['functions']:11}{total['short']:12}"
    print(f"{'not tests':12}{counts}")
    library = Module(SOURCE / "library" / "library.py").tree.body
    (body,) = (node.body for node in library if isinstance(node, ast.ClassDef) and node.name == "Library")
    methods = [node.name for node in body if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")]
    print(f"public methods of Library: {len(methods)}")
    found = circles(files)
    print(f"circles: {len(found)}", *(f"  {' '.join(circle)}" for circle in found), sep="\n")


def single(folder: Path) -> None:
    """What may be joined or inlined in a folder."""
    files = modules()
    users = importers(files)
    mine = [file for file in files if folder.resolve() in file.path.parents]
    for file in mine:
        if len(users.get(file.name, ())) == 1:
            print(f"{file.lines:5} {file.name} <- {next(iter(users[file.name]))}")
    words = Counter(word for file in files if file.part != "tests" for word in re.findall(r"\w+", file.text))
    tested = Counter(word for file in files if file.part == "tests" for word in re.findall(r"\w+", file.text))
    for file in mine:
        for function in file.functions:
            if body_lines(function) <= SHORT and words[function.name] == 2 and not function.name.startswith("__"):
                print(
                    f"{file.path.relative_to(ROOT)}:{function.lineno} {function.name} (tests: {tested[function.name]})"
                )


def query() -> None:
    """The way of a warm query: what is called with the query or a part of it, and how often a file is come back to."""
    import tempfile

    sys.path.insert(0, str(ROOT / "src"))
    from longmatch import Library, load

    with tempfile.TemporaryDirectory() as folder:
        library = Library(Path(folder) / "library")
        library.add(ROOT / "examples" / "collection")
        id = next(iter(library))
        documents = [library.show(id) for id in library]
        matcher = load("default")
        followed("library", lambda: library.rank(id), id)
        followed("memory", lambda: matcher.rank(documents[0], documents[1:]), id)


def holds(value: Any, id: str, depth: int = 3) -> bool:
    """Whether something is the document of an id or has it in its fields."""
    if type(value).__name__ == "Document":
        return bool(value.id == id)
    if isinstance(value, str):
        return value == id
    if not depth or not type(value).__module__.startswith("longmatch."):
        return False
    return any(holds(field, id, depth - 1) for field in getattr(value, "__dict__", {}).values())


def followed(where: str, ask: Any, id: str) -> None:
    """Ask once to warm up, then again with every call recorded; comprehensions and resumed generators are no calls."""
    ask()
    all_calls: list[tuple[str, str]] = []
    way: list[tuple[str, str]] = []
    arguments: set[str] = set()

    def record(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event != "call" or not code.co_filename.startswith(str(SOURCE)) or code.co_flags & inspect.CO_GENERATOR:
            return
        if code.co_name.startswith("<") and code.co_name != "<lambda>":
            return
        call = str(Path(code.co_filename).relative_to(SOURCE)), code.co_qualname
        all_calls.append(call)
        names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        mine = [name for name in names if holds(frame.f_locals.get(name), id)]
        if mine:
            way.append(call)
            arguments.update(mine)

    sys.setprofile(record)
    try:
        ask()
    finally:
        sys.setprofile(None)
    print(f"{where}: {_described(all_calls)} in all")
    print(f"  with the query: {_described(way)}, {len(arguments)} names for it")
    for file in dict.fromkeys(file for file, _ in way):
        print(f"    {file}: {', '.join(dict.fromkeys(name for other, name in way if other == file))}")


def _described(calls: list[tuple[str, str]]) -> str:
    entered = [file for file, _ in groupby(file for file, _ in calls)]
    return f"{len(set(entered))} files, {len(entered) - len(set(entered))} returns, {len(set(calls))} functions"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--single", type=Path, metavar="FOLDER")
    parser.add_argument("--query", action="store_true")
    options = parser.parse_args()
    if options.query:
        query()
    elif options.single:
        single(options.single)
    else:
        size()

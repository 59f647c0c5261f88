"""Every regular expression of the code that strangers' text meets, found in its source."""

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import longmatch

SOURCE = Path(longmatch.__file__).parent
TRUSTED = ("lab", "benchmarks")  # they read what their user has chosen, and no server runs them
FLAGS_AT = {"compile": 1, "match": 2, "fullmatch": 2, "search": 2, "sub": 4, "subn": 4, "split": 3}
FLAGS_AT |= {"findall": 2, "finditer": 2}  # the function, and which of its arguments are the flags


@dataclass(frozen=True)
class Expression:
    """One call of `re`, and by which methods its expression is used."""

    key: str  # module:name, of what it is assigned to or of what it lies in; with its number there from the second on
    module: str
    call: ast.Call
    methods: frozenset[str]

    def compiled(self, names: dict[str, Any]) -> re.Pattern[Any]:
        """The expression; `names` are of its function."""
        known = {**vars(import_module(self.module)), **names}
        at = FLAGS_AT[method_of(self.call)]
        given = [*self.call.args[at : at + 1], *(word.value for word in self.call.keywords if word.arg == "flags")]
        pattern, *flags = (eval(ast.unparse(node), known) for node in (self.call.args[0], *given))
        return re.compile(pattern, *flags)


def method_of(call: ast.Call) -> str:
    """The last name of what is called."""
    return call.func.attr if isinstance(call.func, ast.Attribute) else ""


@cache
def expressions() -> list[Expression]:
    """All, by file and line."""
    used = uses()
    return [expression for module, tree in modules() for expression in expressions_of(module, tree, used)]


def expressions_of(module: str, tree: ast.Module, used: dict[tuple[str, str], set[str]]) -> Iterator[Expression]:
    """Those of one module."""
    numbers: Counter[str] = Counter()
    for statement in tree.body:
        for call in ast.walk(statement):
            if not isinstance(call, ast.Call) or method_of(call) not in FLAGS_AT or name_of(call.func) != "re":
                continue
            target = (
                statement.targets[0] if isinstance(statement, ast.Assign) else getattr(statement, "target", statement)
            )
            if isinstance(target, ast.Tuple):
                target = next(name for name in target.elts if not numbers[name_of_target(name)])
            name = name_of_target(target)
            numbers[name] += 1
            number = f"#{numbers[name]}" if numbers[name] > 1 else ""
            methods = used.get((module, name), set()) if method_of(call) == "compile" else {method_of(call)}
            key = f"{module.removeprefix('longmatch.')}:{name}{number}"
            yield Expression(key, module, call, frozenset(methods))


def name_of_target(target: ast.AST) -> str:
    """Of a variable, function or class."""
    return str(getattr(target, "id", getattr(target, "name", "")))


@cache
def modules() -> list[tuple[str, ast.Module]]:
    """The names and trees of the product's files."""
    found = []
    for path in sorted(SOURCE.rglob("*.py")):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        if parts[0] not in TRUSTED:
            found.append((".".join(("longmatch", *parts)), ast.parse(path.read_text(encoding="utf-8"))))
    return found


def uses() -> dict[tuple[str, str], set[str]]:
    """By which methods the expressions of that module and name are used; a match at a place is a search."""
    found: dict[tuple[str, str], set[str]] = defaultdict(set)
    for module, tree in modules():
        imported = {
            alias.asname or alias.name: (str(node.module), alias.name)
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and node.attr in FLAGS_AT:
                found[imported.get(name_of(node), (module, name_of(node)))].add(node.attr)
            elif isinstance(node, ast.Call) and method_of(node) in ("match", "fullmatch") and len(node.args) > 1:
                found[imported.get(name_of(node.func), (module, name_of(node.func)))].add("search")
    return found


def name_of(node: ast.expr) -> str:
    """The name before the last dot, also of a function that is called for it."""
    before = getattr(node, "value", None)
    before = before.func if isinstance(before, ast.Call) else before
    return str(getattr(before, "id", getattr(before, "attr", "")))

"""What the site has beyond the files of docs: the reference of commands, Python interface and REST, from the code; and
the repository's own CONTRIBUTING and CHANGELOG.

mkdocs.yml names this file as a hook. The pages in docs/reference hold a few words, so that links to them lead somewhere
in a checkout too; what is made here follows them. Nothing of it is kept, so nothing can fall behind the code.
"""

import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import typer
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from longmatch.addresses import PUBLIC
from longmatch.cli.app import app
from longmatch.models.registry import models

ROOT = Path(__file__).parents[1]
COPIED = ("CONTRIBUTING.md", "CHANGELOG.md")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Name the pages of docs/results in the navigation."""
    config.nav = _expanded(config.nav, Path(config.docs_dir))
    return config


def _expanded(item: Any, docs: Path) -> Any:
    """The navigation, with the pages of a folder where it names one."""
    if isinstance(item, dict):
        return {title: _expanded(inner, docs) for title, inner in item.items()}
    if isinstance(item, list):
        return [_expanded(inner, docs) for inner in item]
    if item.endswith("/"):
        return [{path.stem: path.relative_to(docs).as_posix()} for path in sorted((docs / item).glob("*.md"))]
    return item


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages of the repository's root."""
    for name in COPIED:
        text = (ROOT / name).read_text(encoding="utf-8").replace("](docs/", "](")
        files.append(File.generated(config, name.lower(), content=text))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Append the reference to its pages, and lead links to the pages of the root where these are on the site."""
    for name in COPIED:
        markdown = markdown.replace(f"](../{name}", f"]({name.lower()}")
    made = {"reference/commands.md": commands_page, "reference/python.md": python_page, "reference/rest.md": rest_page}
    made["guides/add-a-model.md"] = models_page
    return f"{markdown}\n\n{made[page.file.src_uri]()}" if page.file.src_uri in made else markdown


def models_page() -> str:
    """Every declared model: what it needs, and how it may be used."""
    lines = ["## All models", "", "| name | | reads | score | needs | trained |", "|---|---|---|---|---|---|"]
    for model in models().values():
        reads = "both documents together" if model.reads_pairs else "each document alone"
        score = "a probability" if model.calibrated else "not calibrated"
        needs, trained = (f"`longmatch[{model.needs}]`" if model.needs else ""), ("yes" if model.recipe else "")
        lines.append(f"| `{model.name}` | {model.label} | {reads} | {score} | {needs} | {trained} |")
    return "\n".join(lines)


def commands_page() -> str:
    """Every command with its arguments and options, as its --help has them."""
    lines: list[str] = []
    for name, command in _commands("longmatch", typer.main.get_command(app)):
        context = command.context_class(command, info_name=name)
        usage = command.get_usage(context).removeprefix("Usage: ")
        lines += [f"## {name}", "", *(command.help or "").splitlines(), "", "```text", usage, "```", ""]
        records = [record for param in command.params if (record := param.get_help_record(context))]
        lines += ["| | |", "|---|---|", *(f"| `{_cell(a)}` | {_text(b)} |" for a, b in records), ""] if records else []
    return "\n".join(lines)


def _commands(name: str, command: Any) -> Iterator[tuple[str, Any]]:
    """The commands of a group, and those of its groups."""
    for part, inner in getattr(command, "commands", {}).items():
        if hasattr(inner, "commands"):
            yield from _commands(f"{name} {part}", inner)
        else:
            yield f"{name} {part}", inner


def python_page() -> str:
    """The public names, from their docstrings."""
    lines: list[str] = []
    for _, address in sorted(PUBLIC.items(), key=lambda item: item[0].lower()):
        lines += [f"::: {address.replace(':', '.')}", ""]
    return "\n".join(lines)


def rest_page() -> str:
    """The routes of the server, from its own description."""
    from longmatch.library.library import Library
    from longmatch.web.app import create_app

    with tempfile.TemporaryDirectory() as folder:
        schema = create_app(Library(Path(folder) / "library")).openapi()
    lines: list[str] = []
    for path, methods in schema["paths"].items():
        for method, route in methods.items():
            lines += [f"## {method.upper()} {path}", "", route.get("description", route.get("summary", "")), ""]
            lines += _route(route)
    lines += ["## Answers", ""]
    for name, model in schema["components"]["schemas"].items():
        lines += [f"### {name}", "", model.get("description", ""), ""]
        fields = model.get("properties", {}).items()
        lines += _rows("field", [(name, field, _text(field.get("description", ""))) for name, field in fields])
    return "\n".join(lines)


def _route(route: Mapping[str, Any]) -> Iterator[str]:
    """The parameters, the body and the answers of a route."""
    rows = []
    for parameter in route.get("parameters", []):
        schema = parameter["schema"]
        default = f" Default: `{schema['default']}`." if schema.get("default") not in (None, "") else ""
        needed = " Required." if parameter.get("required") else ""
        rows.append((parameter["name"], schema, _text(parameter.get("description", "")) + needed + default))
    yield from _rows("parameter", rows)
    content = route.get("requestBody", {}).get("content", {})
    kinds = [f"`{kind}`: {_type(body.get('schema', {}))}" for kind, body in content.items()]
    if kinds:
        yield from (f"Body: {'; '.join(kinds)}.", "")
    answers = []
    for status, response in route["responses"].items():
        content = response.get("content", {})
        shown = next((_type(body["schema"]) for body in content.values() if body.get("schema")), "")
        answers.append(f"{status} {shown}" if status.startswith("2") and shown else str(status))
    yield from (f"Answers {', '.join(answers)}.", "")


def _rows(what: str, rows: list[tuple[str, Mapping[str, Any], str]]) -> list[str]:
    """A table of names, types and descriptions."""
    lines = [f"| `{name}` | {_type(schema)} | {text} |" for name, schema, text in rows]
    return [f"| {what} | type | |", "|---|---|---|", *lines, ""] if rows else []


def _type(schema: Mapping[str, Any]) -> str:
    """A schema in a few words, with a link to the answer it names."""
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[1]
        return f"[{name}](#{name.lower()})"
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"])
    for key in ("anyOf", "oneOf", "allOf"):
        if key in schema:
            return " or ".join(_type(part) for part in schema[key])
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items', {}))}"
    return str(schema.get("type", "any"))


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _text(text: str) -> str:
    return _cell(text).replace("[", "\\[").replace("<", "&lt;").replace("\n", " ")

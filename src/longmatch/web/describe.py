"""The interface described, as a page that loads nothing from elsewhere."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse

from longmatch.render.html import environment

router = APIRouter(include_in_schema=False)

STYLE = Path(__file__).parent / "templates" / "docs.css"


@router.get("/docs")
async def docs(request: Request) -> HTMLResponse:
    """The description."""
    schema = request.app.openapi()
    groups: dict[str, list[dict[str, Any]]] = {}
    for tag, route in _routes(schema):
        groups.setdefault(tag, []).append(route)
    page = environment("longmatch.web").get_template("docs.html")
    return HTMLResponse(page.render(info=schema["info"], groups=groups, shapes=_shapes(schema)))


@router.get("/docs.css")
async def style() -> Response:
    """Its style."""
    return Response(STYLE.read_bytes(), media_type="text/css")


def _routes(schema: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each route as the page shows it, after its group."""
    for path, methods in schema["paths"].items():
        for method, route in methods.items():
            content = route.get("requestBody", {}).get("content", {})
            answers = []
            for status, answer in route["responses"].items():
                kinds = [kind_of(c.get("schema", {})) or kind for kind, c in answer.get("content", {}).items()]
                words = str(answer.get("description", "")).removeprefix("Successful Response")
                answers.append((status, " or ".join(kinds), words))
            shown = {
                "method": method.upper(),
                "path": path,
                "summary": route.get("summary", ""),
                "description": route.get("description", ""),
                "parameters": [
                    _field(p["name"], p["schema"], p.get("required", False), p.get("description", ""))
                    for p in route.get("parameters", [])
                ],
                "bodies": [(kind, kind_of(c["schema"])) for kind, c in content.items()],
                "answers": answers,
            }
            yield route.get("tags", ["other"])[0], shown


def _field(name: str, schema: dict[str, Any], required: bool, description: str) -> dict[str, Any]:
    """A value that a route takes, or a field of an answer."""
    return {"name": name, "kind": kind_of(schema), "required": required, "description": description}


def _shapes(schema: dict[str, Any]) -> dict[str, tuple[str, list[dict[str, Any]]]]:
    """The objects the interface speaks of, with their fields."""
    found = {}
    for name, shape in sorted(schema.get("components", {}).get("schemas", {}).items()):
        required = set(shape.get("required", ()))
        fields = [
            _field(field, value, field in required, value.get("description", ""))
            for field, value in shape.get("properties", {}).items()
        ]
        if fields:
            found[name] = (shape.get("description", ""), fields)
    return found


def kind_of(schema: dict[str, Any]) -> str:
    """A type in a few words.

    >>> kind_of({"type": "array", "items": {"$ref": "#/components/schemas/Point"}})
    'list of Point'
    >>> kind_of({"anyOf": [{"type": "string"}, {"type": "null"}]})
    'string or null'
    """
    if "$ref" in schema:
        return str(schema["$ref"]).rsplit("/", 1)[-1]
    if "enum" in schema:
        return " | ".join(map(str, schema["enum"]))
    if "const" in schema:
        return str(schema["const"])
    if "anyOf" in schema:
        return " or ".join(kind_of(part) for part in schema["anyOf"])
    if schema.get("type") == "array":
        return f"list of {kind_of(schema.get('items', {})) or 'values'}"
    if schema.get("type") == "object" and "properties" in schema:
        return ", ".join(f"{name}: {kind_of(value)}" for name, value in schema["properties"].items())
    bounds = [f"{sign} {schema[key]:,}" for key, sign in (("minimum", "from"), ("maximum", "to")) if key in schema]
    return " ".join([str(schema.get("format") or schema.get("type", "")), *bounds])

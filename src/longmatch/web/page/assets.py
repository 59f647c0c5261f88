"""The closed list of files the page is made of: its own, and those it shares with `Match.to_html`."""

from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

from longmatch.render import html as render

OWN = Path(__file__).parent / "files"
SHARED = Path(render.__file__).parent / "templates"
TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}


@dataclass(frozen=True)
class Asset:
    """One file, ready to be sent."""

    content: bytes
    media_type: str
    tag: str  # changes with the content


@lru_cache(maxsize=1)
def assets() -> dict[str, Asset]:
    """Every file by the name it has below /static: page/... for the page's own, render/... for the shared ones."""
    own = {f"page/{path.name}": path for path in sorted(OWN.iterdir()) if path.suffix in TYPES}
    shared = {f"render/{name}": SHARED / name for name in (*render.STYLES, *render.SCRIPTS)}
    return {name: _asset(path) for name, path in (own | shared).items()}


@lru_cache(maxsize=1)
def index() -> Asset:
    """The page itself."""
    names = list(assets())
    styles = [name for name in names if name.endswith(".css")]
    template = render.environment().from_string((OWN / "index.html").read_text("utf-8"))
    scripts = [f"render/{name}" for name in render.SCRIPTS]
    content = template.render(styles=sorted(styles, key=_shared_first), scripts=scripts).encode()
    return Asset(content, "text/html", _tag(content))


def _shared_first(name: str) -> tuple[bool, int]:
    """The shared styles in their order, then the page's own, which may overrule them."""
    order = [f"render/{style}" for style in render.STYLES]
    return (False, order.index(name)) if name in order else (True, 0)


def _asset(path: Path) -> Asset:
    content = path.read_bytes()
    return Asset(content, TYPES[path.suffix], _tag(content))


def _tag(content: bytes) -> str:
    return f'"{sha256(content).hexdigest()[:16]}"'

"""Files that mean harm: bombs, deep nesting, millions of words, damaged pages."""

import gzip
import io
import random
import zipfile
from pathlib import Path

PDF = Path(__file__).parents[1] / "tests" / "documents" / "pdf" / "fixtures" / "report.pdf"
MB = 1 << 20


def hostile_files(seed: int = 0) -> list[tuple[str, bytes]]:
    """Names and contents, in an order in which every second is a PDF, each damaged differently."""
    chance = random.Random(seed)
    fixed = {
        "bomb.jsonl.gz": gzip.compress(b'{"text": "' + b"The river rose. " * (128 * MB // 16) + b'"}'),
        "bomb.docx": _zipped("word/document.xml", b"<a>" * (20 * MB)),
        "bomb.epub": _zipped("META-INF/container.xml", b"<a>" * (20 * MB)),
        "nested.html": b"<div>" * 500_000,
        "brackets.md": b"[" * 20_000,
        "groups.rtf": b"{\\rtf1" + b"{\\b" * 500_000,
        "words.txt": b"many short words " * (24 * MB // 17),
        "one-word.txt": b"x" * (24 * MB),
    }
    pdf = PDF.read_bytes()
    files = []
    for file in fixed.items():
        damaged = bytearray(pdf)
        for _ in range(40):
            damaged[chance.randrange(len(pdf))] = chance.randrange(256)
        files += [file, ("damaged.pdf", bytes(damaged))]
    return files


def _zipped(member: str, content: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(member, content)
    return packed.getvalue()

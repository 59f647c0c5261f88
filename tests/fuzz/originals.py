"""One good file or more of every format, from which damaged ones are made."""

from collections.abc import Iterator
from email.message import EmailMessage
from pathlib import Path

from longmatch.documents.formats import suffixes
from tests.documents.packed import JATS, epub, zipped
from tests.safety.worst_inputs import WORST

ROOT = Path(__file__).parents[2]
LATEX = rb"""\documentclass{article}\title{Late ferries}\begin{document}\section{Wind}\label{s} Ferries run late in
wind \cite{a}.\footnote{In autumn.} $x^2 + \frac{1}{2}$ \begin{table}\caption{Days}\begin{tabular}{ll}a & b\\
c & d\end{tabular}\end{table}\begin{thebibliography}{9}\bibitem{a} A. Author. \end{thebibliography}\end{document}"""
_WORST = "\n\n".join(before + again * 40 + after for before, again, after in WORST.values())
WORST_TEXT = "".join(c for c in _WORST if c.isprintable() or c in "\n\t").encode()  # control characters are refused
STARTS = {".txt": b"", ".md": b"# Worst\n\n", ".html": b"<h1>Worst</h1><p>", ".tex": rb"\section{Worst} "}
STARTS |= {".rtf": rb"{\rtf1 ", ".eml": b"Subject: Worst\nDate: Thu, 1 Jan 2026 00:00:00 +0000\n\n"}
LINE = b'{"id": "a", "title": "Late", "sections": [{"heading": "Wind", "text": "Ferries run late."}], "year": 2019}\n'


def originals() -> dict[str, list[bytes]]:
    """The contents by suffix."""
    made: dict[str, list[bytes]] = {suffix: [] for suffix in suffixes() if suffix not in {".jsonl.gz", ".jsonl.xz"}}
    for path in _files():
        made[path.suffix].append(path.read_bytes())
    letter = _letter()
    made[".eml"].append(letter)
    made[".mbox"].append(
        b"From a Thu Jan  1 00:00:00 2026\n" + letter + b"\nFrom b Fri Jan  2 00:00:00 2026\n" + letter
    )
    made[".epub"].append(epub({"one.xhtml": "<h1>One</h1><p>It rained.</p>", "two.xhtml": "<p>It blew.</p>"}))
    made[".tex"].append(LATEX)
    made[".jsonl"].append(LINE * 3)
    made[".zip"].append(zipped({"a.txt": "Words.", "b/c.md": "# Head\n\nMore words.", "d.eml": letter}))
    for suffix, start in STARTS.items():
        made[suffix].append(start + WORST_TEXT)
    for suffix, other in ((".xml", JATS), (".nxml", JATS)):
        made[suffix].append(other.encode() if isinstance(other, str) else other)
    for suffix, same in ((".markdown", ".md"), (".htm", ".html")):
        made[suffix] = made[same]
    return made


def _files() -> Iterator[Path]:
    yield from sorted((ROOT / "examples" / "collection").iterdir())
    yield from (path for path in sorted((ROOT / "tests/documents/files").iterdir()) if path.suffix in suffixes())


def _letter() -> bytes:
    letter = EmailMessage()
    letter["From"], letter["Subject"], letter["Date"] = "A <a@b.c>", "Täglich", "Thu, 1 Jan 2026 00:00:00 +0000"
    letter.set_content("The ferries run late.\n\nToday, too.")
    letter.add_alternative("<h1>Late</h1><p>The ferries run <b>late</b>.</p>", subtype="html")
    return letter.as_bytes()

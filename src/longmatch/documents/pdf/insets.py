"""Insets of a column: figures with text wrapped around them, captions side by side."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from longmatch.documents.pdf.fragments import Fragment
from longmatch.documents.pdf.lines import CAPTION_LABEL, rows_of

_MIN_LINES = 4  # beside an inset


def split_insets(fragments: list[Fragment]) -> Iterator[list[Fragment]]:
    """Yield each wrapped figure, then the rest of the column, then captions beside others."""
    groups = list(_insets(fragments)) + [
        list(map(_mirrored, inset)) for inset in _insets(list(map(_mirrored, fragments)))
    ]
    keys = [{(fragment.x0, fragment.y, fragment.text) for fragment in group} for group in groups]
    inset = set().union(*keys)
    rest = [fragment for fragment in fragments if (fragment.x0, fragment.y, fragment.text) not in inset]
    captions = _side_captions(rest)
    captioned = {id(fragment) for caption in captions for fragment in caption}
    yield from groups
    yield [fragment for fragment in rest if id(fragment) not in captioned]
    yield from captions


def _mirrored(fragment: Fragment) -> Fragment:
    return replace(fragment, x0=-fragment.x1, x1=-fragment.x0)


def _insets(fragments: list[Fragment]) -> Iterator[list[Fragment]]:
    """Fragments to the right of lines that all end at one position, well before the column's edge."""
    prose = [fragment for fragment in fragments if fragment.prose]
    if len(prose) < 4:
        return
    left = sorted(fragment.x0 for fragment in prose)[len(prose) // 10]
    right = sorted(fragment.x1 for fragment in prose)[-1 - len(prose) // 10]
    width = right - left
    narrow = [
        fragment
        for fragment in prose
        if abs(fragment.x0 - left) < 2.5 * fragment.size and left + 0.25 * width < fragment.x1 < right - 0.15 * width
    ]
    taken: set[int] = set()
    for edge in sorted({round(fragment.x1) for fragment in narrow}):
        lines = sorted(
            (fragment for fragment in narrow if abs(fragment.x1 - edge) < 1.5), key=lambda fragment: fragment.y
        )
        for run in _runs(lines, fragments, edge):
            top, bottom = _free_height(run, fragments, edge)
            inset = [p for p in fragments if p.x0 > edge + 2 and top < p.y < bottom and id(p) not in taken]
            if inset and _letters(inset) < _letters(run):
                taken |= {id(fragment) for fragment in inset}
                yield inset


def _letters(fragments: list[Fragment]) -> int:
    return sum(len(fragment.text) for fragment in fragments if fragment.prose)


def _crosses(fragment: Fragment, edge: float) -> bool:
    return fragment.x0 < edge - 4 and fragment.x1 > edge + 4


def _runs(lines: list[Fragment], fragments: list[Fragment], edge: float) -> Iterator[list[Fragment]]:
    """Runs of at least four closely spaced lines that end at the edge, with nothing crossing it in between."""
    run: list[Fragment] = []
    for line in lines:
        if run and (
            line.y - run[-1].y > 4 * line.size
            or any(_crosses(fragment, edge) and run[-1].y < fragment.y < line.y for fragment in fragments)
        ):
            if len(run) >= _MIN_LINES:
                yield run
            run = []
        run.append(line)
    if len(run) >= _MIN_LINES:
        yield run


def _free_height(run: list[Fragment], fragments: list[Fragment], edge: float) -> tuple[float, float]:
    """How far up and down from the run nothing crosses the edge."""
    across = [fragment.y for fragment in fragments if _crosses(fragment, edge)]
    top = max((y for y in across if y < run[0].y), default=float("-inf"))
    bottom = min((y for y in across if y > run[-1].y), default=float("inf"))
    return top, bottom


def _side_captions(fragments: list[Fragment]) -> list[list[Fragment]]:
    """Captions with other text to their left, such as that of the second of two figures."""
    captions: list[list[Fragment]] = []
    rows = rows_of(fragments)
    for index, row in enumerate(rows):
        for before, fragment in pairwise(row):
            label = CAPTION_LABEL.match(fragment.text)
            if (
                not label
                or not (label["after"] or label["zh"] or "").strip()
                or fragment.x0 - before.x1 < 0.5 * fragment.size
            ):
                continue
            caption = [fragment]
            for below in rows[index + 1 :]:
                next_line = next(
                    (f for f in below if f.x0 > before.x1 and abs(f.x0 - fragment.x0) < 1.5 * f.size), None
                )
                if next_line is None or next_line.y - caption[-1].y > 1.6 * next_line.size:
                    break
                caption.append(next_line)
            captions.append(caption)
    return captions

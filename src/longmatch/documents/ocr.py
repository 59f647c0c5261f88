"""The text in pictures, with the extra `ocr`: RapidOCR, whose models lie in its package, on OpenVINO."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread
from typing import Any

import numpy as np
import numpy.typing as npt

Pixels = npt.NDArray[np.uint8]  # (height, width, 3): red, green, blue
Corners = npt.NDArray[np.float64]  # (lines, 4, 2): from the upper left corner clockwise; x, y
OnPage = Callable[[int, int], None]  # pages read so far, pages to read

INSTALL = "pip install 'longmatch[ocr]'"
LONGEST_SIDE = 1760  # pixels of a page: 150 dots per inch for A4
WIDTHS = 160  # pixels by which the widths of lines differ, which are 48 high
_MODELS = {
    "Det": "PP-OCRv6_det_small.onnx",
    "Rec": "PP-OCRv6_rec_small.onnx",
    "Cls": "ch_ppocr_mobile_v2.0_cls_mobile.onnx",
}
_DARK = 0.55  # shade of ink, where paper has 1
_TALL = 1.5  # height of a line's box over its width if it runs from top to bottom

_watchers: list[OnPage] = []  # of this process; files may be read in another thread


@dataclass(frozen=True, slots=True)
class OcrLine:
    """A line of text in a picture; coordinates in pixels, as if the picture were straight."""

    text: str
    left: float
    right: float
    top: float
    bottom: float
    confidence: float  # 0 to 1
    stroke: float = 0.0  # the mean width of what is dark on it: bold type has broad strokes


def is_available() -> bool:
    """Whether the extra is installed."""
    return find_spec("rapidocr") is not None


@contextmanager
def watching(on_page: OnPage) -> Iterator[None]:
    """Call `on_page` before the first page that is read by OCR in this block, and after each."""
    _watchers.append(on_page)
    try:
        yield
    finally:
        _watchers.remove(on_page)


def report_page(done: int, total: int) -> None:
    """Pages have been read, or will be."""
    for on_page in _watchers:
        on_page(done, total)


@contextmanager
def relayed(seconds: float = 0.5) -> Iterator[Path]:
    """A file in which another process says how many pages it has read (`relaying`); this one's watchers are told."""
    with TemporaryDirectory(prefix="longmatch-pages-") as folder:
        file, ended = Path(folder) / "pages", Event()

        def tell() -> None:
            known = ""
            while not ended.wait(seconds):
                said = file.read_text() if file.exists() else ""
                if said != known and said.endswith("\n"):  # else it is being written
                    known = said
                    report_page(*map(int, said.split()))

        relay = Thread(target=tell, daemon=True)
        relay.start()
        try:
            yield file
        finally:
            ended.set()
            relay.join()


@contextmanager
def relaying(file: Path) -> Iterator[None]:
    """Write the pages that are read in this block to a file, for the process that waits for them."""

    def on_page(done: int, total: int) -> None:
        with suppress(OSError):  # nobody waits any more
            file.write_text(f"{done} {total}\n")

    with watching(on_page):
        yield


def confidence_of(lines: Sequence[OcrLine]) -> float:
    """How sure the recogniser is of a page, 0 to 1: the mean over its characters."""
    characters = sum(len(line.text) for line in lines)
    return sum(line.confidence * len(line.text) for line in lines) / characters if characters else 0.0


def recognise(pixels: Pixels) -> list[OcrLine]:
    """The lines of text in a picture. One that lies on its side or is slightly askew is read as if it were straight."""
    found = _recognise(pixels)
    if found.texts and np.median(_lengths(found.corners, 3) / _lengths(found.corners, 1).clip(min=1)) > _TALL:
        turned = [_recognise(np.ascontiguousarray(np.rot90(pixels, turns))) for turns in (1, 3)]
        found = max(turned, key=lambda each: float(np.mean(each.scores or [0.0])))
    if not found.texts:
        return []
    shades = found.pixels.mean(axis=2)
    dark = shades < _DARK * np.percentile(shades, 80)  # most of a page is paper
    strokes = [_stroke(dark, corners) for corners in found.corners]
    # The corners turned back by the angle of the lines, the longer of which count more
    along = found.corners[:, 1] - found.corners[:, 0]
    angle = weighted_median(np.arctan2(along[:, 1], along[:, 0]), _lengths(found.corners, 1))
    cosine, sine = np.cos(angle), np.sin(angle)
    centre = found.corners.reshape(-1, 2).mean(axis=0)
    corners = (found.corners - centre) @ np.array([[cosine, -sine], [sine, cosine]]) + centre
    left, right = corners[:, (0, 3), 0].mean(axis=1), corners[:, (1, 2), 0].mean(axis=1)
    top, bottom = corners[:, (0, 1), 1].mean(axis=1), corners[:, (2, 3), 1].mean(axis=1)
    edges = (left.tolist(), right.tolist(), top.tolist(), bottom.tolist())
    rows = zip(found.texts, *edges, found.scores, strokes, strict=True)
    return [OcrLine(*row) for row in rows if row[0].strip()]


@dataclass(frozen=True)
class _Recognised:
    """What the recogniser found in a picture."""

    pixels: Pixels
    texts: Sequence[str]
    corners: Corners
    scores: Sequence[float]


def _recognise(pixels: Pixels) -> _Recognised:
    found = _engine()(np.ascontiguousarray(pixels[..., ::-1]))  # blue, green, red
    if found.boxes is None or found.txts is None:
        return _Recognised(pixels, (), np.zeros((0, 4, 2)), ())
    corners = np.asarray(found.boxes, dtype=np.float64)
    return _Recognised(pixels, found.txts, corners, [float(score) for score in found.scores])


def _stroke(dark: npt.NDArray[np.bool_], corners: Corners) -> float:
    """The mean length of the dark stretches in a line's box, from left to right."""
    left, top = np.floor(corners.min(axis=0)).astype(int).clip(min=0)
    right, bottom = np.ceil(corners.max(axis=0)).astype(int)
    box = dark[top:bottom, left:right]
    changes = int((box[:, 1:] != box[:, :-1]).sum())
    return 2 * int(box.sum()) / changes if changes else 0.0


def _lengths(corners: Corners, corner: int) -> npt.NDArray[np.float64]:
    """From the upper left corner of each box to the next one, 1, which is its width, or the last, 3: its height."""
    return np.asarray(np.linalg.norm(corners[:, corner] - corners[:, 0], axis=1))


def weighted_median(values: npt.ArrayLike, weights: npt.ArrayLike) -> float:
    """The value at which half of the weights are reached."""
    values, weights = np.asarray(values), np.asarray(weights)
    order = np.argsort(values)
    return float(values[order][np.searchsorted(np.cumsum(weights[order]), weights.sum() / 2)])


@cache
def _engine() -> Any:
    """The recogniser; its models come from its package, never from elsewhere."""
    import cv2
    import rapidocr

    threads = int(os.environ.get("OMP_NUM_THREADS") or 0) or os.cpu_count() or 1
    cv2.setNumThreads(threads)
    folder = Path(rapidocr.__file__).parent / "models"
    settings: dict[str, Any] = {
        "Global.log_level": "error",
        "Global.use_cls": False,
        "Rec.rec_batch_num": 1,
        "EngineConfig.openvino.inference_num_threads": threads,
    }
    for part, model in _MODELS.items():
        settings |= {f"{part}.engine_type": rapidocr.EngineType.OPENVINO, f"{part}.model_path": str(folder / model)}
    engine = rapidocr.RapidOCR(params=settings)
    recogniser = engine._load_rec_model()  # which it would do with the first line
    recogniser.session = FewWidths(recogniser.session)
    return engine


class FewWidths:
    """Pads pictures of lines to one of few widths: OpenVINO compiles for each width, and keeps all it has compiled."""

    def __init__(self, session: Any) -> None:
        self._session = session

    def __call__(self, lines: npt.NDArray[np.float32]) -> Any:
        """`lines` is (lines, channels, height, width); 0 is what RapidOCR itself pads with."""
        return self._session(np.pad(lines, [(0, 0)] * 3 + [(0, -lines.shape[3] % WIDTHS)]))

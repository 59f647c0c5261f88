"""The text in pictures, with the extra `ocr`: RapidOCR, whose models lie in its package, on OpenVINO."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Pixels = npt.NDArray[np.uint8]  # (height, width, 3): red, green, blue
Corners = npt.NDArray[np.float64]  # (lines, 4, 2): from the upper left corner clockwise; x, y
OnPage = Callable[[int, int], None]  # pages read so far, pages to read

INSTALL = "pip install 'longmatch[ocr]'"
LONGEST_SIDE = 1760  # pixels of a page: 150 dots per inch for A4
_MODELS = {
    "Det": "PP-OCRv6_det_small.onnx",
    "Rec": "PP-OCRv6_rec_small.onnx",
    "Cls": "ch_ppocr_mobile_v2.0_cls_mobile.onnx",
}
_TALL = 1.5  # height of a line's box over its width if it runs from top to bottom

_on_page: ContextVar[OnPage | None] = ContextVar("on_page", default=None)


@dataclass(frozen=True, slots=True)
class OcrLine:
    """A line of text in a picture; coordinates in pixels, as if the picture were straight."""

    text: str
    left: float
    right: float
    top: float
    bottom: float
    confidence: float  # 0 to 1


def is_available() -> bool:
    """Whether the extra is installed."""
    return find_spec("rapidocr") is not None


@contextmanager
def watching(on_page: OnPage) -> Iterator[None]:
    """Call `on_page` after each page that is read by OCR in this block."""
    token = _on_page.set(on_page)
    try:
        yield
    finally:
        _on_page.reset(token)


def report_page(done: int, total: int) -> None:
    """A page has been read."""
    if (on_page := _on_page.get()) is not None:
        on_page(done, total)


def confidence_of(lines: Sequence[OcrLine]) -> float:
    """How sure the recogniser is of a page, 0 to 1: the mean over its characters."""
    characters = sum(len(line.text) for line in lines)
    return sum(line.confidence * len(line.text) for line in lines) / characters if characters else 0.0


def recognise(pixels: Pixels) -> list[OcrLine]:
    """The lines of text in a picture. One that lies on its side or is slightly askew is read as if it were straight."""
    texts, corners, scores = _recognise(pixels)
    if len(texts) and np.median(_heights(corners) / _widths(corners).clip(min=1)) > _TALL:
        turned = [_recognise(np.ascontiguousarray(np.rot90(pixels, turns))) for turns in (1, 3)]
        texts, corners, scores = max(turned, key=lambda read: float(np.mean(read[2])) if len(read[2]) else 0.0)
    if not len(texts):
        return []
    corners = _straightened(corners)
    left, right = corners[:, (0, 3), 0].mean(axis=1), corners[:, (1, 2), 0].mean(axis=1)
    top, bottom = corners[:, (0, 1), 1].mean(axis=1), corners[:, (2, 3), 1].mean(axis=1)
    rows = zip(texts, left.tolist(), right.tolist(), top.tolist(), bottom.tolist(), scores, strict=True)
    return [OcrLine(*row) for row in rows if row[0].strip()]


def _recognise(pixels: Pixels) -> tuple[Sequence[str], Corners, Sequence[float]]:
    found = _engine()(np.ascontiguousarray(pixels[..., ::-1]))  # blue, green, red
    if found.boxes is None or found.txts is None:
        return (), np.zeros((0, 4, 2)), ()
    return found.txts, np.asarray(found.boxes, dtype=np.float64), [float(score) for score in found.scores]


def _widths(corners: Corners) -> npt.NDArray[np.float64]:
    return np.asarray(np.linalg.norm(corners[:, 1] - corners[:, 0], axis=1))


def _heights(corners: Corners) -> npt.NDArray[np.float64]:
    return np.asarray(np.linalg.norm(corners[:, 3] - corners[:, 0], axis=1))


def _straightened(corners: Corners) -> Corners:
    """The corners turned back by the angle of the lines, the longer of which count more."""
    along = corners[:, 1] - corners[:, 0]
    widths = _widths(corners)
    angles = np.arctan2(along[:, 1], along[:, 0])
    order = np.argsort(angles)
    middle = order[np.searchsorted(np.cumsum(widths[order]), widths.sum() / 2)]
    cosine, sine = np.cos(angles[middle]), np.sin(angles[middle])
    centre = corners.reshape(-1, 2).mean(axis=0)
    return np.asarray((corners - centre) @ np.array([[cosine, -sine], [sine, cosine]]) + centre)


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
    return rapidocr.RapidOCR(params=settings)

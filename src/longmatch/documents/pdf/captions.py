"""How captions begin."""

import re

CAPTION = re.compile(
    r"(?:figure|fig\.?|table|tab\.|algorithm|listing|scheme|chart|exhibit|plate|abbildung|abb\.|tabelle|tableau|figura|tabla)"
    r"\s*(?:[A-Z][.-]?)?(?:\d+|[IVXL]+\b)(?:[.-]\d+)*[a-z]?(?P<after>\s*[:.|–—-]|\s*\(|\s*$|\s+)|[图表図圖]\s*\d+(?P<zh>[.:：\s-]|$)",
    re.IGNORECASE,
)

"""The bars of a terminal: that of a place in an order looks otherwise than that of a probability."""

Bar = list[tuple[str, str]]  # pieces of text with their styles


def probability_bar(probability: float | None, width: int) -> Bar:
    """A probability, and two spaces; nothing for none."""
    if probability is None:
        return []
    full = round(probability * width)
    return [("█" * full, "blue"), ("░" * (width - full), "dim"), ("  ", "")]


def rank_bar(place: float, width: int) -> Bar:
    """A place in an order, from 1 for the first, and two spaces."""
    full = round(place * width)
    return [("━" * full, "dim"), ("┈" * (width - full), "dim"), ("  ", "")]

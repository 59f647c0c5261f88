"""Pairs of rows side by side, padded, as the plain loop does it."""

import torch


def padded(sides):
    """Ids, mask and types of rows side by side."""
    rows = [[2, *a, 3, *b, 3] for a, b in sides]
    ids = torch.zeros(len(rows), max(map(len, rows)), dtype=torch.long)
    types = torch.zeros_like(ids)
    for number, (row, (a, _)) in enumerate(zip(rows, sides, strict=True)):
        ids[number, : len(row)] = torch.tensor(row)
        types[number, len(a) + 2 : len(row)] = 1
    return ids, ids > 0, types

"""Damage to a file: bytes flipped, cut, repeated, replaced by awkward ones; in packed formats, inside their members."""

import io
import random
import zipfile

AWKWARD = [
    *(
        b"\0",
        b"\xff" * 8,
        b"\x80",
        b"\xed\xa0\x80",
        b"\xef\xbf\xbf",
        b"<",
        b">",
        b"&",
        b'"',
        b"\\",
        b"{",
        b"}",
        b"%",
        b"\n",
    ),
    *(b"-1", b"0", b"99999999999999999999", b"1e308", b"NaN", b"&#0;", b"&#x10ffff;", b"<![CDATA[", b"<!--", b"]]>"),
    *(b"<!DOCTYPE a [<!ENTITY b 'c'>]>", b"endobj", b"stream\n", b"\\u-99999?", b"\\bin99999999 ", b"{\\*" * 50),
    *(b"<p>" * 200, b"> " * 300, b"#" * 100, b"[" * 500, b"\\begin{a}" * 100, "٣本\u200f\u2028".encode(), b"../../x"),
]


def damaged(original: bytes, seed: str) -> bytes:
    """A damaged copy; the same for the same seed."""
    rng = random.Random(seed)
    if original.startswith(b"PK") and rng.random() < 0.8:
        return _damage_member(original, rng)
    return _damage(original, rng)


def _damage(content: bytes, rng: random.Random) -> bytes:
    for _ in range(rng.choice([1, 1, 2, 3, 8, 30])):
        content = rng.choice([_flip, _flip, _cut, _truncate, _repeat, _insert, _overwrite, _swap])(content, rng)
    return content


def _damage_member(content: bytes, rng: random.Random) -> bytes:
    """Unpack, damage one member or the list of members, pack again."""
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as source, zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as target:
        members = source.infolist()
        chosen = rng.randrange(len(members))
        for place, member in enumerate(members):
            if place == chosen and rng.random() < 0.1:
                continue
            data = source.read(member)
            target.writestr(member.filename, _damage(data, rng) if place == chosen else data)
    packed = made.getvalue()
    return _damage(packed, rng) if rng.random() < 0.1 else packed


def _place(content: bytes, rng: random.Random) -> int:
    return rng.randrange(len(content) + 1)


def _flip(content: bytes, rng: random.Random) -> bytes:
    if not content:
        return content
    place = rng.randrange(len(content))
    return content[:place] + bytes([content[place] ^ (1 << rng.randrange(8))]) + content[place + 1 :]


def _cut(content: bytes, rng: random.Random) -> bytes:
    place = _place(content, rng)
    return content[:place] + content[place + rng.choice([1, 4, 50, 2_000]) :]


def _truncate(content: bytes, rng: random.Random) -> bytes:
    return content[: _place(content, rng)] if rng.random() < 0.3 else content


def _repeat(content: bytes, rng: random.Random) -> bytes:
    place = _place(content, rng)
    part = content[place : place + rng.choice([1, 20, 500])]
    return content[:place] + part * rng.choice([2, 10, 200]) + content[place:]


def _insert(content: bytes, rng: random.Random) -> bytes:
    place = _place(content, rng)
    return content[:place] + rng.choice(AWKWARD) + content[place:]


def _overwrite(content: bytes, rng: random.Random) -> bytes:
    place, awkward = _place(content, rng), rng.choice(AWKWARD)
    return content[:place] + awkward + content[place + len(awkward) :]


def _swap(content: bytes, rng: random.Random) -> bytes:
    first, second = sorted((_place(content, rng), _place(content, rng)))
    return content[second:] + content[first:second] + content[:first]

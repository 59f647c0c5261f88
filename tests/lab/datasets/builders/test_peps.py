"""Python Enhancement Proposals."""

from longmatch.lab.datasets.builders import peps

ONE = """PEP: 1
Title: Purpose and
Author: Some One <one@example.org>
Status: Active
Requires: 7
Post-History: 21-Mar-2001

Abstract
========

This must not be read.

.. contents::
   :depth: 2

What is a PEP?
==============

It is a *design* document, see :pep:`8` and `PEP 20 <https://peps.python.org/pep-0020/>`__.
Use ``print`` [#note]_ and :pep:`the guide <12#scope>`.

- a point
  on two lines

Code::

    x = 1

Details
-------

As https://peps.python.org/pep-0008/ and **PEP 257** say.

References
==========

.. [#note] PEP 404

Copyright
=========

Public domain.
"""


def other(number: int) -> str:
    return f"PEP: {number}\nTitle: Number {number}\n\nMotivation\n==========\n\nWords of proposal {number}.\n"


def test_proposals_become_sections_with_their_references_masked(built):
    files = {"peps/pep-0001.rst": ONE, **{f"peps/pep-{n:04}.rst": other(n) for n in (7, 8, 12, 20, 404)}}
    data = built(peps.build, files, min_words=3)
    assert data.ids == ("PEP1", "PEP7", "PEP8", "PEP12", "PEP20", "PEP404")
    first = next(data.records())
    assert first.title == "Purpose and"
    assert [tuple(part) for part in first.parts] == [
        (
            "What is a PEP?",
            "It is a design document, see [PEP] and [PEP]. Use print and [PEP].\n\n- a point on two lines\n\n"
            "Code:\n\nx = 1",
        ),
        ("Details", "As [PEP] and [PEP] say."),
    ]
    assert data.qrels() == {"PEP1": {"PEP8": 1, "PEP12": 1, "PEP20": 1, "PEP404": 1}}


def test_short_proposals_are_left_out(lay_out, tmp_path):
    raw = lay_out({"peps/pep-0001.rst": ONE, "peps/pep-0002.rst": other(2)})
    summary = peps.build(raw, tmp_path / "out", min_words=10)
    assert (summary.documents, summary.unreadable) == (1, 1)

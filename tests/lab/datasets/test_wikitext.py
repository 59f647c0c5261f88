"""Wikipedia's markup."""

import time

from hypothesis import given
from hypothesis import strategies as st

from longmatch.lab.datasets.wikitext import is_disambiguation, link_targets, remove_nested, wikitext_parts

ARTICLE = """{{Infobox fruit|name={{lang|en|Apple}}|tree=[[Malus]]}}
<!-- a [[hidden]] remark -->
[[File:Apple.jpg|thumb|A red [[apple]] on a [[table]].]]
An '''apple''' is a ''sweet'' [[fruit|edible fruit]] of the [[apple tree]]<ref name="a">Smith</ref>.<ref name="a" />
It grows worldwide&nbsp;&mdash; see [https://example.org the survey] and [[:Category:Fruit]].

{| class="wikitable"
| a || [[table cell]]
|}
== Use ==
* Eaten raw<br>or cooked
* As [[cider]]
=== In art ===
Painted often. <gallery>File:X.jpg|[[Still life]]</gallery>
== See also ==
* [[Pear]]
== References ==
{{reflist}}
[[Category:Fruit]]
"""


def test_an_article_becomes_prose_in_sections():
    assert [tuple(part) for part in wikitext_parts(ARTICLE)] == [
        (
            "",
            "An apple is a sweet edible fruit of the apple tree.\n\n"
            "It grows worldwide — see the survey and Category:Fruit.",
        ),
        ("Use", "Eaten raw\n\nor cooked\n\nAs cider"),
        ("In art", "Painted often."),
    ]


def test_links_are_found_everywhere_but_in_remarks():
    links = set(link_targets(ARTICLE))
    assert {"Malus", "Apple", "Table", "Fruit", "Apple tree", "Table cell", "Cider", "Pear"} <= links
    assert "Hidden" not in links


def test_pages_that_only_list_meanings_are_known():
    assert is_disambiguation("Mercury", "may be\n{{Disambiguation|geo}}")
    assert is_disambiguation("Mercury (disambiguation)", "")
    assert is_disambiguation("X", "{{hndis|X}}")
    assert not is_disambiguation("Mercury", "{{About|the planet}} a planet")


@given(st.text(st.sampled_from("a{}[|]=<!->ref/\n '&;#*")))
def test_no_markup_however_broken_stops_it(text):
    assert isinstance(wikitext_parts(text), tuple)
    list(link_targets(text))


@given(st.lists(st.sampled_from(["{{", "}}", "x"])))
def test_no_mark_survives_removal(pieces):
    assert set(remove_nested("".join(pieces), "{{", "}}")) <= {"x"}


def test_hostile_markup_takes_linear_time():
    start = time.process_time()
    for text in ("{{" * 200_000, "[[" * 200_000, "<ref>" * 20_000, "{{a b" * 50_000, "==" * 100_000, "''" * 200_000):
        wikitext_parts(text)
        is_disambiguation("X", text)
        list(link_targets(text))
    assert time.process_time() - start < 20

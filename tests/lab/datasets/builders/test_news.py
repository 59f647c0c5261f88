"""ECB+, CNSE and CNSS: news on the same event or story."""

import pytest

from longmatch.errors import ReadError
from longmatch.lab.datasets.builders import ecbplus
from longmatch.lab.datasets.catalogue import find
from longmatch.lab.datasets.splits import NEWS


def ecb(name: str, *sentences: str, first: int = 0) -> str:
    tokens, number = [], 0
    for at, sentence in enumerate(sentences, first):
        for place, word in enumerate(sentence.split()):
            number += 1
            tokens.append(f'<token t_id="{number}" sentence="{at}" number="{place}">{word}</token>')
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<Document doc_name="{name}.xml" doc_id="1">\n'
        + "\n".join(tokens)
        + '\n<Markables>\n<ACTION_OCCURRENCE m_id="1"><token_anchor t_id="2"/></ACTION_OCCURRENCE>\n</Markables>\n'
        "<Relations/>\n</Document>\n"
    )


def test_ecbplus_pairs_the_articles_of_a_topic(built):
    sentences = [f"Sentence {n} ." for n in range(6)]
    files = {
        "ECB+/1/1_10ecb.xml": ecb("1_10ecb", *sentences),
        "ECB+/1/1_11ecb.xml": ecb("1_11ecb", "Reid 's rep said : `` We are fine . ''"),
        "ECB+/1/1_2ecbplus.xml": ecb("1_2ecbplus", "http : //example . org", "Lohan left ."),
        "ECB+/45/45_1ecb.xml": ecb("45_1ecb", "Another topic ."),
    }
    data = built(ecbplus.build, files)
    assert set(data.ids) == {"1_10ecb", "1_11ecb", "1_2ecbplus", "45_1ecb"}
    assert {(p.source, p.target, p.label) for p in data.pairs()} == {
        ("1_10ecb", "1_11ecb", 1),
        ("1_10ecb", "1_2ecbplus", 0),
        ("1_11ecb", "1_2ecbplus", 0),
    }
    assert {p.split for p in data.pairs()} == {NEWS.of("t1")}
    texts = {record.id: record.parts[0].text for record in data.records()}
    assert texts["1_10ecb"] == "Sentence 0. Sentence 1. Sentence 2. Sentence 3.\n\nSentence 4. Sentence 5."
    assert texts["1_11ecb"] == 'Reid\'s rep said: "We are fine."'
    assert texts["1_2ecbplus"] == "Lohan left."


HEADER = (
    "label|doc_id1|doc_id2|title1|title2|content1|content2|keywords1|keywords2|main_keywords1|main_keywords2"
    "|ner_keywords1|ner_keywords2|ner1|ner2|category1|category2|time1|time2"
)


def row(label: int, one: int, other: int) -> str:
    cells = [
        label,
        one,
        other,
        f"标题 {one}",
        f"标题 {other}",
        f"三星 发布 手机 {one} 。",
        f"今天 Galaxy Note {other} 。",
    ]
    return "|".join(map(str, cells)) + "|" + "|".join("x" for _ in range(12))


LINES = "\n".join([HEADER, *(row(n % 2, n, n + 1) for n in range(10))]) + "\n"


@pytest.mark.parametrize(("name", "file"), [("cnse", "same_event_doc_pair.txt"), ("cnss", "same_story_doc_pair.txt")])
def test_chinese_news_keep_the_order_and_shares_of_the_released_splits(built, name, file):
    data = built(find(name).builder, {f"data/raw/event-story-cluster/{file}": LINES})
    assert data.ids == tuple(str(n) for n in range(11))
    assert {split: [int(p.source) for p in data.pairs(split)] for split in data.splits} == {
        "train": [0, 1, 2, 3, 4, 5],
        "validation": [6, 7],
        "test": [8, 9],
    }
    assert all(p.label == int(p.source) % 2 for p in data.pairs())
    first, second = list(data.records())[:2]
    assert (first.title, first.parts[0].text, first.language) == ("标题0", "三星发布手机0。", "zh")
    assert second.parts[0].text == "今天Galaxy Note 1。"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("version https://git-lfs.github.com/spec/v1\n", "does not start with the columns"),
        (HEADER + "\n1|2|3\n", "line 2 has 3 cells"),
        (LINES.replace("\n1|", "\n7|", 1), "the label '7'"),
    ],
)
def test_a_file_that_is_not_the_released_one_is_refused(lay_out, tmp_path, content, message):
    with pytest.raises(ReadError, match=message):
        find("cnse").builder(lay_out({"same_event_doc_pair.txt": content}), tmp_path / "out")

"""Documents of one template are told from versions of one text by their numbers."""

from longmatch.documents.read import read_text_string
from longmatch.reuse.reuse import find_reuse

LEASE = """This lease is made on {date} between {lessor} of {address}, the lessor, and {lessee}, the lessee.

1.1 The lessor lets the premises at {premises} to the lessee for a term of {years} years from {start}.

1.2 The lessee shall pay a rent of {rent} a year in equal monthly instalments, on the first day of each month, without
any deduction. Rent that is not paid within 14 days after it fell due bears interest at the legal rate.

2.1 The lessee shall keep the premises clean and in good repair, and shall not alter them without the written consent of
the lessor, who may not withhold it without reason. {repair}

2.2 The lessee shall deposit {deposit} with the lessor, who shall return it within 60 days after the end of the term,
less the cost of repairs for which the lessee is liable under clause 2.1.

10.1 Either party may end this lease by 90 days' written notice if the other does not mend a breach that it was told of.
"""
FIRST = {
    "date": "3 May 2019", "lessor": "Harbour Works Limited", "address": "12 Quay Road, Port Ellis 40213",
    "lessee": "Jane Doe", "premises": "the northern boat shed, plot 1187", "years": "five", "start": "1 June 2019",
    "rent": "EUR 14,400", "deposit": "EUR 3,600",
    "repair": "The slipway is swept every evening, and the winch is oiled before the winter comes.",
}  # fmt: skip
SECOND = {
    "date": "17 October 2022", "lessor": "Old Mill Estates", "address": "5 Weir Lane, Upper Tarn 77120",
    "lessee": "Miller and Sons", "premises": "the bakery in the mill yard, unit 340", "years": "three",
    "start": "1 January 2023", "rent": "EUR 22,800", "deposit": "EUR 5,700",
    "repair": "The ovens are looked at by a master of the trade once a year, and the chimney is swept in spring.",
}  # fmt: skip


def lease(facts, id="a", **changed):
    return read_text_string(LEASE.format(**facts | changed), id)


def test_two_contracts_of_one_template_are_no_versions():
    found = find_reuse(lease(FIRST), lease(SECOND, "b"))
    assert found.alike_share > 0.5 and found.relation == "template"


def test_an_edited_contract_is_a_version():
    edited = lease(FIRST, "b", repair="The slipway is swept by the lessor.", rent="EUR 15,000", years="six")
    found = find_reuse(lease(FIRST), edited)
    assert found.relation == "version" and not found.may_be_template


def test_without_numbers_it_is_left_open():
    blank = {name: "".join(c for c in value if not c.isdigit()) for name, value in FIRST.items()}
    other = {name: "".join(c for c in value if not c.isdigit()) for name, value in SECOND.items()}
    found = find_reuse(lease(blank), lease(other, "b"))
    assert found.relation == "version" and found.may_be_template


def test_chinese_forms_are_told_by_their_numbers_too():
    form = (
        "{a}年{b}月3日，被告人在市区某商场内盗窃他人财物，价值人民币{c}元，随后被民警抓获归案，赃物已经发还被害人。"
        "上述事实，被告人在开庭审理过程中亦无异议，并有被害人陈述、证人证言、辨认笔录、价格鉴定结论书等证据证实，足以认定。"
        "本院认为，被告人以非法占有为目的，秘密窃取他人财物，数额较大，其行为已构成盗窃罪，公诉机关指控的罪名成立。"
        "本院于{d}年6月9日公开开庭审理了本案，现已审理终结，案号为第{e}号。"
    )
    one = read_text_string(form.format(a=2012, b=5, c=2720, d=2013, e=1187), "a")
    two = read_text_string(form.format(a=2015, b=8, c=4315, d=2016, e=2044), "b")
    same = read_text_string(form.format(a=2012, b=5, c=2720, d=2014, e=1187), "c")
    assert find_reuse(one, two).relation == "template"
    assert find_reuse(one, same).relation in {"version", "copy"}

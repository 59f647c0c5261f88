"""Words of form: citation marks, cross-references, dates and times."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longmatch.documents import read_text_string
from longmatch.documents.language import words_of
from longmatch.lexical.form import content_words, title_words, without_form
from longmatch.lexical.key_terms import spell, written
from longmatch.lexical.matcher import bm25_matcher, tfidf_matcher
from longmatch.lexical.mentions import title_terms
from longmatch.lexical.terms import hash_word, terms_of, words_in


def _listed(examples: str) -> list[str]:
    return [example.strip() for example in examples.split("|")]


CITATIONS = {
    "Banks fail (Smith et al., 2015; Jones and Lee 2014a).": "banks fail smith jones and lee",
    "Banks fail [12, 15-17].": "banks fail",
    "Banks fail[3] often [4][5].": "banks fail often",
    "Banks fail [12, p. 4].": "banks fail",
    "Banks fail [Smi15], [ABC+14, Lee09b].": "banks fail",
    "Banks fail¹² often³,⁴.": "banks fail often",
    "Ibid. Cf. Lee, op. cit., loc. cit.": "lee",
    "Banks, i.e. lenders, e.g. Lehman, fail": "banks lenders lehman fail",
    "I.e. lenders fail": "lenders fail",
    "Banken, d. h. Verleiher, z. B. Lehman (vgl. Lee)": "banken verleiher lehman lee",
}
REFERENCES = _listed("""
Figure 3 | Fig. 2(b) | Fig. 2 (b) | Figs. 3 and 4 | Figures 3, 4 and 5 | Figs. 3-5 | Fig.3 |
Figure S1 | Table 2 | table 2 | Table IV | Tables 1 to 3 | Section 4.1 | Sec. 3 | section IV |
Sections 4.1 and 4.2 | Eq. (5) | Eqs. (5) and (6) | Equation 5 | Chapter 2 | Appendix A | appendix B |
Appendix A.1 | Annex B | Theorem 3.1 | Lemma 2 | Algorithm 1 | Art. 5 | Article 5 | para 12 |
paragraph 7 | Clause 4(a) | § 4 | §§ 4, 5 | page 12 | p. 4 | pp. 3-5 | vol. 3, no. 4 | Abbildung 3 |
Abb. 3 | Tabelle 2 | Tab. 2 | Abschnitt 4.1 | Kapitel 2 | Kap. 2 | Gleichung (5) | Gl. 5 | Anhang A |
Anlage 2 | Artikel 5 | Absatz 2 | Abs. 2 | Ziffer 3 | Ziff. 3 | Nummer 4 | Nr. 4 | Seite 12 | S. 12 |
Satz 2 | Randnummer 14 | Rn. 14 | Tabellen 2 und 3 | tableau 2 | chapitre 3 | annexe A | alinéa 2 |
figura 3 | sección 4.1 | capítulo 2 | párrafo 7 | págs. 3-5 | tabella 2 | sezione 4 | allegato B |
tabela 2 | seção 4 | apêndice A | figuur 3 | hoofdstuk 2 | bijlage 1 | rys. 3 | rozdział 2 |
tabell 2 | avsnitt 4 | bilaga 1 | kuva 3 | taulukko 2 | liite 1 | Şekil 3 | Şekil 3'te | Tablo 2 |
рис. 3 | таблица 2 | главе 2 | приложение 1 | 图3 | 图 3 | 表2 | 表 2-1 | 图一 | 第三章 | 第2节 | 第十二章 | 公式(3) |
式（3） | 附录A | 図３ | 第２節 | 定理3.1
""")
NAMED = [
    "Section 302 of the Indian Penal Code",
    "Sections 302 and 34 of the Indian Penal Code",
    "Section 302 read with Section 34 of the Code",
    "Section 1983 of the Civil Rights Act",
    "Article 14 of the Constitution",
    "section 34 IPC",
    "Sections 302/34 IPC",
    "s. 482 Cr.P.C.",
    "Order 39 Rule 1 CPC",
    "§ 823 BGB",
    "§ 1985 BGB",
    "§ 823 Abs. 1 BGB",
    "§ 3 Abs. 2 Nr. 4 EStG",
    "Art. 5 GG",
    "Art. 6 Abs. 1 lit. f DSGVO",
    "Artikel 5 des Grundgesetzes",
    "article 5 de la Constitution",
    "l'article 5 de l'Union",
    "articolo 5 della Costituzione",
    "artikel 3 van de Grondwet",
    "ст. 5 УК РФ",
    "статья 14 Конституции",
    "第二百三十四条",
    "第三条第二款",
    "Resolution No. 1325",
]
DATES = _listed("""
2015 | 2015a | 2014a,b | 1998-2003 | 2014/15 | 12 March 2015 | March 12, 2015 | March 12th |
March 2015 | 12th of March 2015 | Mar. 2015 | 2015-03-12 | 12/03/2015 | 12.03.2015 |
2015-03-12T14:30:00Z | 12. März 2015 | 12. Dezember | 12 mars 2015 | 1er janvier 2015 |
12 de marzo de 2015 | marzo del 2015 | 12 maart 2015 | 12 marca 2015 | 12 марта 2015 | 12 Mart 2015 |
12. maaliskuuta 2015 | 12 mars 2015 | 2015年3月12日 | 2015 年 3 月 | 3月12日 | ２０１５年 |
二〇一五年三月十二日 | 二○一五年 |
2015년 3월 12일 | 14:30 | 14:30:05 | 3 pm | 3:30 p.m. | 14.30 Uhr | 14 Uhr | 14h30 | 14时30分
""")
CONTENT = [
    "302 and 3.14 and 12,500 and 1800.5",
    "PEP 8, RFC 2045, ISO 2022, $2000, 1990s",
    "the figure, the table and this section",
    "in this section I describe the appendix",
    "they march 12 miles, and may 3 people",
    "in March, and in May",
    "no 5 people",
    "in tab 3",
    "the CF gene",
    "sections of 3 walls",
    "Kapitel und Satz",
    "代表一个人",
    "发表2篇论文",
    "一个3小时",
    "3年有期徒刑",
    "图书和表格",
]


@pytest.mark.parametrize(("text", "words"), CITATIONS.items())
def test_citation_marks_are_no_words(text, words):
    assert content_words(text) == words.split()


@pytest.mark.parametrize("reference", REFERENCES)
def test_cross_references_are_no_words(reference):
    assert content_words(reference) == []
    assert content_words(f"Aus, {reference}.") == ["aus"]


@pytest.mark.parametrize("reference", NAMED)
def test_parts_of_a_named_work_are_words(reference):
    assert content_words(reference) == words_of(reference)


@pytest.mark.parametrize("reference", ["Section 302", "Section 302 of this paper", "Section 302 of the paper"])
def test_without_a_name_a_part_is_no_word(reference):
    assert "302" not in content_words(reference) and "section" not in content_words(reference)


@pytest.mark.parametrize("date", DATES)
def test_dates_and_times_are_no_words(date):
    assert content_words(date) == []
    assert content_words(f"Aus, {date}.") == ["aus"]


@pytest.mark.parametrize("text", CONTENT)
def test_everything_else_stays(text):
    assert content_words(text) == words_of(text)


def test_a_number_after_a_reference_stays():
    assert content_words("In Table 2, 302 people voted") == ["in", "302", "people", "voted"]


@given(st.text(st.characters(exclude_categories=["Nd", "No", "Nl", "Cs"])))
def test_text_without_digits_and_marks_is_unchanged(text):
    """Letters stand for numbers after a label and in Chinese; neither is likely in random text, so it is cut out."""
    text = re.sub(r"[.§图圖図表第附年月]|\b(?:cf|ibid\w*|al)\b", " ", text, flags=re.IGNORECASE)
    assert content_words(text) == words_of(text)


@given(st.lists(st.sampled_from([*REFERENCES, *NAMED, *DATES, *CITATIONS, "bank", "and", "of", "the", "12", ","])))
def test_blanking_keeps_the_length_and_adds_no_words(parts):
    text = " ".join(parts)
    blanked = without_form(text)
    assert len(blanked) == len(text)
    assert all(new in (old, " ") for new, old in zip(blanked, text, strict=True))
    assert words_of(blanked) == content_words(text)


def test_phrases_run_across_a_removed_citation():
    cited = terms_of(read_text_string("The old [12] stone bridge (Lee) fell."))
    plain = terms_of(read_text_string("The old stone bridge Lee fell."))
    assert cited.phrases.ids.tolist() == plain.phrases.ids.tolist()


def test_phrases_across_a_removed_citation_are_spelled():
    sentence = "The old [12] stone bridge fell."
    terms = terms_of(read_text_string(sentence))
    spelled = spell(terms.phrases.ids, [sentence])
    assert "old stone bridge" in spelled.values() and len(spelled) == len(np.unique(terms.phrases.ids))
    assert written(hash_word("old"), hash_word("stone"), sentence) == "old [12] stone"


def test_a_title_keeps_its_words_where_all_are_form():
    assert title_words("1984") == ["1984"]
    assert title_words("March 1917") == ["march", "1917"]
    assert title_words("2004 Indian Ocean earthquake") == ["indian", "ocean", "earthquake"]


def test_a_title_with_a_year_is_found_in_a_text():
    terms = terms_of(read_text_string("It tells of the 2004 Indian Ocean earthquake in 2005."))
    assert np.isin(title_terms("2004 Indian Ocean earthquake"), terms.phrases.ids).all()
    assert np.isin(words_in("2004 Indian Ocean earthquake").ids, terms.words.ids).all()


@pytest.mark.parametrize("matcher", [tfidf_matcher(), bm25_matcher()], ids=lambda m: m.name)
def test_baselines_count_all_words(matcher):
    (encoding,) = matcher.encode([read_text_string("See Figure 3 of 2015.")])
    assert encoding.stream.ids.tolist() == [hash_word(w) for w in ("see", "figure", "3", "of", "2015")]

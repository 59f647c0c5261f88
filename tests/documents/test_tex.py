"""LaTeX: what a reader of the printed page would see, from the source."""

import time

import pytest

from longmatch.documents import read
from longmatch.documents.tex import plain_text
from longmatch.errors import LongmatchWarning, ReadError
from tests.documents.shapes import kinds, outline


def words(opened, body: str) -> list[str]:
    return [text for _, text in kinds(opened("a.tex", rf"\begin{{document}}{body}\end{{document}} no"))]


@pytest.mark.parametrize(
    ("source", "read_as"),
    [
        (r"Caf\'e, na\"{\i}ve, \v{S}koda, Fran\c cois", "Café, naïve, Škoda, François"),
        (r"Stra\ss e, \o re, \L{}\'od\'z", "Straße, øre, Łódź"),
        (r"``quoted'' --- text, 3--5", "“quoted” — text, 3–5"),
        (r"50\% of \$5 \& \#1 a\_b", "50% of $5 & #1 a_b"),
        (r"\textbf{bold \emph{and} it} {\large x}", "bold and it x"),
        (r"\href{http://a.b}{the page} \url{http://c.d}", "the page http://c.d"),
        (r"\textcolor{red}{word} \vspace{1em}\label{x}end", "word end"),
        (r"$\alpha_{ij} \leq \frac{1}{x^{2}}$ and $\mathbf{x} \in \Lambda$", "α_ij ≤ 1/x^2 and x ∈ Λ"),
        (r"\unknown[x]{one}{two} \unknown{three}", "one two three"),
        (r"{G}{\"o}del and {B}{E}{R}{T}", "Gödel and BERT"),
        (r"a \\ b~c\,d", "a b c d"),
        (r"\includegraphics[width=\textwidth]{x.png}", ""),
    ],
)
def test_a_line_reads_as_printed(source, read_as):
    assert plain_text(source) == read_as


def test_sections_have_levels_and_the_title_is_the_papers(opened):
    document = opened(
        "a.tex",
        r"""\documentclass{article}\title[s]{On \emph{Rain} \\ and Wind\thanks{us}}\author{A}
        \begin{document}\maketitle\begin{abstract}We look.\end{abstract}
        \section{One}\label{a} Text one. \subsection*{Two} Text two. \end{document}""",
    )
    assert document.title == "On Rain and Wind"
    assert outline(document) == [(1, "Abstract", ["We look."]), (1, "One", ["Text one."]), (2, "Two", ["Text two."])]


def test_with_chapters_sections_are_one_level_down(opened):
    assert [level for level, *_ in outline(opened("a.tex", r"\chapter{A} x. \section{B} y. \subsection{C} z."))] == [
        1,
        2,
        3,
    ]


def test_blank_lines_part_paragraphs_and_comments_are_dropped(opened):
    assert words(opened, "One % no\ntwo.\n% no\nThree.\n\nFour 5\\% here.") == ["One two. Three.", "Four 5% here."]


def test_a_float_does_not_tear_the_paragraph_around_it(opened):
    body = r"Before\footnote{A note.} \begin{figure}\includegraphics{x}\caption{A pier.}\end{figure} after."
    assert kinds(opened("a.tex", body)) == [("caption", "A pier."), ("text", "Before after."), ("footnote", "A note.")]


def test_tables_code_and_references_are_told_apart(opened):
    body = r"""\begin{tabular}{l|c}\toprule a & b \\ \midrule 1 & \textbf{2}\\ \end{tabular}
    \begin{verbatim}
x = 1 % kept
\end{verbatim}
    \begin{thebibliography}{9}\bibitem{d} Doe. \emph{Rain}. \bibitem{e} Roe.\end{thebibliography}"""
    document = opened("a.tex", body)
    assert kinds(document) == [
        ("table", "a | b\n1 | 2"),
        ("code", "x = 1 % kept"),
        ("reference", "Doe. Rain."),
        ("reference", "Roe."),
    ]
    assert document.sections[-1].heading == "References"


def test_items_are_paragraphs(opened):
    assert words(opened, r"\begin{itemize}\item One. \item[B] Two.\end{itemize}After.") == ["One.", "B Two.", "After."]


def test_formulas_stay_in_their_sentence(opened):
    body = r"So \begin{equation}\label{e} E = mc^2 \end{equation} holds, \[ a \le b \] too, $$c$$ and \eqref{e}."
    assert words(opened, body) == ["So E = mc^2 holds, a ≤ b too, c and 1."]


def test_references_to_places_and_works_are_resolved(opened):
    body = r"""\section{A}\subsection{B}\label{b} See Section~\ref{b}, Figure~\ref{f}, \citet[p.~3]{d} and \cite{e,x}.
    \begin{figure}\caption{C}\label{f}\end{figure}\begin{thebibliography}{9}\bibitem[Doe(2001)]{d} D.
    \bibitem{e} E.\end{thebibliography}"""
    assert "See Section 1.1, Figure 1, Doe (2001) and [2], [x]." in words(opened, body)


def test_the_authors_own_commands_are_expanded(opened):
    own = r"\newcommand{\model}{BERT-X}\newcommand{\two}[2][a]{#1 and #2}\def\z{\model-s}"
    assert words(opened, own + r" \model{} has \two{b}, \two[c]{d}; \z.") == ["BERT-X has a and b, c and d; BERT-X-s."]


def test_commands_that_grow_without_end_are_stopped(opened):
    own = r"\newcommand{\a}{\b\b\b\b\b\b\b}\newcommand{\b}{\c\c\c\c\c\c\c\c}\newcommand{\c}{\a\a\a\a x}"
    with pytest.warns(LongmatchWarning, match=r"a\.tex: its commands stand for more than 500,\d+ characters; some"):
        assert words(opened, own + r" Text \a.")[0].startswith("Text")


def test_an_argument_that_is_repeated_is_counted_before_it_is_inserted(opened):
    own = r"\newcommand{\a}[1]{" + "#1" * 20_000 + "}"
    began = time.process_time()
    with pytest.warns(LongmatchWarning, match="its commands stand for more than"):
        opened("a.tex", own + r" Text \a{" + "word " * 20_000 + "}.")
    assert time.process_time() - began < 5


def test_files_that_include_each_other_ten_times_are_read_up_to_a_limit_that_is_named(tmp_path):
    for number in range(9):
        (tmp_path / f"f{number}.tex").write_text("Words. " + rf"\input{{f{number + 1}}} " * 10)
    (tmp_path / "f9.tex").write_text("The end.")
    began = time.process_time()
    with pytest.warns(LongmatchWarning, match=r"f0\.tex: it includes more than 1,000 files; the others were left out"):
        document = read(tmp_path / "f0.tex")
    assert time.process_time() - began < 5 and document.text.startswith("Words. Words.")


def test_a_large_file_that_is_included_again_and_again_is_read_up_to_a_limit_that_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr("longmatch.documents.tex_source.MOST_CHARACTERS", 10_000)
    (tmp_path / "a.tex").write_text(r"Words. \input{b} " * 100)
    (tmp_path / "b.tex").write_text("More words. " * 100)
    with pytest.warns(LongmatchWarning, match="it includes more than 10,000 characters; the other files were left out"):
        assert read(tmp_path / "a.tex").words < 2_000


def test_a_name_that_no_file_can_have_is_passed_over(tmp_path):
    (tmp_path / "loop.tex").symlink_to("loop.tex")
    padding = "% " + "x" * 70_000 + "\n"
    source = "Words. " + padding + r"\input{loop} \input{" + "n" * 5_000 + "} \\input{nul\0} End."
    (tmp_path / "a.tex").write_text(source)
    assert read(tmp_path / "a.tex").text == "Words. End."


@pytest.mark.parametrize(
    "gap", [r"\newcommand\a{}x", r"\newcommand{}\a[1]x", r"\def{}\a#1x", r"\newcommand\a[1]{}[b]x"]
)
def test_white_space_in_a_definition_takes_time_linear_in_its_length(opened, gap):
    began = time.process_time()
    opened("a.tex", "Hello world text here.\n" + gap.replace("{}", " " * 20_000) + "\n")
    assert time.process_time() - began < 5


def test_included_files_are_read_from_the_same_folder_only(tmp_path):
    folder = tmp_path / "paper"
    (folder / "parts").mkdir(parents=True)
    (folder / "main.tex").write_text(r"Start. \input{parts/one} \include{two.tex} \input{../secret} \input{main} End.")
    (folder / "parts" / "one.tex").write_text(r"\begin{document}One.\end{document}")
    (folder / "two.tex").write_text("Two. % no")
    (tmp_path / "secret.tex").write_text("Secret.")
    text = read(folder / "main.tex").text
    assert text == "Start. One.\n\nTwo.\n\nEnd."


def test_the_compiled_bibliography_beside_the_file_gives_the_references(tmp_path):
    (tmp_path / "a.tex").write_text(r"See \cite{d}. \bibliography{refs}")
    (tmp_path / "a.bbl").write_text(r"\begin{thebibliography}{1}\bibitem{d} J. Doe. Rain.\end{thebibliography}")
    assert kinds(read(tmp_path / "a.tex")) == [("text", "See [1]."), ("reference", "J. Doe. Rain.")]


def test_a_paper_of_nothing_but_commands_holds_no_sentences(opened):
    with pytest.raises(ReadError, match="holds no sentences"):
        opened("a.tex", r"\documentclass{article}\begin{document}\maketitle\end{document}")


@pytest.mark.parametrize(
    "source",
    [
        "{" * 20_000 + "a",
        r"\x{" * 5_000 + "a",
        r"\frac{" * 3_000 + "a",
        r"\begin{figure}" * 3_000 + "a",
        "$" * 5_001 + "a",
    ],
)
def test_unbalanced_source_is_read_all_the_same(opened, source):
    assert "a" in opened("a.tex", source).text


def test_braces_that_are_never_closed_do_not_take_the_square_of_the_time(opened):
    began = time.process_time()
    opened("a.tex", "Words. " + "\\bibitem{a " * 5_000 + "{" * 5_000)
    assert time.process_time() - began < 5


@pytest.mark.parametrize("unclosed", [r"\begin{verbatim}x ", r"\\[", r"\cite[", r"\newcommand{\a}["])
def test_what_is_never_closed_is_read_in_time_linear_in_its_length(opened, unclosed):
    began = time.process_time()
    opened("a.tex", r"Words. \begin{tabular}{l} " + unclosed * 40_000)
    assert time.process_time() - began < 5


def test_a_percent_sign_in_verbatim_text_that_is_never_closed_is_no_comment(opened):
    assert kinds(opened("a.tex", "Words.\n\\begin{verbatim}\n50% of it\n"))[-1] == ("code", "50% of it")

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corrector.apply import corrected_text
from corrector.formats.latex import Latex
from corrector.formats.passages import correct_passages
from corrector.types import Document
from tests.fakes import FakeCorrector

CORRECTOR = FakeCorrector({"散部": "散步", "高形": "高兴"})


def corrected(source: str) -> str:
    document = Document(None, source)
    return corrected_text(correct_passages(CORRECTOR, document, Latex().passages(document)))


def texts(source: str) -> list[str]:
    return [passage.text for passage in Latex().passages(Document(None, source))]


@pytest.mark.parametrize(
    "source",
    [
        "散部",
        "散\n部",
        "散\r\n  部",
        "散% 一\n  部",
        "散\\textbf{部}",
        "{\\bf 散}\\emph{部}",
        "\\textcolor{red}{散}部",
        "\\href{http://a.cn}{散部}",
        "散\\footnote{好}部",
        "好\\footnote{散\\textbf{部}}",
        "\\footnote{好\\footnote{散部}}",
        "\\section*{散部}",
        "\\section[短]{散部}",
        "\\item[一]散部",
        "\\caption{散部}",
        "好 & 散部 \\\\",
        "\\multicolumn{2}{c}{散部}",
        "\\begin{tabular}{|c|c|}散部\\end{tabular}",
        "\\begin{frame}{散部}",
        "\\begin{theorem}[一]散部\\end{theorem}",
        "价格 50\\% 散部",
        "$x 散部",
        "$x\n\ny$ 散部",
        "\\verb 散部",
        "散\\label{a}部",
        "% 文\n\\documentclass{a}\\title{散部}\\begin{document}好\\end{document}",
        "散部\\begin{verbatim}\\documentclass{a}\\begin{document}\\end{document}\\end{verbatim}散部",
        "\\begin{document}散部\\end{document}",
        "\\end{document}散部",
    ],
)
def test_prose_is_corrected(source: str) -> None:
    assert corrected(source) == source.replace("部", "步")


@pytest.mark.parametrize(
    "source",
    [
        "散\n\n部",
        "散\\\\部",
        "散\\par 部",
        "散 & 部",
        "\\section{散}部",
        "\\begin{frame}{散}\n部\\end{frame}",
        "\\item 散\n\\item 部",
        "\\documentclass{a}\\title{散}\\begin{document}部\\end{document}",
        "% 散部",
        "\\label{散部}\\ref{散部}\\cite[页]{散部}\\input{散部}\\includegraphics[width=1cm,\n height=2cm]{散部}",
        "\\newcommand{\\散部}[1]{散部}\\newcommand{\\a}{散部}",
        "\\def\\a#1{散部}",
        "\\definecolor{散部}{rgb}{1,2,3}",
        "$散部$ $$散部$$ \\(散部\\) \\[散部\\]",
        "$散\n部$",
        "\\begin{align*}散部\\end{align*}\\begin{lstlisting}散部\\end{lstlisting}",
        "\\begin{lstlisting}\n% \\begin{a}\n散部",
        "\\verb|散部| \\verb*+散部+ \\lstinline[language=C]{散部} \\mintinline{c}|散部| \\url{a/散部}",
        "\\begin{minipage}{散部}\\end{minipage}",
        "\\documentclass{散部}\\newcommand\\a{散部}\\begin{document}好\\end{document}散部",
        "\\author{散部}",
        "\\散部",
    ],
)
def test_what_is_no_prose_stays_and_what_is_apart_is_read_apart(source: str) -> None:
    assert corrected(source) == source


def test_a_sentence_is_read_as_it_is_shown() -> None:
    source = "如图~\\ref{a}\\ 所示\\cite{b}，\\LaTeX{}有 $x$ 和\\verb|y|，\n共\\{50\\%\\}\\ldots 好\\footnote{注。}。\n\n 下一段。"
    assert texts(source) == ["如图 1 所示[1]，LaTeX有 $x$ 和\\verb|y|，共{50%}… 好。", " 下一段。", "注。"]


def test_what_never_ends_ends_with_the_text_or_the_footnote_it_is_in() -> None:
    for source in ("\\[散部", "\\(散部", "$$散部", "\\begin{equation}散部", "\\verb|散部", "\\begin{散部", "\\textbf{散部", "}散部", "\\"):
        assert corrected(source) in (source, source.replace("部", "步"))
    assert corrected("\\footnote{\\[散部}散部\\[散部\\]散部") == "\\footnote{\\[散部}散步\\[散部\\]散步"


PIECES = ["散部", "高形", "\\", "{", "}", "[", "]", "$", "$$", "%", "&", "~", "\n", "\n\n", "\r\n", " ", "|", "\\verb", "\\begin{a}",
          "\\end{a}",
          "\\begin{verbatim}", "\\end{verbatim}", "\\footnote", "\\footnote{", "\\section{", "\\cite{", "\\(", "\\)", "\\[", "\\]",
          "\\documentclass", "\\begin{document}", "\\end{document}", "\\title{", "\\def\\a", "a", "😀"]  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=30).map("".join))
@settings(max_examples=300, deadline=None)
def test_whatever_the_source_nothing_else_changes(source: str) -> None:
    after = corrected(source)
    assert len(after) == len(source)
    assert re.sub("步", "部", after.replace("高兴", "高形")) == source
    assert corrected(after) == after


@pytest.mark.parametrize(
    "piece", ["{", "\\footnote{", "$", "\\[", "\\begin{verbatim}", "[", "\\a[", "\\verb|", "%", "\\def\\a", "&", "\\item[{"]
)
def test_what_repeats_is_read_in_linear_time(piece: str) -> None:
    """A quadratic reader would need hours."""
    assert isinstance(texts(piece * 200_000 + "散部"), list)

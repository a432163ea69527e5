"""The page for a browser: what is shown of a line, and that nothing of a text becomes markup."""

from __future__ import annotations

import re
from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from corrector.render.html import AROUND, render_lines
from corrector.render.summary import Summary
from corrector.reports import report_named
from corrector.types import Document
from tests.fakes import FakeCorrector

CORRECTOR = FakeCorrector({"天汽": "天气", "平果": "苹果"}, {"做": "作"})


def page(*documents: Document) -> str:
    made = report_named("html", "fake", "1", color=False)
    written = b"".join(made.block(CORRECTOR.correct_document(one), Summary(files=1)) + made.end_of_text() for one in documents)
    return (written + made.end(Summary(files=len(documents), corrections=2, characters=1234))).decode()


def shown(text: str) -> list[str]:
    """The lines as they are marked."""
    lines = render_lines(CORRECTOR.correct_document(Document("a.txt", text)), Summary(files=1))
    return re.findall(r"<p><small>\d+</small>(.*)</p>", lines)


class Checked(HTMLParser):
    """Elements are closed in their order; ``texts`` has what stands in articles."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.names: set[str] = set()
        self.headings: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        if tag not in ("meta", "input"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1:] == ["h2"]:
            self.headings.append(data)


def checked(html: str) -> Checked:
    parser = Checked()
    parser.feed(html)
    parser.close()
    assert parser.open == [] and "script" not in parser.names
    return parser


def test_lines_show_what_becomes_what() -> None:
    assert shown("好\n吃平果，做天汽") == ['吃<del>平果</del><ins>苹果</ins>，<mark title="作?">做</mark><del>天汽</del><ins>天气</ins>']
    html = page(Document("a.txt", "吃平果，做"), Document("b.txt", "好"), Document(None, "做"))
    assert checked(html).headings == ["a.txt", "<stdin>"]
    assert '<li><b>平果 → 苹果</b> 同音 (píng guǒ) 99 %</li>\n<li class="doubt"><b>做 → 作</b>? 同音 (zuò) 40 %' in html
    assert html.count("<article>") == 1 and html.count('<article class="doubt">') == 1
    assert "3 files, 1,234 characters: 2 corrections, 0 suggestions</small>" in html


def test_nothing_found_is_a_page_too() -> None:
    assert checked(page()).headings == checked(page(Document("a.txt", "好"))).headings == []


def test_what_is_far_away_is_left_out() -> None:
    change, near, far = "<del>平果</del><ins>苹果</ins>", "好" * AROUND, "好" * (AROUND + 1)
    assert shown(f"{near}平果{near}") == [f"{near}{change}{near}"]
    assert shown(f"{far}平果{far}") == [f"…{near}{change}{near}…"]
    assert shown(f"平果{near}{near}平果") == [f"{change}{near}{near}{change}"]
    assert shown(f"平果{near}{far}平果") == [f"{change}{near}…{near}{change}"]


PIECES = st.sampled_from(["<b>", "&", "\"'", "</p>", "平果", "做", "\n", "\u202e", "\0", "\x1b[1m", "汉"])


@given(st.lists(PIECES, max_size=12).map("".join))
def test_no_text_becomes_markup(text: str) -> None:
    html = page(Document(f"{text}.txt", text))
    assert checked(html).names <= {"html", "head", "meta", "title", "style", "body", "h1", "label", "input", "h2", "article", "p", "small",
                                   "del", "ins", "mark", "ul", "li", "b"}  # fmt: skip
    assert not re.search("[\0\x1b\u202e]", html)

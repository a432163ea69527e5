from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corrector.apply import corrected_text
from corrector.errors import InputError
from corrector.formats.passages import correct_passages
from corrector.formats.source import SourceCode
from corrector.types import Document
from tests.fakes import FakeCorrector

CORRECTOR = FakeCorrector({"散部": "散步", "高形": "高兴"})
LONG = "这一行注释写得很长，一直写到了一行的尽头才不得不断开，因为再也写不下了"  # 72 columns


def corrected(source: str, path: str = "a.py") -> str:
    document = Document(path, source)
    return corrected_text(correct_passages(CORRECTOR, document, SourceCode().passages(document)))


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("a.py", "# 散部\nx = 1  # 散部"),
        ("a.py", '"""散部。\n\n    散部。\n"""'),
        ("a.py", "def f():\n    r'''散部'''\n    # 散部\n    return 1\n"),
        ("a.py", "class A:\n    x = 1\n    '''散部'''\n"),
        ("a.py", "#散部\r\nx = 1 # 散部\r\n"),
        ("a.js", "/**\n * 散部\n * @param {string} a 散部\n */\nlet a = 1 // 散部"),
        ("dir/a.TS", "// 散部\n/* 散部 */"),
        ("a.jsx", "const a = <p>{/* 散部 */}</p>"),
        ("A.java", "/** 散部 */ class A { int a; // 散部\n }"),
        ("a.go", "// 散部\npackage a\n"),
        ("a.rs", "//! 散部\nstruct A {\n    /// 散部\n    a: u8, // 散部\n}"),
        ("a.c", "/* 散部 */\n#include <a.h>\n// 散部\n"),
        ("a.sh", "#!/bin/sh\n# 散部\n"),
        ("a.sql", "-- 散部\nselect 1; /* 散部 */"),
        ("a.css", "/* 散部 */ a { color: red }"),
        ("a.scss", "// 散部\n"),
        ("a.lua", "--[[ 散部 ]]\n-- 散部"),
        ("a.hs", "{- 散部 -}\n-- 散部\n"),
        ("a.php", "<?php\n// 散部\n/* 散部 */"),
    ],
)
def test_comments_are_corrected(path: str, source: str) -> None:
    assert corrected(source, path) == source.replace("散部", "散步")


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("a.py", "散部 = '散部'\nprint(f'散部{散部}', '''散部''')"),
        ("a.py", "x = (\n    '''散部'''\n)\n"),
        ("a.py", "x = f(1,\n    '''散部''',\n)\n"),
        ("a.py", "x = \\\n    '''散部'''\n"),
        ("a.py", 'def f():\n    """\n    >>> 散部()\n    ... 散部\n    """\n'),
        ("a.py", "# 用 `散部` 看\n"),
        ("a.js", "const 散部 = '散部', a = `散部`, b = /散部/"),
        ("a.jsx", "const a = <p title='散部'>散部</p>"),
        ("a.c", '#include "散部.h"\n#define A "散部"\n'),
        ("a.sh", "#!/散部/sh\necho 散部"),
        ("a.css", 'a::after { content: "散部" }'),
        ("a.py", ""),
    ],
)
def test_everything_else_stays(path: str, source: str) -> None:
    assert corrected(source, path) == source


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("a.py", f"# {LONG}散\n# 部\n"),
        ("a.py", f'def f():\n    """{LONG}散\n    部。"""\n'),
        ("a.py", f"x = 1  # {LONG}散\r\n       # 部\r\n"),
        ("a.js", f"/**\n * {LONG}散\n * 部\n */"),
        ("a.rs", f"    /// {LONG}散\n    /// 部\n"),
        ("a.sql", f"-- {LONG}散\n-- 部\n"),
    ],
)
def test_a_line_that_was_full_goes_on_in_the_next(path: str, source: str) -> None:
    assert corrected(source, path) == source.replace("部", "步")


@pytest.mark.parametrize(
    "source",
    [
        "# 散\n# 部\n",  # no line that was full
        f"# {LONG}散\n\n# 部\n",
        f"# {LONG}散\nx = 1\n# 部\n",
        f"# {LONG}散\n# - 部\n",
        f"# {LONG}散\n# * 部\n",
        f"# {LONG}散\n# 1. 部\n",
        f'"""\n{LONG}散\n:部\n"""\n',
        f"# {LONG}。散：\n# 部\n",
    ],
)
def test_other_lines_are_read_by_themselves(source: str) -> None:
    assert corrected(source) == source


def test_the_language_is_told_by_the_name_of_the_file() -> None:
    document = Document("a.nonsense", "散部")
    with pytest.raises(InputError, match=r"a\.nonsense: no language of source code has files of this name; pass --input-format text"):
        list(SourceCode().passages(document))
    with pytest.raises(InputError, match=r"<stdin>: the language of source code is told by the name of its file"):
        list(SourceCode().passages(Document(None, "散部")))


PIECES = st.sampled_from(
    ["散部", "散", "部", "# ", "// ", "/* ", " */", '"""', "'", '"', "\n", "\r\n", "\r", " ", "(", "x = ", "<!--", "-->", LONG]
)


@settings(max_examples=150, deadline=None)
@given(st.lists(PIECES, max_size=20).map("".join), st.sampled_from(["a.py", "a.js", "a.c", "a.php", "a.css", "a.sql"]))
def test_only_corrections_change_a_text(source: str, path: str) -> None:
    document = Document(path, source)
    found = correct_passages(CORRECTOR, document, SourceCode().passages(document))
    assert len(corrected_text(found)) == len(source)
    for one in found.corrections:
        assert source[one.span.start : one.span.end] == one.original

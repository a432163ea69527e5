"""Messages of programs: PO files, JSON, XLIFF and Qt's translations; and notebooks, which are JSON."""

from __future__ import annotations

import pytest

from corrector.apply import corrected_text
from corrector.errors import InputError
from corrector.formats import format_of
from corrector.formats.passages import correct_passages
from corrector.types import Document
from tests.fakes import FakeCorrector

CORRECTOR = FakeCorrector({"散部": "散步", "高形": "高兴"})
HEADER = 'msgid ""\nmsgstr ""\n"Last-Translator: 散部\\n"\n"Language: zh_CN\\n"\n\n'


def corrected(source: str, name: str, column: str | None = None) -> str:
    document = Document("a", source)
    return corrected_text(correct_passages(CORRECTOR, document, format_of(None, name, column).passages(document)))


@pytest.mark.parametrize(
    "source, expected",
    [
        ('msgid "散部"\nmsgstr "散部"\n', 'msgid "散部"\nmsgstr "散步"\n'),
        ('msgctxt "散部"\nmsgid "a"\nmsgid_plural "散部"\nmsgstr[0] "散部"\nmsgstr[1] "高形"\n', None),
        ('msgid ""\n"散部"\nmsgstr ""\n"散"\n"部\\n"\n"高形"\n', 'msgid ""\n"散部"\nmsgstr ""\n"散"\n"步\\n"\n"高兴"\n'),
        (HEADER + 'msgid "a"\nmsgstr "散部"', HEADER + 'msgid "a"\nmsgstr "散步"'),
        ('# 散部\n#: 散部.c:1\n#~ msgid "b"\n#~ msgstr "散部"\n', None),
        ('msgid "a"\nmsgstr "散\\n部散<b a=\'散部\'>部</b>%(散部)s{散部}\\"散部\\""\n',
         'msgid "a"\nmsgstr "散\\n部散<b a=\'散部\'>部</b>%(散部)s{散部}\\"散步\\""\n'),
        (HEADER.replace("zh_CN", "ja") + 'msgid "a"\nmsgstr "散部"', None),
        ('msgid "a"\nmsgstr "Language: ja"\n\nmsgid ""\nmsgstr "散部"', 'msgid "a"\nmsgstr "Language: ja"\n\nmsgid ""\nmsgstr "散步"'),
        ('msgstr "散部\nmsgstr 散部\n"散部"\nmsgstr "散部"\r\n"高形"', 'msgstr "散部\nmsgstr 散部\n"散部"\nmsgstr "散步"\r\n"高兴"'),
        ("", ""),
    ],
)  # fmt: skip
def test_translations_are_corrected_and_nothing_else_in_a_po_file(source: str, expected: str | None) -> None:
    if expected is None:
        expected = source.replace('[0] "散部"', '[0] "散步"').replace("高形", "高兴")
    assert corrected(source, "po") == expected


@pytest.mark.parametrize(
    "source, column, expected",
    [
        ('{"散部": "散部", "a": [["高形", 1, {"b": "散部"}], null]}', None, '{"散部": "散步", "a": [["高兴", 1, {"b": "散步"}], null]}'),
        ('\ufeff{\r\n  "a": "\\u6563\\u90e8"\r\n}\r\n', None, '\ufeff{\r\n  "a": "\\u6563\\u6b65"\r\n}\r\n'),
        ('[{"a": "散部", "b": "散部"}, {"a": ["散部"]}]', "a", '[{"a": "散步", "b": "散部"}, {"a": ["散步"]}]'),
        ('"散部"', None, '"散步"'),
        ('{"a": "散{{散部}}部散部"}', None, '{"a": "散{{散部}}部散步"}'),
        (" \n", None, " \n"),
    ],
)
def test_values_of_json_are_corrected_and_no_keys(source: str, column: str | None, expected: str) -> None:
    assert corrected(source, "json", column) == expected


def test_what_is_no_json_is_refused_with_its_line() -> None:
    with pytest.raises(InputError, match=r"^a:2: not valid JSON at column 8 .*; correct it first, or pass --input-format text"):
        corrected('{\n"a": 1 "b"}', "json")


def test_what_is_translated_from_stays_in_xml_for_translators() -> None:
    for root in ("xliff", "TS"):
        source = f"<{root}><unit><source>散部</source><note>散部</note><target>散部</target></unit></{root}>"
        assert corrected(source, "xml") == source.replace("<target>散部", "<target>散步")
    assert corrected("<rss><source>散部</source></rss>", "xml") == "<rss><source>散步</source></rss>"


def test_markdown_cells_of_notebooks_are_corrected_as_markdown() -> None:
    source = """{
 "cells": [
  {"cell_type": "markdown", "metadata": {"散部": "散部"}, "source": ["# 散部\\n", "\\n", "散\\n",
    "部 `散部` [散部](散部)，\\u9AD8\\u5F62 &#25955;部\\n",
    "```\\n", "散部\\n", "```\\n"]},
  {"source": "散部", "cell_type": "markdown"},
  {"cell_type": "code", "source": ["散部"], "outputs": [{"text": ["散部"]}]},
  {"cell_type": "raw", "source": "散部"}, {"cell_type": "markdown"}, 1,
  {"cell_type": "markdown", "source": ["好\\n",
    "散部"]}
 ], "source": "散部"
}"""
    expected = (
        source.replace("# 散部", "# 散步").replace('"部 `散部` [散部]', '"步 `散部` [散步]').replace("\\u5F62", "\\u5174")
        .replace('{"source": "散部"', '{"source": "散步"').replace('    "散部"]}', '    "散步"]}')
    )  # fmt: skip
    assert corrected(source, "ipynb") == expected


def test_what_is_no_notebook_is_refused() -> None:
    for source in ("[]", '{"cells": {}}', '{"cells": [{"source": "a", "source": "b"}]}', "[" * 100_000 + "]" * 100_000):
        with pytest.raises(InputError, match=r"^a: JSON, but no Jupyter notebook; pass --input-format json"):
            corrected(source, "ipynb")
    with pytest.raises(InputError, match=r"^a:1: not valid JSON"):
        corrected("{", "ipynb")
    assert corrected("\ufeff \n", "ipynb") == "\ufeff \n"

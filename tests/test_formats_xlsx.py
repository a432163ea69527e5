"""Excel workbooks; what is common to all packages is tested on Word documents."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest

from corrector.errors import ConfigError, InputError
from tests.fakes import FakeCorrector
from tests.packages import Result, correct_package, members, zipped

CORRECTOR = FakeCorrector({"散部": "散步", "高形": "高兴"}, {"东溪": "东西"})
MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def shared(*texts: str) -> str:
    inner = "".join(f"<si>{text if text.startswith('<') else f'<t>{text}</t>'}</si>" for text in texts)
    return f'<?xml version="1.0" encoding="UTF-8"?><sst xmlns="{MAIN}">{inner}</sst>'


def sheet(*rows: Sequence[int | str]) -> str:
    """A sheet from A1 on: numbers are those of shared texts, texts are cells as they are, or nothing."""
    inner = ""
    for number, row in enumerate(rows, 1):
        places = (f"{chr(65 + column)}{number}" for column in range(len(row)))
        cells = (f'<c r="{at}" t="s"><v>{cell}</v></c>' if isinstance(cell, int) else cell for at, cell in zip(places, row, strict=True))
        inner += f'<row r="{number}">{"".join(cells)}</row>'
    return f'<worksheet xmlns="{MAIN}"><sheetData>{inner}</sheetData></worksheet>'


def inline(cell: str, text: str) -> str:
    return f'<c r="{cell}" t="inlineStr"><is>{text if text.startswith("<") else f"<t>{text}</t>"}</is></c>'


def book(strings: str, *sheets: str) -> dict[str, str | bytes]:
    return {"xl/sharedStrings.xml": strings} | {f"xl/worksheets/sheet{number}.xml": one for number, one in enumerate(sheets, 1)}


def corrected(contents: dict[str, str | bytes], *columns: str) -> tuple[Result, dict[str, str]]:
    result = correct_package(CORRECTOR, zipped(contents), "a.xlsx", "xlsx", *columns)
    return result, {name: content.decode() for name, content in members(result.data).items()}


@pytest.mark.parametrize(
    "columns, changed",
    [
        ((), [False, False, False]),  # text is the third column
        (("描述",), [True, False, False]),
        (("名称", "描述"), [True, True, False]),
        (("B",), [True, False, False]),
        (("2", "A"), [True, True, False]),
    ],
)
def test_the_named_columns_are_corrected(columns: tuple[str, ...], changed: list[bool]) -> None:
    contents = book(shared("名称", "描述", "text", "散部甲", "散部乙", "好"), sheet([0, 1, 2], [4, 3, 5]))
    _, after = corrected(contents, *columns)
    found = re.findall("<t>(.*?)</t>", after["xl/sharedStrings.xml"])
    assert [found[3] == "散步甲", found[4] == "散步乙", "散步" in "".join(found[:3])] == changed
    assert after["xl/worksheets/sheet1.xml"] == contents["xl/worksheets/sheet1.xml"]


def test_lines_are_rows_and_cells_are_apart() -> None:
    strings = shared("text", "描述", "散", "部", "散\n部", "高形", "<r><t>散</t></r><r><rPr/><t>部</t></r><rPh><t>散部</t></rPh>")
    result, after = corrected(book(strings, sheet([0, 1], [2, 3], [], [4], [5, 6])), "text", "描述")
    (document,) = (one.document for one in result.documents)
    assert document.text == "\n散\v部\n\n散\v部\n高形\v散部"
    assert (document.path, document.part) == ("a.xlsx/xl/worksheets/sheet1.xml", "xl/worksheets/sheet1.xml")
    assert after["xl/sharedStrings.xml"] == strings.replace("高形", "高兴").replace("<rPr/><t>部", "<rPr/><t>步")


def test_numbers_formulas_and_headers_stay_and_cells_may_have_their_own_text() -> None:
    rows = [
        [inline("A1", "散部")],
        [inline("A2", "散&#37096;"), inline("B2", "散部")],
        ['<c r="A3" t="str"><f>"散部"</f><v>散部</v></c>'],
        ['<c r="A4"><v>0</v></c>'],
        ['<c t="inlineStr"><is><r><t>高</t></r><r><t>形</t></r></is></c>'],
        ['<c r="A6" t="s"><v>99</v></c><c r="A7" t="s"><v>x</v></c>'],
    ]
    contents = book(shared("散部"), sheet(*rows))
    _, after = corrected(contents, "散部")
    assert after["xl/sharedStrings.xml"] == contents["xl/sharedStrings.xml"]
    expected = str(contents["xl/worksheets/sheet1.xml"]).replace("&#37096;", "&#27493;").replace("<t>形</t>", "<t>兴</t>")
    assert after["xl/worksheets/sheet1.xml"] == expected


def test_a_text_that_cells_share_is_read_once_and_stays_if_another_column_has_it() -> None:
    strings = shared("text", "b", "散部甲", "散部乙", "散部丙")
    result, after = corrected(book(strings, sheet([0, 1], [2, 3], [3, 1], [2, 1]), sheet([0], [2], [4]), sheet([1], [3])), "text")
    assert after["xl/sharedStrings.xml"] == strings.replace("散部甲", "散步甲").replace("散部丙", "散步丙")
    assert [one.document.text for one in result.documents] == ["\n散部甲", "\n\n散部丙", ""]


def test_sheets_are_named_and_ordered_as_they_are_shown() -> None:
    workbook = (
        f'<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}"><sheets><sheet name="二" sheetId="2" r:id="rId2"/>'
        '<sheet name="一" sheetId="1" r:id="rId1"/><sheet name="三" r:id="rId9"/></sheets></workbook>'
    )
    relations = (
        '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
        '<Relationship Id="rId1" Target="worksheets/sheet1.xml"/>'
        '<Relationship Id="rId2" Target="/xl/worksheets/sheet2.xml"/></Relationships>'
    )
    contents = book(shared("text", "散部", "高形"), sheet([0], [1]), sheet([0], [2]), sheet([0]))
    result, _ = corrected(contents | {"xl/workbook.xml": workbook, "xl/_rels/workbook.xml.rels": relations})
    assert [(one.document.path, one.document.text) for one in result.documents] == [
        ("a.xlsx/二", "\n高形"), ("a.xlsx/一", "\n散部"), ("a.xlsx/xl/worksheets/sheet3.xml", ""),
    ]  # fmt: skip


def test_names_of_the_columns_of_tables_stay() -> None:
    table = f'<table xmlns="{MAIN}"><tableColumns><tableColumn id="1" name="散部"/></tableColumns></table>'
    contents = book(shared("散部", "高形"), sheet([0], [1])) | {"xl/tables/table1.xml": table}
    _, after = corrected(contents, "A")
    assert after["xl/sharedStrings.xml"] == shared("散部", "高兴")


def test_a_column_that_is_nowhere_is_an_error_that_names_those_there_are() -> None:
    contents = book(shared("甲", " 乙 ", "b"), sheet([0, 1], [0, 0]), sheet([2], [0]))
    with pytest.raises(ConfigError, match=r"^a.xlsx: column: there is no column 'text' in any sheet; choose one of '甲', '乙' or a letter"):
        corrected(contents)
    assert len(corrected(contents, "乙", "b")[0].documents) == 2


def test_what_is_no_workbook_is_refused() -> None:
    with pytest.raises(InputError, match=r"^a.xlsx: an Office document, but not an Excel workbook: it has no xl/worksheets/sheet1.xml"):
        corrected({"[Content_Types].xml": ""})
    with pytest.raises(InputError, match=r"^a.xlsx: is signed"):
        corrected(book(shared("text", "散部"), sheet([0], [1])) | {"_xmlsignatures/a": ""})
    with pytest.raises(InputError, match=r"^a.xlsx/xl/worksheets/sheet1.xml:1: its XML is not well-formed"):
        corrected(book(shared("text"), "<a>"))


def test_rows_without_numbers_and_of_numbers_that_cannot_be() -> None:
    given = (("", "text"), (' r="99999999"', "散部"), (' r="5"', "高形"))
    rows = "".join(f'<row{number}>{inline("", text)}</row>' for number, text in given)
    contents = {"xl/worksheets/sheet1.xml": f'<worksheet xmlns="{MAIN}"><sheetData>{rows}</sheetData></worksheet>'}
    result, after = corrected(contents)  # type: ignore[arg-type]
    assert result.documents[0].document.text == "\n散部\n\n\n高形"
    assert "散步" in after["xl/worksheets/sheet1.xml"]

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from corrector.apply import corrected_text
from corrector.errors import ConfigError, InputError
from corrector.formats import format_of
from corrector.formats.json_strings import string_spans
from corrector.formats.passages import correct_passages
from corrector.formats.tables import Field, format_named, records
from corrector.types import Document
from tests.fakes import FakeCorrector

CORRECTOR = FakeCorrector({"散部": "散步", "形": "兴"})
TEXTS = st.text(st.sampled_from('形散部字"\\,\t\n\r ab/\x00\u2028é😀𠀀'), max_size=8)
TSV = "\t"


def corrected(text: str, name: str, *columns: str) -> str:
    document = Document("a." + name, text)
    return corrected_text(correct_passages(CORRECTOR, document, format_named(name, columns).passages(document)))


def right(text: str) -> str:
    return text.replace("散部", "散步").replace("形", "兴")


@pytest.mark.parametrize(
    "line, columns, expected",
    [
        ('{"text": "高形"}', (), '{"text": "高兴"}'),
        ('{"text":"高形","title":"高形","形":"形"}', ("title", "形"), '{"text":"高形","title":"高兴","形":"兴"}'),
        ('{"t\\u0065xt":"高\\u5f62"}', (), '{"t\\u0065xt":"高\\u5174"}'),
        ('{"text":"\\u5F62形\\u6563部"}', (), '{"text":"\\u5174兴\\u6563步"}'),
        ('{"text":"\\u90E8\\u6563\\u90E8"}', (), '{"text":"\\u90E8\\u6563\\u6B65"}'),
        ('{"text":"散\\u90e8"}', (), '{"text":"散\\u6b65"}'),
        ('{"text":"\\"散部\\"\\n\\\\形\\\\u5f62"}', (), '{"text":"\\"散步\\"\\n\\\\兴\\\\u5f62"}'),
        ('{"text":"散\\n部"}', (), '{"text":"散\\n部"}'),
        ('{"text":"\\ud83d\\ude00形\\ud83d"}', (), '{"text":"\\ud83d\\ude00兴\\ud83d"}'),
        ('{"meta": {"title": "形", "x": "形"}, "title": "形"}', ("meta.title",),
         '{"meta": {"title": "兴", "x": "形"}, "title": "形"}'),
        ('{"meta.title": "形", "meta": {"title": "形"}}', ("meta.title",), '{"meta.title": "兴", "meta": {"title": "兴"}}'),
        ('{"text": ["形", 1, ["形"], {"text": "形", "x": "形"}, "形"]}', (),
         '{"text": ["兴", 1, ["兴"], {"text": "形", "x": "形"}, "兴"]}'),
        ('{"messages": [{"role": "形", "content": "形"}, {"content": "形"}]}', ("messages.content",),
         '{"messages": [{"role": "形", "content": "兴"}, {"content": "兴"}]}'),
        ('[{"text": "形"}, "形"]', (), '[{"text": "兴"}, "形"]'),
        ('{"text": {"": "形"}, "": "形"}', (), '{"text": {"": "形"}, "": "形"}'),
        ('{"text": null}', (), '{"text": null}'),
        ('{"body": "形"}', (), '{"body": "形"}'),
        ('  {"a" : [ ] , "b":{ }, "text" :\t"形" , "c":-1.5e+9}  ', (), '  {"a" : [ ] , "b":{ }, "text" :\t"兴" , "c":-1.5e+9}  '),
        ('{"a": NaN, "text": "形", "b": -Infinity, "c": ' + "9" * 5000 + "}", (),
         '{"a": NaN, "text": "兴", "b": -Infinity, "c": ' + "9" * 5000 + "}"),
        ('"形"', (), '"形"'),
        ("[" * 9999 + '{"text":"形"}' + "]" * 9999, (), "[" * 9999 + '{"text":"兴"}' + "]" * 9999),
    ],
)  # fmt: skip
def test_a_line_of_json(line: str, columns: tuple[str, ...], expected: str) -> None:
    assert corrected(line, "jsonl", *columns) == expected


@pytest.mark.parametrize(
    ("written", "read"),
    [('"中\\n\\"\\u6587\\""', '中\n"文"'), ('"\\ud800中\\udfff"', "\ufffd中\ufffd"), ('"中\\ud83d\\ude00"', "中😀")],
)
def test_what_a_string_is_read_as(written: str, read: str) -> None:
    assert [passage.text for passage in format_named("jsonl", ()).passages(Document(None, f'{{"text":{written}}}'))] == [read]


def test_lines_end_as_they_did_and_may_be_empty() -> None:
    text = '\ufeff{"text":"形"}\r\n\r\n{"text":"形"}\n  \n{"text":"形"}\r{"text":"形\u2028形"}'
    assert corrected(text, "jsonl") == right(text)


@pytest.mark.parametrize(
    "line, column",
    [
        ("形", 1),
        ('{"text": "形}', 13),
        ('{"text": "形"', 13),
        ('{"text": "形"]', 13),
        ('{"text": "形"} {}', 15),
        ('{"text": "形",}', 14),
        ('{"text": "\\x"}', 11),
        ('{"text": "\\u12"}', 12),
        ('{"text": "a\tb"}', 12),
        ("{'text': 1}", 2),
        ('{"text" 1}', 9),
        ("[1, ]", 5),
        ("[1 2]", 4),
        ("[1}", 3),
        ("{]", 2),
        ("]", 1),
        ("nul", 1),
        ("01", 2),
        ("+1", 1),
        ("{", 2),
        ("[", 2),
        ("[1,", 4),
        ('{"a":', 6),
    ],
)
def test_a_line_that_is_not_json_is_an_error_with_its_place(line: str, column: int) -> None:
    with pytest.raises(InputError, match=f"^a.jsonl:2: not valid JSON at column {column} "):
        corrected(f'{{"text": "形"}}\n{line}\n{{}}', "jsonl")
    with pytest.raises(json.JSONDecodeError):
        json.loads(line)


@pytest.mark.parametrize("name", ["jsonl", "csv"])
def test_what_has_no_name_is_called_as_everywhere(name: str) -> None:
    with pytest.raises((InputError, ConfigError), match=r"^<stdin>:"):
        list(format_named(name, ("x",)).passages(Document(None, "形")))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["text", "meta", "a.b"]) | TEXTS, inner, max_size=3)
    ),
    max_leaves=8,
)


def expected_json(value: Any, path: str | None) -> Any:
    """``value`` with the strings at ``path`` corrected; None leads nowhere."""
    if isinstance(value, str):
        return right(value) if path == "" else value
    if isinstance(value, list):
        return [expected_json(item, path) for item in value]
    if isinstance(value, dict):
        below = {path: ""} | ({"meta": "text"} if path == "meta.text" else {})
        return {key: expected_json(item, below.get(key) if path else None) for key, item in value.items()}
    return value


@given(
    JSON,
    st.sampled_from(["text", "meta.text", "a.b"]),
    st.booleans(),
    st.sampled_from([(", ", ": "), (",", ":"), (" ,\t", " :")]),
)
@settings(max_examples=150, deadline=None)
def test_json_comes_out_as_the_corrected_value_written_in_the_same_way(
    value: Any, path: str, ascii_only: bool, separators: tuple[str, str]
) -> None:
    def written(value: Any) -> str:
        return json.dumps(value, ensure_ascii=ascii_only, separators=separators)

    assert corrected(written(value), "jsonl", path) == written(expected_json(value, path))


@given(st.text(st.sampled_from('[]{},:"\\u0123 atrue形\n'), max_size=20))
@example('{"a":1}{"b":2}')
@settings(max_examples=300, deadline=None)
def test_json_is_accepted_as_the_standard_library_accepts_it(line: str) -> None:
    line = line.replace("\n", " ")
    try:
        json.loads(line)
    except json.JSONDecodeError:
        with pytest.raises(json.JSONDecodeError):
            string_spans(line, 0, len(line), ("text",))
    else:
        string_spans(line, 0, len(line), ("text",))


@pytest.mark.parametrize(
    "name, columns, text, expected",
    [
        ("csv", (), "id,text\n形,形\n", "id,text\n形,兴\n"),
        ("csv", ("2",), "形,形\n形,形,形", "形,兴\n形,兴,形"),
        ("csv", ("b", "1"), "a,b,c\n形,形,形\n", "a,b,c\n兴,兴,形\n"),
        ("csv", ("2",), "a,2,2\n形,形,形\n", "a,2,2\n形,兴,兴\n"),
        ("csv", ("形",), '\ufeff"形",b\r\n"形, 散部",形\r\n', '\ufeff"形",b\r\n"兴, 散步",形\r\n'),
        ("csv", ("b",), 'a,"b"\r\n形,"散""部\r\n形\n散\n部"\r\n\r\n形,形\r\n', 'a,"b"\r\n形,"散""部\r\n兴\n散\n部"\r\n\r\n形,兴\r\n'),
        ("csv", (), "\n text ,x\n形\n\n,形\n", "\n text ,x\n兴\n\n,形\n"),
        ("csv", ("x",), "text,x\n形\n形,\n", "text,x\n形\n形,\n"),
        ("csv", ("1",), '"形"形,"形,形\n形,形', '"兴"兴,"形,形\n兴,形'),
        ("csv", ("2",), '形,"形\n"形",形\n', '形,"兴\n"形",兴\n'),
        ("csv", ("2",), '形,"a"形,形\n', '形,"a"兴,形\n'),
        ("csv", ('a""b',), 'a""b,"a""b"\n形,形\n', 'a""b,"a""b"\n兴,形\n'),  # two quotes are one in quotes only
        ("tsv", (), "text\tb\n形,\t形\n\"形\t形\n形\t形\n", "text\tb\n兴,\t形\n\"兴\t形\n兴\t形\n"),
        ("tsv", ("2",), '形\t"形\t形\n形"\t形', '形\t"兴\t兴\n兴"\t形'),
        ("csv", (), "", ""),
        ("csv", (), "\ufeff\r\n", "\ufeff\r\n"),
    ],
)  # fmt: skip
def test_a_table(name: str, columns: tuple[str, ...], text: str, expected: str) -> None:
    assert corrected(text, name, *columns) == expected


@pytest.mark.parametrize(
    "columns, text, expected",
    [
        ((), "id;text\n形,形;形,形\n", "id;text\n形,形;兴,兴\n"),
        ((), '\ufeffid;"text"\r\n形;"形;""形"\r\n', '\ufeffid;"text"\r\n形;"兴;""兴"\r\n'),
        (("b", "text"), "text;b, c;b\n形;形;形\n", "text;b, c;b\n兴;形;兴\n"),
        ((), "id\ttext\n形\t形;形\n", "id\ttext\n形\t兴;兴\n"),
        (("2",), "形;形\n形;形,形\n", "形;兴\n形;兴,兴\n"),
        (("1",), "形;形\n", "兴;兴\n"),  # one column, also by commas; of one row nothing can be seen
        (("1",), "形;形\n形;形,形\n", "兴;形\n兴;形,形\n"),
        (("1",), "形\t形;形\n形\t形\n", "兴\t形;形\n兴\t形\n"),
        (("1",), '形;"形;形"\n"形";形\n', '兴;"形;形"\n"兴";形\n'),
        (("1",), "形;形\n形\n", "兴;兴\n兴\n"),  # not as many fields in every row
        (("1",), '形;形\n形";形\n', '兴;兴\n兴";兴\n'),  # a quote where none belongs
        (("1",), "形;形\t形\n形;形\t形\n", "兴;兴\t兴\n兴;兴\t兴\n"),  # by semicolons or by tabs
        ((), "text,a;text\n形;形,形;形\n", "text,a;text\n兴;兴,形;形\n"),
        ((), "sep=;\ntext;a,text\n形;形,形\n", "sep=;\ntext;a,text\n兴;形,形\n"),
        (("1",), "\ufeffsep=|\r\n形,形|形\r\n", "\ufeffsep=|\r\n兴,兴|形\r\n"),
        (("1",), "sep=形\n形,形\n", "sep=兴\n兴,形\n"),
    ],
)
def test_a_table_of_another_delimiter(columns: tuple[str, ...], text: str, expected: str) -> None:
    assert corrected(text, "csv", *columns) == expected


@pytest.mark.parametrize(
    ("name", "header"),
    [
        ("csv", 'id,"a;text;b"'),  # the semicolons are in quotes
        ("csv", "a;text;b\ttext\tc"),
        ("csv", "a;text b"),
        ("tsv", "id;text"),
        ("tsv", "sep=;\nid;text"),
    ],
)
def test_a_delimiter_in_doubt_is_the_usual_one(name: str, header: str) -> None:
    with pytest.raises(ConfigError, match="there is no column 'text'"):
        corrected(f"{header}\n形;形\n", name)


def test_a_column_that_is_not_there_is_missing_from_those_that_separate() -> None:
    with pytest.raises(ConfigError, match=r"there is no column 'text'; choose one of 'id', '标题' or a number from 1 to 2"):
        corrected("id;标题\n形;形\n", "csv")


@pytest.mark.parametrize(
    ("field", "read"), [('"他说""好""。"', '他说"好"。'), ('他说""好""。', '他说""好""。'), ('"""好"', '"好'), ('"好"""', '好"')]
)
def test_what_a_field_is_read_as(field: str, read: str) -> None:
    document = Document("a.csv", f"text\n{field}\n")
    assert [passage.text for passage in format_named("csv", ()).passages(document)] == [read]


@pytest.mark.parametrize("column", ["正文", "0", "4", "-1", "1.0", "", "²", "9" * 5000])
def test_a_column_that_is_not_there_is_an_error_that_names_those_that_are(column: str) -> None:
    with pytest.raises(
        ConfigError, match=r"^a.csv: column: there is no .*choose one of 'id', '标题', 'a,b' or a number from 1 to 3"
    ):
        corrected('id, 标题,"a,b"\n', "csv", "id", column)


def test_of_many_columns_only_some_are_named() -> None:
    with pytest.raises(ConfigError, match=r"'c29' or a number from 1 to 1000$"):
        corrected(",".join(f"c{number}" for number in range(1000)), "csv", "x")


def values(text: str, record: list[Field]) -> list[str]:
    return [text[start:end].replace('""', '"') if quoted else text[start:end] for start, end, quoted in record]


@given(st.text(st.sampled_from('形a,\t"\n\r '), max_size=16), st.sampled_from([",", TSV]))
@example('"a\r\n""",\r"",', ",")
@settings(max_examples=400, deadline=None)
def test_records_are_those_of_the_csv_module(text: str, delimiter: str) -> None:
    try:
        expected = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True))
    except csv.Error:  # what the strict dialect refuses comes out in some way, but nothing is lost or read twice
        spans = [(start, end) for record in records(text, delimiter) for start, end, _ in record]
        assert all(before[1] <= after[0] for before, after in zip(spans, spans[1:], strict=False))
        assert all(end < len(text) + 1 for _, end in spans)
    else:
        assert [values(text, record) for record in records(text, delimiter)] == [row for row in expected if row]


@given(
    st.lists(st.lists(TEXTS.filter(lambda text: not {"\x00", "\r"} & set(text)), min_size=2, max_size=2), max_size=4),
    st.sampled_from([",", TSV]),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
)
@settings(max_examples=150, deadline=None)
def test_a_table_comes_out_as_the_corrected_values_written_in_the_same_way(
    rows: list[list[str]], delimiter: str, newline: str, quoting: Any
) -> None:
    def written(rows: list[list[str]]) -> str:
        stream = io.StringIO(newline="")
        csv.writer(stream, delimiter=delimiter, lineterminator=newline, quoting=quoting).writerows(rows)
        return stream.getvalue()

    text = written([["id", "text"], *rows])
    expected = written([["id", "text"], *([first, right(second)] for first, second in rows)])
    assert corrected(text, "tsv" if delimiter == TSV else "csv") == expected


def test_the_formats_are_found_by_extension() -> None:
    for name, streams in (("jsonl", True), ("csv", False), ("tsv", False)):
        found = format_of(f"a.{name}", None, "正文")
        assert (found.name, found.streams) == (name, streams)
        assert found == format_named(name, ["正文"])
    assert format_of("a.jsonl") == format_named("jsonl", "text")

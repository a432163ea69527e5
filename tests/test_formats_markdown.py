from __future__ import annotations

import re
from collections.abc import Iterable

import pytest
from fakes import FakeCorrector
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.dollarmath import dollarmath_plugin
from mdit_py_plugins.footnote import footnote_plugin
from prose import corrected, free_offsets
from prose import read as read_as

from corrector.formats import format_of
from corrector.formats.markdown_anchors import Anchors
from corrector.formats.markdown_front_matter import slides_front_matter
from corrector.formats.passages import correct_passages
from corrector.text.protect import is_han
from corrector.types import Document


def read(text: str) -> list[str]:
    return read_as("markdown", text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("\n\n", []),
        ("no prose of ours\n", []),
        ("甲文。\n\n乙文。\n", ["甲文。", "乙文。"]),
        ("# 标**题** ##\n", ["标题"]),
        ("标题\n====\n正文", ["标题", "正文"]),
        ("- 甲\n  乙\n\n  丙\n* 丁\n1. 戊", ["甲乙", "丙", "丁", "戊"]),
        ("- [x] 任务", ["[x] 任务"]),
        ("> 甲\n> 乙\n丙\n> > 丁", ["甲乙丙", "丁"]),
        ("\t代码\n\n>\t甲\n>\t乙\n- 丙\n\n\t丁\n", ["甲乙", "丙", "丁"]),
        ("\u3000\u3000甲\n\u3000乙", ["甲\u3000乙"]),
        ("\u3000\n甲文\n", ["甲文"]),
        ("\x1f", []),  # a space to Python, not to Markdown
        ("\x1f\n甲文\n", ["\x1f甲文"]),
        ("甲\r\n乙\r丙\r\n\r\n丁", ["甲乙丙", "丁"]),
        ("\ufeff# 标题", ["标题"]),
        ("甲文\x0b乙\u2028丙", ["甲文\x0b乙\u2028丙"]),
    ],
)
def test_blocks(text: str, expected: list[str]) -> None:
    assert read(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("**权**利", ["权利"]),
        ("这是**重\n要**的*事*，~~旧~~_新_。", ["这是重要的事，旧新。"]),
        ("加粗**“权利”**的", ["加粗“权利”的"]),  # not emphasis by the standard, meant as such
        ("甲_乙_丙 _丁 戊", ["甲_乙_丙 _丁 戊"]),  # no emphasis
        ("见[链接**文**字](http://a/中文 \"标题\")吧", ["见链接文字吧"]),
        ("见<http://例子/路>吧", ["见http://‹例子›/‹路›吧"]),
        ("运行`打印 文字`即可", ["运行‹打印› ‹文字›即可"]),
        ("行内$甲_乙$公式", ["行内‹甲›_‹乙›公式"]),
        ("花了$5，又花$6。", ["花了$5，又花$6。"]),
        ("甲&amp;乙&#20013;丙\\*丁\\戊", ["甲&乙‹中›丙*丁\\戊"]),
        ("甲  \n乙\\\n丙", ["甲  ", "乙", "丙"]),
        ("甲<b title='文'>乙</b><!-- 注 -->丙<br>丁", ["甲乙丙", "丁"]),
        ("按<kbd>保存</kbd>键", ["按‹保存›键"]),
        ("请看 English\nword 中文", ["请看 English word 中文"]),
        ("见[[维基 页]]和{{变 量}}", ["见[[‹维基› ‹页›]]和{{‹变› ‹量›}}"]),
        ("图![替**代**文字](图.png)后", ["图后", "替代文字"]),
        ("[![徽章](a)](b)", ["徽章"]),
        ("字\U00020000😀́文", ["字\U00020000😀́文"]),
    ],
)
def test_inline(text: str, expected: list[str]) -> None:
    assert read(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("---\n标题: 甲\n---\n乙", ["乙"]),
        ("\ufeff---\n标题: 甲\n---\n乙", ["乙"]),
        ("+++\n标题 = '甲'\n+++\n乙", ["乙"]),
        ("---\n没有关上\n\n乙", ["没有关上", "乙"]),
        ("---\n简介: |\n  甲\n  ---\n  丙\n---\n乙", ["乙"]),  # a line of the value
        ("---  \r\n标题: 甲\r\n...\t\r\n乙", ["乙"]),
        ("----\n标题: 甲\n---\n丙: 丁\n-----\n乙", ["乙"]),
        ("--- 甲\n丙\n---\n乙", ["--- 甲丙", "乙"]),
        ("```python\n# 甲\n```\n乙\n~~~\n丙\n", ["乙"]),
        ("甲\n\n    乙\n", ["甲"]),
        ("$$\n甲\n\n乙\n$$\n丙", ["丙"]),
        ("<!-- 甲\n\n乙 -->\n\n丙", ["丙"]),
        ("<script>\n甲\n\n乙</script>\n\n丙", ["丙"]),
        ("<div title=\"甲\">\n<b>乙</b>文<p>丙\n</div>\n\n丁", ["乙文", "丙", "丁"]),
        ("> <div\n> title='甲'>\n> 乙\n\n丙", ["丙"]),  # HTML within a quotation: not proved, so left alone
        ("[甲]: /乙 \"丙\"\n\n见[甲]和[甲][]和[丁][甲]和[戊]", ["见‹甲›和‹甲›和丁和[戊]"]),
        ("[甲]: /乙\n\n![甲]和![丁][甲]", ["和", "丁"]),
        ("甲[^注]\n\n[^注]: 脚注文字。\n    第二行\n", ["甲", "脚注文字。第二行"]),
    ],
)
def test_what_is_protected(text: str, expected: list[str]) -> None:
    assert read(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<details>\n<summary>甲</summary>\n<pre>\n乙\n\n丙\n</pre>\n丁\n</details>\n\n戊", ["甲", "丁", "戊"]),
        ("<div><pre>\n\n甲\n\n</pre>乙</div>\n\n丙", ["乙", "丙"]),
        ("<div>\n<code>\n\n甲\n</code>乙\n</div>丙", ["乙", "丙"]),
        ("<div><pre>\n\n# 甲\n\n- 乙\n\n|丙|\n|-|\n\n<b>丁</b>\n\n![戊](a)\n\n<div>己</pre>庚</div>", ["庚"]),
        ("<div><pre>\n\n甲<pre>乙</pre>丙\n\n<p>丁</p></pre>\n\n戊", ["戊"]),
        ("<div><pre><code>\n\n甲\n\n</code></pre></div>\n\n乙", ["乙"]),
        ("<div>\n<script>\n\n甲\n\n<div>a <b && '乙\n</script>\n</div>\n\n丙", ["丙"]),
        ("<div><iframe src=a>\n\n甲<b>\n\n</iframe>乙</div>\n\n丙", ["乙", "丙"]),
        ("<noframes>\n甲\n\n乙\n</noframes>\n<p><noembed>\n\n丙\n\n</noembed>\n丁</p>", ["丁"]),
        ("<iframe src=a>\n\n甲\n\n<iframe src=b></iframe>\n\n乙", ["甲", "乙"]),  # never closed
        ("- <div><iframe src=a/>\n\n  甲", ["甲"]),
        ("<div><svg/><pre/>\n\n甲", []),
        ("<div><svg/></div>\n\n甲", ["甲"]),
        ("<div><pre>\n\n甲\n\n乙", []),  # never closed
        ("<div><code>\n\n甲\n\n乙", ["甲", "乙"]),
        ("<div><code>\n\n甲\n\n乙<code>丙</code>", ["甲", "乙‹丙›"]),
        ("<code>\n\n甲\n\n</code>\n\n乙", ["乙"]),
        ("- <div><pre>\n\n  甲\n\n  </pre>乙</div>\n\n丙", ["乙", "丙"]),
        ("<div translate=no>\n\n甲\n\n<div>乙</div>\n\n- 丙\n\n</div>丁\n\n戊", ["丁", "戊"]),
        ("<section class='a notranslate'>\n\n甲\n\n</section>\n<div lang=zh>\n\n乙\n\n</div>", ["乙"]),
        ("> <div lang=ja>\n>\n> 甲\n\n乙", ["乙"]),
        ("<p lang=ja>\n\n甲", ["甲"]),  # a paragraph ends where the next begins
        ("- <div><code>\n\n  甲\n- 乙\n\n> <div><pre>\n>\n> 丙\n\n丁", ["乙", "丁"]),
    ],
)
def test_elements_stay_open_over_blank_lines(text: str, expected: list[str]) -> None:
    assert read(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("|甲|乙|\n|-|-|\n|丙|丁|\n", ["甲", "乙", "丙", "丁"]),
        ("甲|乙\n-|-\n丙|丁|多\n戊\n", ["甲", "乙", "丙", "丁", "戊"]),
        ("|甲|乙|\n|-|-|\n||**丁**文|\n| 丁 | 丁 |\n", ["甲", "乙", "丁文", "丁", "丁"]),
        ("|甲|乙|\n|-|-|\n|丙\\|`文\\|字`丁|丁\\||\n", ["甲", "乙", "丙|‹文›|‹字›丁", "丁|"]),
        ("- > 甲|乙\n  > -|-\n  > 丙|丁\n", ["甲", "乙", "丙", "丁"]),
    ],
)
def test_tables(text: str, expected: list[str]) -> None:
    assert read(text) == expected


def test_a_table_cell_is_corrected_where_it_stands() -> None:
    text = "|文|乙|\n|-|-|\n| 甲 | 文\\|文 |\r\n|文|  |\n"
    assert corrected("markdown", text, {"文": "纹"}) == text.replace("文", "纹")


def test_a_word_is_corrected_over_marks_and_line_ends_within_it() -> None:
    text = "> 我们的**权**丽和义\n> 物。\r\n\r\n`权丽` [权丽](权丽)\n"
    right = {"权丽": "权利", "义物": "义务"}
    assert corrected("markdown", text, right) == "> 我们的**权**利和义\n> 务。\r\n\r\n`权丽` [权利](权丽)\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("甲\n{: .x title=\"文 文\"}", ['甲 {: .x title="‹文› ‹文›"}']),
        ("# 甲 {#文 .文 key='文 \"文'}\n\n乙", ["甲 {#‹文› .‹文› key='‹文› \"‹文›'}", "乙"]),
        ("[甲](a){:target=_blank title=\"文 文\"}乙", ['甲{:target=_blank title="‹文› ‹文›"}乙']),
        ("![甲](a){ width=50% alt=文 }", ["{ width=50% alt=‹文› }", "甲"]),
        ("*甲*{- data-x title=\"*文* }文\" .b}", ['甲{- data-x title="‹文› }‹文›" .b}']),
        ("::: {.note title=\"文 文\"}\n甲\n:::", ['::: {.note title="‹文› ‹文›"} 甲 :::']),
        ("{甲 乙}和{ 丙 }和{#丁 戊}和{己=庚 辛}和{a 壬}和{b=\"癸 甲}", ['{甲 乙}和{ 丙 }和{#丁 戊}和{己=庚 辛}和{a 壬}和{b="癸 甲}']),
        ("| 甲 |\n|---|\n| 乙{: title=\"文 文\"} |", ["甲", '乙{: title="‹文› ‹文›"}']),
    ],
)
def test_attribute_lists_stay(text: str, expected: list[str]) -> None:
    assert read(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{% highlight c %}\n文 // 文\n{% endhighlight %}甲", ["{% highlight c %} ‹文› // ‹文› {% endhighlight %}甲"]),
        ("甲\n\n{%- codeblock -%}\n# 文\n\n文\n{%- endcodeblock -%}\n\n乙", ["甲", "‹文›", "‹文› {%- endcodeblock -%}", "乙"]),
        (
            "{{< highlight c >}}\n文 {{% x %}}\n\n文\n{{< / highlight >}}乙",
            ["{{< highlight c >}} ‹文› {{% x %}}", "‹文› {{< / highlight >}}乙"],
        ),
        (
            "{% comment %}\n文{% endcode %}\n{% code %}文{% endcomment %}甲",
            ["{% comment %} ‹文›{% endcode %} {% code %}‹文›{% endcomment %}甲"],
        ),
        ("{% highlight c %}\n甲\n{% endraw %}乙", ["{% highlight c %} 甲 {% endraw %}乙"]),  # never closed
    ],
)
def test_code_between_tags_of_templates_stays(text: str, expected: list[str]) -> None:
    assert read(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("见[@甲2020; -@乙:丙, 页 3]和@丁", "见[@‹甲›2020; -@‹乙›:‹丙›, 页 3]和@丁"),
        ("如@fig:甲所示，见@tbl-乙。联系a@丙, 问@丁，@sec-", "如@fig:‹甲所示›，见@tbl-‹乙›。联系a@丙, 问@丁，@sec-"),
        ("#甲/乙 文 #丙\n丁#戊 #己，#庚#", "#‹甲›/‹乙› 文 #‹丙›丁#戊 #己，#庚#"),
    ],
)
def test_citations_and_tags_stay(text: str, expected: str) -> None:
    assert read(text) == [expected]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("甲%%文%%乙 %% 文\n文 20% %%丙", ["甲乙 丙"]),
        ("# 甲 %%文%%\n- %%文%% 乙\n\n|丙%%文%%|\n|-|\n|%%文%%|", ["甲 ", " 乙", "丙"]),
        ("甲\n%%\n文\n\n```\n- 文\n%% \n乙\n\n%%\r\n文\r\n\t%%\r\n\r\n%%\r\n丙", ["甲", "乙", "丙"]),
        ("- 甲\n  %%\n  文\n\n  文\n  %%\n  乙\n> %%\n> 文\n> %%\n> 丙", ["甲", "乙", "丙"]),
        ("%%甲\n\n乙%%\n\n%%\n丙\n\n丁 %%", ["%%甲", "乙%%", "%% 丙", "丁 %%"]),  # never closed
        ("- %%\n  甲\n\n> %%\n> 乙\n\n%%\n丙", ["%% 甲", "%% 乙", "%% 丙"]),
        ("涨了20%，占50%%，到60%%。", ["涨了20%，占50%%，到60%%。"]),
        ("%%%%甲%%%乙 \\%%丙%%", ["%%%%甲%%%乙 %%丙%%"]),
        ("`%%a`测时间，`%%b`运行", ["%%a测时间，%%b运行"]),
        ("```\n%%\n```\n甲\n\n    %%\n\n乙\n%%\n", ["甲", "乙 %%"]),
    ],
)
def test_comments_of_obsidian_stay(text: str, expected: list[str]) -> None:
    assert read(text) == expected


@pytest.mark.parametrize("piece", ["%%", "%%文", "%%\n", "%%\n\n", "> %%\n", "- %%\n", "[%%", "%%%文"])
def test_comments_that_are_never_closed_take_no_quadratic_time(piece: str) -> None:
    assert read(piece * (20_000 // len(piece)) + "\n\n甲")[-1].endswith("甲")


def test_an_address_with_spaces_stays() -> None:
    text = "![甲](图/文 1.png)和[乙](文 文.md)和[丙](文 丁)和(戊 己/庚)"
    assert read(text) == ["![甲](‹图›/‹文› 1.png)和[乙](‹文› ‹文›.md)和[丙](文 丁)和(戊 己/庚)"]


@pytest.mark.parametrize(
    "piece",
    ["{", "{a ", '{a="', "{: #a ", "a=b ", "{a='文 ", ' b="文', "@文", "@fig:", "](文", "](.", " #文", "#文/"],
)
def test_braces_that_are_never_closed_take_no_quadratic_time(piece: str) -> None:
    assert read("甲{" + piece * (20_000 // len(piece)))[0].startswith("甲")


@pytest.mark.parametrize(
    ("heading", "link"),
    [
        ("# 公园 散部", "[甲](#公园-散部)"),
        ("公园，散部（Two）\n===", "[甲](#公园散部two)"),
        ("## 1.2 公园 *散部* ##", "[甲]: #公园-散部"),
        ("# 散部", "[甲](./README.md#散部-1 '乙')和[乙](<#公园>)"),
        ("# 散部 {.a title='文 文'}", "[甲](#%E6%95%A3%E9%83%A8)"),
        ("# 散部 二", "[甲](<#散部 二>)"),
        ("- # 散部（二）", "[甲](#散部(二))"),
        ("> # [散部](a)", "[[#公园#散部|甲]]"),
        ("# What's 散部", "[[页#What's 散部]]"),
        ("# 散部", '<a class="b" href="#散部" title="甲">乙</a>'),
        ("# 散部", "<p>\n<a href='a#散部'>乙</a>"),
    ],
)
def test_what_is_wrong_in_a_heading_that_a_link_leads_to_is_only_suggested(heading: str, link: str) -> None:
    text = f"{link}\n\n{heading}\n\n散部\n"
    document = Document(None, text)
    found = correct_passages(FakeCorrector({"散部": "散步"}), document, format_of("a.md").passages(document))
    assert [correction.span.start for correction in found.corrections] == [text.rindex("散部")]
    assert [suggestion.replacement for suggestion in found.suggestions] == ["散步"]


@pytest.mark.parametrize("link", ["[散部](#公园)", "[甲](散部)", "#散部", "[甲](#散部们)", "[甲](#a-1)"])
def test_other_headings_are_corrected(link: str) -> None:
    text = f"{link} 甲\n\n# 散部\n\n甲"
    assert corrected("markdown", text, {"散部\n": "散步\n", "散部": "散步"}).endswith("\n# 散步\n\n甲")


@pytest.mark.parametrize("piece", ["](", "]:#", "](#(", "[[", "[[#", "<", "<#", "href=", 'href="', 'href="#'])
def test_links_that_are_never_closed_take_no_quadratic_time(piece: str) -> None:
    Anchors(piece * 100_000)


@pytest.mark.parametrize("inner", ["", '"a": "甲", "b": {\n"c": ["}", "乙"]\n}', '  "}": 1,\n\n"b": "{"'])
def test_front_matter_in_json(inner: str) -> None:
    text = f"{{ \n{inner}\n}}\t\n# 丙\n"
    assert read(text) == read("\ufeff" + text.replace("\n", "\r\n")) == read(text.replace("\n", "\r")) == ["丙"]


@pytest.mark.parametrize(
    "text",
    [
        '{"a": "甲"}\n', '{"a": "甲"\n}\n', '{\n"a": "甲"}\n', '{\n"a": "甲"\n} 乙\n', '{\n"a": "甲"\n\n', "{\n甲\n}\n", "{\n甲: 乙\n}\n",
        '\n{\n"a": "甲"\n}\n', '[\n"甲"\n]\n', '{\n"a": "甲",\n}\n', '{\n"a":' + '{"甲":' * 5000 + "}" * 5000 + "\n}",
    ],
)  # fmt: skip
def test_what_is_like_front_matter_in_json_is_prose(text: str) -> None:
    assert "甲" in "".join(read(text))


@pytest.mark.parametrize(
    ("slide", "expected"),
    [
        ("---\nlayout: cover\ntitle: 文\n---\n\n# 乙", ["甲", "layout: cover title: ‹文›", "乙"]),
        ("---  \ntitle: 文\n\ninfo:\n  routeAlias: '文'\n---\n乙", ["甲", "title: ‹文›", "info: routeAlias: '‹文›'", "乙"]),
        ("---\n\n乙\n\n---\ntitle: 文\n---", ["甲", "乙", "title: ‹文›"]),
        ("---\n\ntitle: 乙\n\n---", ["甲", "title: 乙"]),
        ("---\ntitle: 乙\n丙\n---", ["甲", "title: 乙丙"]),
        ("---\ntitle：乙\n---", ["甲", "title：乙"]),
        ("---\n标题: 乙\n---", ["甲", "标题: 乙"]),
        ("---\nNote: 乙\n---", ["甲", "Note: 乙"]),
        ("---\ntitle:乙\n---", ["甲", "title:乙"]),
        ("---\n\n---\n乙\n\n---", ["甲", "乙"]),
        ("---\ntitle: 乙\n\n丙", ["甲", "title: 乙", "丙"]),  # never closed
        ("----\ntitle: 乙\n---", ["甲", "title: 乙"]),
    ],
)
def test_front_matter_of_slides(slide: str, expected: list[str]) -> None:
    deck = f"---\ntheme: 文\n---\n甲\n\n{slide}\n"
    assert read(deck) == read("\ufeff" + deck.replace("\n", "\r\n")) == expected


@pytest.mark.parametrize("first", ["甲\n\n", "+++\n+++\n", "{\n}\n", "title: 文\n---\n\n"])
def test_slides_have_front_matter_where_the_first_has_it(first: str) -> None:
    assert read(f"{first}---\ntitle: 乙\n---\n")[-1] == "title: 乙"


def test_what_follows_the_first_front_matter_is_in_no_other() -> None:
    assert read("---\ntheme: 文\n---\ntitle: 甲\n---\nlayout: 乙\n---\n") == ["title: 甲", "layout: ‹乙›"]


@pytest.mark.parametrize("line", ["---\n", "---\r\n", "---\na: \n", "a: \n", " \n", " " * 500, "a" * 500, "a:\r\n\r\n"])
def test_front_matter_of_slides_that_is_never_closed_takes_no_time(line: str) -> None:
    deck = "---\na: b\n---\n\n---\na: b\n" + line * 400
    assert all(span.end <= len(deck) for span in slides_front_matter(deck))


@pytest.mark.parametrize(
    "text, expected",
    [
        ("---\ntitle: 甲  # 乙\ntags: [丙]\ndescription: |\n  丁\n  戊\n---\n己\n", ["甲", "丁\n戊\n", "己"]),
        ("\ufeff---\r\nsummary: \"甲\"\r\nnested: {title: 乙}\r\n...\r\n丙\r\n", ["甲", "丙"]),
        ("---\ntitle: {{ 甲 }}: 乙\n---\n丙\n", ["丙"]),  # no YAML before it is filled in
        ("---\nlayout: 甲\n---\n", []),
        ("---\n甲\n---\n乙\n", ["乙"]),
        ("title: 甲\nsubtitle: 乙\n---\n丙\n", ["甲", "乙", "丙"]),
        ("+++\ntitle = \"甲\"\n+++\n乙\n", ["乙"]),
    ],
)
def test_what_readers_see_of_front_matter(text: str, expected: list[str]) -> None:
    assert read(text) == expected


def test_front_matter_of_hexo_needs_no_first_fence() -> None:
    text = "title: 甲\ndate: 2026-11-27 08:00:00\ntags:\n  - 乙\n- 丙\ncover_image: 丁\n---\n戊\n"
    assert read(text) == read("\ufeff" + text.replace("\n", "\r\n")) == ["戊"]
    assert read("title: 甲\n----") == ["甲"]


@pytest.mark.parametrize(
    "text", ["甲: 乙\n---\n", "note: 甲\n---\n", "title: 甲\n\ndate: 乙\n---\n", "title: 甲\n乙\n---\n", "title: 甲\n===\n"]
)
def test_what_is_like_front_matter_of_hexo_is_a_heading(text: str) -> None:
    assert "甲" in "".join(read(text))


@pytest.mark.parametrize("fence", ["+++", "---"])
def test_front_matter_that_is_never_closed_takes_no_time(fence: str) -> None:
    assert read(f"{fence}\r\n" + "a\r\n" * 200 + "\r\n甲") == ["甲"]


@pytest.mark.parametrize("line", ["a:\r\n", " a\r\n", "- a\n", "a" * 500])
def test_front_matter_of_hexo_that_is_never_closed_takes_no_time(line: str) -> None:
    assert read("title: a\n" + line * 400 + "\n\n甲")[-1] == "甲"


def test_deep_nesting_is_left_alone() -> None:
    assert read("> " * 5000 + "甲\n\n乙") == ["乙"]
    assert read("[" * 500 + "甲" + "](x)" * 500)[0].count("甲") == 1
    assert read("![" * 300 + "甲" + "](x)" * 300 + "\n\n乙")[-1] == "乙"


PIECES = st.sampled_from(
    [
        "文", "文文", "文文，", "。", "*", "**", "_", "~~", "`", "``", "[", "]", "(", ")", "(/u)", "![", "<b>", "</b>",
        "<!--", "-->", "# ", "## ", " #", "> ", "- ", "  ", "    ", "1. ", "|", "\\|", "$", "$$", "&amp;",
        "&#38376;", "\\", "<http://文>", "[文]: /x\n", "[^1]", "[^1]: ", "---\n", "===\n", "```\n", "\n|-|-|\n",
        "\t", "\u3000", "!", "\\文", "<div>\n", "</div>\n", "a", "1", "\ufeff", "+++\n", "😀", "<code>", "</code>",
        "'", '"', "\n", "\n\n", "  \n", "\\\n", "\r", "\r\n", "[[文]]", "<a href='文'>", " ",
    ]
)  # fmt: skip


def numbered(text: str) -> str:
    """``text`` with every 文 replaced by a Han character of its own, so that each can be told from the others."""
    return "".join(chr(0x4E00 + index) if char == "文" else char for index, char in enumerate(text))


@given(st.lists(PIECES, max_size=40).map("".join).map(numbered))
@example("- \u3000\n|-|-|\n\u4e00\n")
@example("\t===\n\\\u4e00  \n  \n-->")
def test_only_what_the_parser_takes_for_text_may_change(text: str) -> None:
    offsets = free_offsets("markdown", text)
    assert len(set(offsets)) == len(offsets)
    assert {text[offset] for offset in offsets} <= texts(text)


@given(st.lists(st.sampled_from(["文", "文文", "，", "*", "**", "[", "](/u)", " ", "\n", "\n\n", "> ", "- ", "# ", "a", "|"])))
def test_everything_that_the_parser_takes_for_text_may_change(pieces: list[str]) -> None:
    text = numbered("".join(pieces))
    assert {text[offset] for offset in free_offsets("markdown", text)} == texts(text)


@given(st.lists(PIECES, max_size=40).map("".join))
def test_everything_else_comes_out_as_it_was(text: str) -> None:
    after = corrected("markdown", text, {"文": "纹"})
    free = set(free_offsets("markdown", text))
    assert len(after) == len(text)
    assert all(old == new or (old, new, at in free) == ("文", "纹", True) for at, (old, new) in enumerate(zip(text, after, strict=True)))


def texts(text: str) -> set[str]:
    """The Han characters in the text tokens of markdown-it itself, and in HTML blocks."""
    md = MarkdownIt("js-default", {"html": True, "maxNesting": 40})
    md.use(footnote_plugin, inline=False, move_to_end=False).use(dollarmath_plugin, allow_space=False, allow_digits=False)
    tokens = md.parse(without_front_matter(text.removeprefix("\ufeff")))
    return {char for token in leaves(tokens) for char in token.content if is_han(char)}


def without_front_matter(text: str) -> str:
    """The text after YAML between two lines of hyphens. What TOML there is stays: it only allows more."""
    first, *rest = re.split("\r\n|\r|\n", text)
    opening = first.rstrip(" \t")
    if len(opening) >= 3 and not opening.strip("-"):
        for number, line in enumerate(rest):
            closing = line.rstrip(" \t")
            if closing == "..." or (len(closing) >= len(opening) and not closing.strip("-")):
                return "\n".join(rest[number + 1 :])
    return text


def leaves(tokens: Iterable[Token]) -> Iterable[Token]:
    for token in tokens:
        if token.type in ("inline", "image"):
            yield from leaves(token.children or ())
        elif token.type in ("text", "text_special", "html_block"):
            yield token

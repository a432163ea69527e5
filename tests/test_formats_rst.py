from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corrector.apply import corrected_text
from corrector.formats.passages import correct_passages
from corrector.formats.rst import Rst
from corrector.types import Document
from tests.fakes import FakeCorrector

CORRECTOR = FakeCorrector({"散部": "散步", "高形": "高兴"})


def corrected(source: str) -> str:
    document = Document(None, source)
    return corrected_text(correct_passages(CORRECTOR, document, Rst().passages(document)))


@pytest.mark.parametrize(
    "source",
    [
        "散部",
        "散\n部",
        "散\r\n部",
        "散部\n====\n",
        "- 一\n\n  散\n  部",
        "- 散\n  部\n- 散部",
        "12. 散\n    部",
        "#. 散部",
        "| 散部",
        "*散*\\ **部**",
        "散\\部",
        "`散部 <http://a.cn>`_",
        "`散部<b>`__",
        "词\n    散部",
        ":名: 散部",
        ".. note:: 散\n   部",
        ".. note::\n   :class: 散步\n\n   散部",
        ".. figure:: 散步.png\n   :alt: 散步\n\n   散部",
        ".. [1] 散\n   部",
        ".. admonition:: 散部\n\n   散部",
        ".. versionadded:: 3.2 散部",
        ".. function:: 散步(a)\n\n   散部",
        "+---+\n| 甲 | 散部 |\n+---+",
        "==== ====\n甲   散部\n==== ====",
        "::\n\n    散步\n\n散部",
        ".. 散步\n   散步\n\n散部",
        "* 项::\n\n      散步\n\n  散部",
        "\t散\n\t部",
    ],
)
def test_prose_is_corrected(source: str) -> None:
    assert corrected(source) == source.replace("部", "步")


@pytest.mark.parametrize(
    "source",
    [
        "散\n\n部",
        "散\n- 部",
        "- 散\n- 部",
        "散\n  部",
        "| 散\n| 部",
        "| 散 | 部 |",
        "``散部`` :ref:`散部` :py:func:`散部 <a>` `散部`_ `散部` |散部| [散部]_",
        "代码::\n\n    散部\n\n    散部",
        ".. code-block:: c\n   :caption: 散部\n\n   散部",
        ".. math:: 散部",
        ".. |散部| image:: 散部.png",
        ".. _散部: 散部",
        ".. 散部\n   散部\n\n   散部",
        ".. include:: 散部.rst",
        ".. admonition:: 散\n   部",
        ".. figure:: 散部",
        ".. versionadded:: 散部",
        ".. note::\n   :name: 散部\n   :class: 散部",
        ">>> print('散部')\n散部",
        ":作者: 散部\n    散部\n:散部: 好",
    ],
)
def test_what_is_no_prose_stays_and_what_is_apart_is_read_apart(source: str) -> None:
    assert corrected(source) == source


def test_a_title_that_is_referred_to_by_its_text_stays() -> None:
    for reference in ("`散部`_", ":ref:`散部`", ":ref:`见 <散部>`"):
        source = f"散部\n====\n\n见 {reference}，散部\n\n散部乙\n======"
        assert corrected(source) == source.replace("，散部", "，散步").replace("散部乙", "散步乙")


def test_a_sentence_is_read_as_it_is_shown() -> None:
    source = "如 *图* 一、**图**\\ 二，\n和 ``x`` 、\\*、`页 <a>`_ 。\nabc\ndef"
    (passage,) = Rst().passages(Document(None, source))
    assert passage.text == "如 图 一、图二，和 ``x`` 、*、页 。 abc def"


PIECES = ["散部", "高形", "\n", "\n\n", "\r\n", "  ", "   ", "\t", "- ", "* ", "1. ", ".. ", ".. note:: ", ".. code:: ", "::", ":a: ", "`",
          "``", "`_", "|", "*", "**", "\\", "<a>", "====", "+--+", ">>> ", "[1]_", "_", "。", "a"]  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=30).map("".join))
@settings(max_examples=300, deadline=None)
def test_whatever_the_source_nothing_else_changes(source: str) -> None:
    after = corrected(source)
    assert after.replace("散步", "散部").replace("步", "部").replace("高兴", "高形").replace("兴", "形") == source
    assert corrected(after) == after


@pytest.mark.parametrize("piece", ["`", "``", ":a:`", "|", "*", "\\", "- ", "a\n", "  a\n", ".. ", "[a", "`a <", "=", "= ", ":"])
def test_what_repeats_is_read_in_linear_time(piece: str) -> None:
    """A quadratic reader would need hours."""
    assert isinstance(list(Rst().passages(Document(None, piece * 200_000 + "散部"))), list)

"""The report people read: like a compiler's, with the line and carets under what is wrong.

a.txt:1:11: 部 → 步  同音 (bù)  76 %
    周末我们打算去公园散部，顺便拍几张照片。
                        ^^
    or 布 3 %
"""

from __future__ import annotations

from typing import Any

import click

from corrector.render.columns import around, safe, width
from corrector.render.describe import alternatives, percent, reason
from corrector.render.findings import Finding, findings
from corrector.render.summary import Summary
from corrector.text.decode import STDIN
from corrector.types import CorrectedDocument

COLUMNS = 92
"""How wide a line is shown; with the indentation it fits into 96 columns."""

INDENT = " " * 4


def render_human(corrected: CorrectedDocument, before: Summary | None = None, color: bool = False) -> str:
    """The corrections and suggestions of one block, each with its line; suggestions end in ``?`` and stand over ``~``.

    ``before`` sums up the blocks of the same input that came earlier. Nothing of the input reaches a terminal as a control.
    """
    return "".join(
        render_place(corrected, finding, color)
        + render_finding(finding, color)
        + render_line(corrected, finding, color)
        for finding in findings(corrected, before)
    )


def render_place(corrected: CorrectedDocument, finding: Finding, color: bool) -> str:
    """``path:line:column: ``, as editors and terminals read it."""
    name = safe(corrected.document.path or STDIN)
    return f"{_styled(f'{name}:{finding.line}:{finding.column}:', color, bold=True)} "


def render_finding(finding: Finding, color: bool) -> str:
    """What becomes what, why, and how surely; one line."""
    correction = finding.correction
    original = _styled(safe(correction.original), color, fg="red" if finding.applied else "yellow")
    replacement = _styled(safe(correction.replacement), color, fg="green" if finding.applied else "yellow", bold=True)
    mark = "" if finding.applied else "?  suggestion"
    return f"{original} → {replacement}{mark}  {reason(correction)}  {percent(correction.confidence)}\n"


def render_line(corrected: CorrectedDocument, finding: Finding, color: bool, others: bool = True) -> str:
    """The line, the carets under the correction, and with ``others`` what else it could be."""
    text, span = corrected.document.text, finding.correction.span
    left, middle, right = around(text, span, finding.line_span, COLUMNS, finding.continued)
    style = {"fg": "red" if finding.applied else "yellow", "bold": True}
    carets = ("^" if finding.applied else "~") * max(1, width(middle))
    lines = [f"{left}{_styled(middle, color, **style)}{right}", " " * width(left) + _styled(carets, color, **style)]
    if others and (also := alternatives(finding.correction)):
        lines.append(_styled(f"or {also}", color, dim=True))
    return "".join(f"{INDENT}{line}\n" for line in lines)


def _styled(text: str, color: bool, **style: Any) -> str:
    return click.style(text, **style) if color else text

"""The report as a page for a browser: the lines with something in them, what becomes what, and why. It is one file and runs no script."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from itertools import groupby

from corrector.render.columns import CUT, safe
from corrector.render.describe import alternatives, percent, reason
from corrector.render.findings import Finding, findings
from corrector.render.summary import Summary, render_counts
from corrector.text.decode import STDIN
from corrector.types import CorrectedDocument, Span

AROUND = 60
"""Characters of a line that are shown on either side of what was found."""

_STYLE = """
:root { color-scheme: light dark; --wrong: #c62828; --right: #1b7f3b; --doubt: #9a6a00; --dim: #777; --edge: #8884 }
body { font: 16px/1.7 system-ui, sans-serif; max-width: 52rem; margin: 2rem auto; padding: 0 1rem }
h1 { font-size: 1.3rem } h2 { font-size: 1rem; margin: 2rem 0 .3rem; overflow-wrap: anywhere }
article { border-top: 1px solid var(--edge); padding: .6rem 0 }
p { margin: 0; overflow-wrap: anywhere } small, li { color: var(--dim); font-size: .85rem } ul { margin: 0; padding-left: 3.2rem }
p small { display: inline-block; min-width: 3.2rem }
del { color: var(--wrong) } ins { color: var(--right); text-decoration: none; font-weight: 600 }
mark { background: none; color: var(--doubt); text-decoration: underline wavy }
b { color: inherit; font-weight: 600 }
body:has(#doubts:not(:checked)) .doubt { display: none }
@media (prefers-color-scheme: dark) { :root { --wrong: #ff8a80; --right: #7ddc98; --doubt: #f0c060; --dim: #999 } }
@media print { label { display: none } }
"""

_HEAD = f"""<!DOCTYPE html>
<html lang="zh">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>electra-correct</title>
<style>{_STYLE}</style>
</head>
<body>
<h1>electra-correct</h1>
<label><input type="checkbox" id="doubts" checked> suggestions, too</label>
"""


def render_head() -> str:
    """What the page begins with."""
    return _HEAD


def render_title(path: str | None) -> str:
    """What the lines of a text stand under."""
    return f"<h2>{_shown(path or STDIN)}</h2>\n"


def render_lines(corrected: CorrectedDocument, before: Summary | None = None) -> str:
    """The lines of a block with something in them; ``before`` sums up the blocks of the same input that came earlier."""
    by_line = groupby(findings(corrected, before), lambda finding: finding.line)
    return "".join(_article(corrected.document.text, line, list(found)) for line, found in by_line)


def render_foot(totals: Summary) -> str:
    """What the page ends with: what it came to."""
    return f"<p><small>{escape(render_counts(totals))}</small></p>\n</body>\n</html>\n"


def _article(text: str, line: int, found: Sequence[Finding]) -> str:
    """One line, and what is to be said of it."""
    said = "".join(f"{_item(one)}\n" for one in found)
    kind = "" if any(one.applied for one in found) else ' class="doubt"'
    return f"<article{kind}>\n<p><small>{line}</small>{''.join(_marked(text, found))}</p>\n<ul>\n{said}</ul>\n</article>\n"


def _item(finding: Finding) -> str:
    correction = finding.correction
    change = f"<b>{_shown(correction.original)} → {_shown(correction.replacement)}</b>{'' if finding.applied else '?'}"
    also = f", or {escape(found)}" if (found := alternatives(correction)) else ""
    kind = "" if finding.applied else ' class="doubt"'
    return f"<li{kind}>{change} {escape(reason(correction))} {escape(percent(correction.confidence))}{also}</li>"


def _marked(text: str, found: Sequence[Finding]) -> Iterator[str]:
    """The line with its changes; what is far away from all of them is left out."""
    line = found[0].line_span
    done = line.start
    for number, finding in enumerate(found):
        span, correction = finding.correction.span, finding.correction
        if span.start < done:  # a suggestion within what was changed
            continue
        yield from _between(text, Span(done, span.start), begins=number == 0 and not finding.continued, ends=False)
        old, new = _shown(correction.original), _shown(correction.replacement)
        yield f"<del>{old}</del><ins>{new}</ins>" if finding.applied else f'<mark title="{new}?">{old}</mark>'
        done = span.end
    yield from _between(text, Span(done, line.end), begins=False, ends=True)


def _between(text: str, span: Span, begins: bool, ends: bool) -> Iterator[str]:
    """What stands between two changes, or with ``begins`` or ``ends`` one and the beginning or the end of the line."""
    if len(span) <= AROUND * (1 if begins or ends else 2):
        yield _shown(text[span.start : span.end])
        return
    if not begins:
        yield _shown(text[span.start : span.start + AROUND])
    yield CUT
    if not ends:
        yield _shown(text[span.end - AROUND : span.end])


def _shown(text: str) -> str:
    return escape(safe(text))

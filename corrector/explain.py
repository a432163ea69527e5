"""Why one sentence is, or is not, corrected: everything the stages see, as text.

For each window: how the model reads every character and how likely it takes it for replaced; then for each suspicion what
was proposed, every feature of the ranker with its share of the score, the check, and the decision.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from functools import partial
from typing import TYPE_CHECKING

from corrector.detect import is_correctable, probability
from corrector.edit_features import FEATURES
from corrector.edits import reason_of
from corrector.electra.marks import MARK_FACTORS
from corrector.known_forms import forms_in
from corrector.offers import OFFER_FEATURES
from corrector.pipeline import correction_of
from corrector.rank import CHECK_FEATURES
from corrector.render.columns import safe, width
from corrector.render.describe import REASONS, described, percent
from corrector.render.tables import View
from corrector.revision import Revision, least_reported
from corrector.text.ignore import ignored_spans
from corrector.text.protect import is_han
from corrector.text.spacing import ClosedUp
from corrector.types import CorrectedDocument, Correction, Document, Sentence, Span

if TYPE_CHECKING:
    from corrector.electra.runtime import Encoding, Floats
    from corrector.offer_options import Kind
    from corrector.offers import OfferChoice
    from corrector.pipeline import Choice, Corrector
    from corrector.stages import Considered, GroupChoice

LISTED, DETAILED = 12, 4  # proposals of a group by name, and with all their features
_BAR = 16  # columns of a whole bar
_PARTS = " ▏▎▍▌▋▊▉█"  # eighths of a column
_FITS = ("well", "fairly", "weakly", "hardly")
_AGAIN = "  (found when the corrected sentence was read again)"
_OFFERS: Mapping[Kind, str] = {"words": "Word", "swaps": "Order of", "phrases": "Phrase with"}
_WORDS = ((1, "ends a word of 2"), (2, "begins a word of 2"), (4, "in a word of 3"), (8, "in a word of 4"))


Decided = Mapping[Span, tuple[Correction, str]]
"""By place: what it becomes, as the text writes it and as sure as that is there, and whether that is corrected or suggested."""

Verdict = Callable[["Choice"], str]
"""What becomes of a choice, in words."""


def explain(corrector: Corrector, text: str, color: bool = False) -> str:
    """The whole explanation of a short text, several lines; long texts are explained window by window.

    Tables are aligned by display width. What it tells is the first reading; a corrected sentence is read again, and where
    that finds more or decides otherwise, the result at the end says so.
    """
    view = View(color)
    closed = ClosedUp.of(Document(None, text, protected=ignored_spans(text)), corrector.stages.in_words)
    document = closed.read
    revision = Revision(document, corrector.words, corrector.confusions, corrector.min_confidence)
    windows = list(revision.windows(corrector.stages.max_length))
    considered = [corrector.stages.considered([window])[0] for window in windows]
    decided = _decided(corrector, revision, windows, considered)
    ranker = corrector.stages.ranker
    sooner = ", or sooner if its mark speaks against it" if ranker.suspicion[3] else ""
    parts = [
        f"Model {safe(corrector.model_name)}: a character is suspicious from {_exact(ranker.look_threshold)}{sooner};"
        f" a correction is made from {_exact(corrector.min_confidence)}.\n"
    ]
    if closed.dropped:
        parts.append("\nIt is read, and its characters are counted, without what only keeps them apart.\n")
    if not windows:
        parts.append("\nThe models are not asked: no Han character of the text is left to them.\n")
    for number, (window, (groups, offers)) in enumerate(zip(windows, considered, strict=True), 1):
        verdict = partial(_decision, corrector, window, kept=corrector.found(window, groups, offers), decided=decided)
        name = f"Window {number} of {len(windows)}, characters " if len(windows) > 1 else "Characters "
        parts.append(view.title(f"{name}{window.span.start + 1} to {window.span.end}"))
        parts += _window(corrector, document.text, window, groups, view, verdict)
        parts += _offers(corrector, window, offers, view, verdict)
        parts += _forms(window, view, verdict)
        parts += _strays(corrector, revision, window, decided, view)
    parts.append(view.title("Result"))
    parts += _result(corrector, document, decided)
    return "".join(parts)


def _decided(
    corrector: Corrector, revision: Revision, windows: Sequence[Sentence], considered: Sequence[Considered]
) -> Decided:
    """What the first reading comes to; settles it in ``revision``."""
    for window, choices in zip(windows, considered, strict=True):
        revision.note(window, corrector.found(window, *choices))
    revision.settle()
    return {correction.span: (correction, how) for correction, how in _found(revision.result())}


def _window(
    corrector: Corrector, text: str, window: Sentence, choices: Sequence[GroupChoice], view: View, verdict: Verdict
) -> Iterator[str]:
    """The readings of one window of ``text`` and its suspicions."""
    stages = corrector.stages
    encoding = stages.tokenizer.encode(window.text)
    logits = stages.runtime.read([encoding])[0].logits
    suspicions = {s.span.start for s in stages.suspicions(window, encoding, logits)}
    yield _readings(corrector, text, window, encoding, logits, suspicions, view)
    if not suspicions:
        yield "No character is suspicious enough: nothing is proposed.\n"
    for choice in choices:
        first = min(edit.index for edit in choice.edits) + window.span.start
        last = max(edit.index + len(edit.original) for edit in choice.edits) + window.span.start
        suspicions -= set(range(first, last))
        original = window.text[first - window.span.start : last - window.span.start]
        where = f"character {first + 1}" if last - first == 1 else f"characters {first + 1} to {last}"
        yield view.title(f"Suspicion {safe(original)}, {where}")
        yield from _choice(corrector, choice, view)
        yield verdict(choice)
    for place in sorted(suspicions):
        yield f"Suspicion {safe(window.text[place - window.span.start])}, character {place + 1}: nothing likely enough can be proposed.\n"


def _readings(
    corrector: Corrector, text: str, window: Sentence, encoding: Encoding, logits: Floats, suspicions: Set[int], view: View
) -> str:
    """One row a character: its place, the token if it is another, whether it was replaced, and its marks."""
    stages = corrector.stages
    marked, tables = stages.tokenizer.marker is not None, stages.tokenizer.tables
    slips = tables is not None and tables.word_model is not None
    rows = []
    for index, char in enumerate(text[window.span.start : window.span.end]):
        token = int(encoding.token_of[index])
        name = stages.vocabulary[int(encoding.ids[token])]
        replaced = probability(float(logits[token]))
        marks = _marks(int(encoding.types[token]), stages.vocabulary, slips) if marked else ()
        note = _note(window, encoding, index)
        suspicious = window.span.start + index in suspicions
        shown = ("" if name == char else safe(name), _exact(replaced))
        bar = view.styled(_bar(replaced), fg="red" if suspicious else None, dim=not suspicious)
        place = str(window.span.start + index + 1)
        words = ", ".join(part for part in (note, *marks[:1]) if part)
        rows.append((place, _visible(char), *shown, bar, *marks[1:], words))
    head = ("", "", "token", "replaced", "", *(("left", "right", "fit", "alike", "marks") if marked else ("",)))
    return view.table(head, rows, "rllrl" + ("rrrll" if marked else "l"))


def _visible(char: str) -> str:
    """The character, or its number where it would not show by itself."""
    shown = safe(char)
    return shown if width(shown) else f"<U+{ord(char):04X}>"


def _note(window: Sentence, encoding: Encoding, index: int) -> str:
    """Why a character is never changed, whatever the discriminator thinks; '' when it may be."""
    if not is_han(window.text[index]):
        return "not Han"
    if not encoding.is_whole[index]:
        return "unknown to the model"
    return "" if is_correctable(window, index) else "protected"


def _marks(mark: int, vocabulary: Sequence[str], slips: bool = False) -> tuple[str, str, str, str, str]:
    """Words, how usual the pairs with the left and the right neighbour are (level of highest level), how the token fits between its
    neighbours (well, fairly, weakly or hardly, or by how much a look-alike fits better: 1 to 12; for marks that tell of ``slips``, how
    likely it is one), and the look-alike that fits best."""
    parts = []
    for factor in MARK_FACTORS:
        mark, part = divmod(mark, factor)
        parts.append(part)
    words = ", ".join(text for bit, text in _WORDS if parts[0] & bit)
    left, right = (f"{part}/{factor - 1}" for part, factor in zip(parts[1:3], MARK_FACTORS[1:3], strict=True))
    if slips:
        fit = f"slip {parts[3]}/{MARK_FACTORS[3] - 1}"
    else:
        fit = _FITS[parts[3]] if parts[3] < len(_FITS) else f"alike +{parts[3] - len(_FITS) + 1}"
    return words, left, right, fit, safe(vocabulary[mark]) if mark else ""


def _choice(corrector: Corrector, choice: GroupChoice, view: View) -> Iterator[str]:
    """The proposals of a group, their features and the check."""
    rows = []
    for rank, (edit, score) in enumerate(zip(choice.edits[:LISTED], choice.scores, strict=False)):
        confidence = "not checked" if rank else _exact(choice.confidence)
        change = (safe(edit.original), "→", safe(edit.replacement), REASONS[reason_of(edit)])
        rows.append((str(rank + 1), *change, f"{float(score):.2f}", confidence))
    yield view.table(("", "", "", "", "", "score", "confidence"), rows, "rllllrr")
    if len(choice.edits) > LISTED:
        yield f"  and {len(choice.edits) - LISTED} more\n"
    yield "\n" + _features(corrector, choice, view)


def _features(corrector: Corrector, choice: GroupChoice, view: View) -> str:
    """Every feature of the best proposals: its share of the score, then in brackets its value; weights at the left."""
    ranker = corrector.stages.ranker
    best = choice.edits[:DETAILED]
    rows = [
        (name, f"{ranker.weights[name]:+.3f}", *(_share(ranker.weights[name] * edit.features[row], edit.features[row]) for edit in best))
        for row, name in enumerate(FEATURES)
    ]
    rows.append(("= score", "", *(f"{float(score):+.2f}".ljust(7) + " " * 9 for score in choice.scores[: len(best)])))
    unchecked = [""] * (len(best) - 1)
    shares = ranker.check_shares(choice.check[None])[0]
    for column, name in enumerate(CHECK_FEATURES):
        bends = "".join(f", {weight:+.3f} above {knot:.2f}" for knot, weight in ranker.check_bends.get(name, ()))
        cell = _share(shares[column], choice.check[column])
        rows.append((f"check {name}", f"{ranker.check_weights[name]:+.3f}", cell, *unchecked, bends.removeprefix(", ")))
    rows.append(("= confidence, calibrated", "", _exact(choice.confidence) + " " * 10, *unchecked))
    head = ("feature", "weight", *(safe(f"{edit.original}→{edit.replacement}") for edit in best), "")
    return view.table(head, [(*row, "")[: len(head)] for row in rows], "lr" + "r" * len(best) + "l")


def _share(share: float, value: float) -> str:
    """``+1.23 (4.56)``, of one length, so that a column lines up."""
    share, value = (round(float(number), 2) + 0.0 for number in (share, value))  # + 0.0: no minus zero
    return f"{share:+.2f} {f'({value:.2f})':>8}"


def _offers(
    corrector: Corrector, window: Sentence, offers: Sequence[OfferChoice], view: View, verdict: Verdict
) -> Iterator[str]:
    """What may be meant whatever the networks think of it."""
    for choice in offers:
        weights, first = corrector.stages.ranker.offers[choice.kind].check, choice.index + window.span.start
        last = first + len(choice.original)
        where = f"characters {first + 1} to {last}" if last - first > 1 else f"character {last}"
        yield view.title(f"{_OFFERS[choice.kind]} {safe(choice.original)}, {where}")
        yield f"{safe(choice.original)} → {safe(choice.replacement)} {REASONS[choice.reason]}\n\n"
        shares = zip(OFFER_FEATURES, choice.features.tolist(), strict=True)
        rows = [(name, f"{weights[name]:+.3f}", _share(weights[name] * value, value)) for name, value in shares]
        rows.append(("= confidence", "", _exact(choice.confidence) + " " * 10))
        yield view.table(("feature", "weight", safe(f"{choice.original}→{choice.replacement}")), rows, "lrr")
        yield verdict(choice)


def _forms(window: Sentence, view: View, verdict: Verdict) -> Iterator[str]:
    """The known forms that are wrong as a whole."""
    for form in forms_in(window):
        first = form.index + window.span.start
        yield view.title(f"Known form {safe(form.original)}, characters {first + 1} to {first + len(form.original)}")
        yield f"{safe(form.original)} → {safe(form.replacement)}: part of a misspelling that is wrong wherever it stands\n"
        yield verdict(form)


def _strays(corrector: Corrector, revision: Revision, window: Sentence, decided: Decided, view: View) -> Iterator[str]:
    """The characters of the other script than their surroundings."""
    for stray in revision.strays_in(window):
        yield view.title(f"Stray {safe(stray.original)}, character {stray.span.start + 1}")
        yield f"{safe(stray.original)} → {safe(stray.replacement)}: no text in the script of its surroundings has it\n"
        made = _made(corrector, stray.confidence, ", as it may be part of a name or what an old book has")
        yield _line(stray, stray.confidence, made if stray.span in decided else "gives way to a surer one")


def _decision(corrector: Corrector, window: Sentence, choice: Choice, kept: Sequence[Correction], decided: Decided) -> str:
    """What becomes of a choice, given those of its window that are ``kept``."""
    correction = correction_of(window, choice)
    least = least_reported(corrector.min_confidence)
    if choice.confidence < least:
        verdict = f"is not reported: below {_exact(least)}"
    elif correction not in kept:
        verdict = "gives way to a surer one"
    elif correction.span not in decided:
        verdict = "is not made: the text writes both alike, or this is usual in Traditional text, older literature or Cantonese"
    else:
        decision = decided[correction.span][0]
        elsewhere = f" ({_exact(choice.confidence)} in today's Chinese)" if decision.confidence < correction.confidence else ""
        return _line(correction, decision.confidence, _made(corrector, decision.confidence), elsewhere)
    return _line(correction, choice.confidence, verdict)


def _made(corrector: Corrector, confidence: float, doubt: str = "") -> str:
    """What becomes of what is reported; ``doubt`` says why it is not sure enough."""
    limit = _exact(corrector.min_confidence)
    return f"is corrected: at least {limit}" if confidence >= corrector.min_confidence else f"is only suggested{doubt}: below {limit}"


def _line(correction: Correction, confidence: float, verdict: str, elsewhere: str = "") -> str:
    return f"Decision: {safe(correction.original)} → {safe(correction.replacement)}, {_exact(confidence)}{elsewhere}, {verdict}.\n"


def _found(corrected: CorrectedDocument) -> list[tuple[Correction, str]]:
    """Everything found in a text in order, and whether it is corrected or suggested."""
    found = [*((c, "corrected") for c in corrected.corrections), *((c, "suggested") for c in corrected.suggestions)]
    return sorted(found, key=lambda pair: pair[0].span)


def _result(corrector: Corrector, document: Document, decided: Decided) -> Iterator[str]:
    """What the corrector itself makes of the text, and whether the first reading had not come to it."""
    corrected = corrector.correct_document(document)
    found = _found(corrected)
    for correction, how in found:
        first = decided.get(correction.span)
        again = "" if first and (first[0].replacement, first[1]) == (correction.replacement, how) else _AGAIN
        yield f"  {described(correction)}  {how}, character {correction.span.start + 1}{again}\n"
    if not found:
        yield "  The text stays as it is.\n"
    if corrected.unprocessed:
        yield f"  {corrected.unprocessed} of the windows could not be processed.\n"


def _bar(value: float) -> str:
    """A bar of up to ``_BAR`` columns, exact to an eighth of a column; none for less than half of that."""
    eighths = round(min(1.0, max(0.0, value)) * _BAR * 8)
    return "█" * (eighths // 8) + (_PARTS[eighths % 8] if eighths % 8 else "")


def _exact(value: float) -> str:
    """A probability with one decimal."""
    return f"{100 * value:.1f} %" if value < 1 else percent(value)

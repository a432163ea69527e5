"""A correction in words: its reason with the pinyin, its probability, its alternatives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

from corrector.render.columns import safe
from corrector.types import Correction, RankedCandidate, Reason

REASONS: Mapping[Reason, str] = {
    "same_sound": "同音",
    "near_sound": "近音",
    "shape": "形近",
    "word": "词",
    "context": "语境",
    "order": "颠倒",
    "script": "繁简",
    "confusion": "混淆表",
}


def percent(probability: float) -> str:
    """A probability for people: ``98 %``; ``100 %`` and ``0 %`` only where it is exactly so.

    >>> [percent(p) for p in (1.0, 0.999, 0.984, 0.001, 0.0)]
    ['100 %', '> 99 %', '98 %', '< 1 %', '0 %']
    """
    shown = round(100 * float(probability))
    if shown == 100 and probability < 1:
        return "> 99 %"
    return "< 1 %" if shown == 0 and probability > 0 else f"{shown} %"


def reason(correction: Correction) -> str:
    """``同音 (quán lì)``, ``近音 (shān → shāng)`` where sounds differ, ``形近``: why it is right."""
    name = REASONS[correction.reason]
    sounds = pinyin_pair(correction.original, correction.replacement) if correction.reason.endswith("_sound") else None
    if sounds is None:
        return name
    old, new = sounds
    return f"{name} ({new})" if old == new else f"{name} ({old} → {new})"


def described(correction: Correction, is_made: bool = True) -> str:
    """One line without colour: ``权利 → 权力  同音 (quán lì)  98 %``; of what is only suggested, with a question mark."""
    doubt = "" if is_made else "?"
    change = f"{safe(correction.original)} → {safe(correction.replacement)}"
    return f"{change}  {reason(correction)}  {percent(correction.confidence)}{doubt}"


def other_candidates(correction: Correction) -> list[RankedCandidate]:
    """The alternatives that could stand in the same place and are not the correction itself."""
    length, chosen = len(correction.original), correction.replacement
    return [r for r in correction.alternatives if r.candidate.text != chosen and len(r.candidate.text) == length]


def alternatives(correction: Correction) -> str:
    """``布 3 %, 怖 1 %``; empty when there are none."""
    return ", ".join(f"{safe(r.candidate.text)} {percent(r.score)}" for r in other_candidates(correction))


def pinyin_pair(original: str, replacement: str) -> tuple[str, str] | None:
    """Both texts in pinyin, each character with the readings most alike; None where one has none or lengths differ."""
    from pypinyin.contrib.tone_convert import to_tone

    if len(original) != len(replacement):
        return None
    pairs = [
        _nearest(a, b, options) for a, b, options in zip(original, replacement, _readings(replacement), strict=True)
    ]
    known = [pair for pair in pairs if pair is not None]
    if not known or len(known) < len(pairs):
        return None
    old, new = (" ".join(to_tone(syllable) for syllable in syllables) for syllables in zip(*known, strict=True))
    return old, new


def _readings(text: str) -> list[Sequence[str]]:
    """The readings of each character: as pypinyin reads it in a word, all of them where it stands alone."""
    from pypinyin import Style, lazy_pinyin

    from corrector.similarity.pinyin import readings

    if len(text) == 1:
        return [readings(text)]
    in_context = lazy_pinyin(
        text, style=Style.TONE3, neutral_tone_with_five=True, errors=lambda rest: ["" for _ in rest]
    )
    return [(syllable,) if syllable else readings(char) for char, syllable in zip(text, in_context, strict=True)]


def _nearest(original: str, replacement: str, options: Sequence[str]) -> tuple[str, str] | None:
    """The pair of readings most alike; the more usual ones among equals."""
    from corrector.similarity.pinyin import pinyin_similarity, readings

    if original == replacement:
        return (options[0], options[0]) if options else None
    pairs = list(product(readings(original), options))
    return max(pairs, key=lambda pair: pinyin_similarity(original, replacement, pair[:1], pair[1:]), default=None)

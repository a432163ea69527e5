"""What a document says of the language of a text."""

from __future__ import annotations


def is_not_chinese(language: str) -> bool:
    """Whether a language tag (BCP 47) names another language that is written with Han characters: Japanese or Korean.

    Any other tag says nothing: many pages in Chinese are said to be English.
    """
    return language.lower().partition("-")[0] in ("ja", "ko")

"""Builds ``glyph_table.npz`` from character decompositions and rendered fonts. Needs Pillow.

    python -m corrector.similarity.build_glyph --ids ids.txt FONT[:INDEX] [FONT[:INDEX] ...]

For characters a and b, with `I` the cosine of their component features (`ids.Decomposition.features`, scaled by how rare a
component is, tf-idf) and `R` the mean over fonts of the correlation of their blurred 24×24 images (as printed, or
stretched to one size, whichever is more alike),

    similarity = 1 - (1 - √I) (1 - max(0, (R - 0.45) / 0.55))

so that either a shared component (龙, 陇) or a like outline (人, 入) makes them similar. Only the nearest of each character
are kept, each pair once; other pairs score 0.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from corrector.similarity.glyph import STEPS, TABLE_PATH
from corrector.similarity.ids import Decomposition
from corrector.similarity.pinyin import common_characters, readings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from PIL import Image

_IMAGE_SIZE, _CANVAS_SIZE, _BLUR_PIXELS = 24, 32, 1.2
_MAX_STRETCH = 1.6
# Below this correlation two glyphs merely are both Han: 99.5 % of all pairs lie below.
_UNLIKE_CORRELATION = 0.45
# A common character keeps so many common ones; another one so many common ones and as many of all.
_KEPT, _KEPT_BY_OTHER = 64, 10
_MIN_SIMILARITY = 0.12
_BLOCK_ROWS = 256

_SIMPLIFIED_PARTS = frozenset("讠钅饣纟车贝见门马鸟鱼页风长韦齿龙麦黾东乐仑仓尧戋䜣呙")


def chosen_characters(decomposition: Decomposition) -> tuple[str, int]:
    """The common characters of the pinyin table, then others; how many are common.

    The others are the traditional characters of Big5 and, in the basic block, those with a simplified part, which
    between them hold nearly all of the standard list of 2013 that GB 2312 lacks.
    """
    common = common_characters()
    cells = (bytes((row, cell)) for row in range(0xA4, 0xFA) for cell in (*range(0x40, 0x7F), *range(0xA1, 0xFF)))
    other = {cell.decode("big5", "ignore") for cell in cells}
    other |= {c for c in map(chr, range(0x4E00, 0xA000)) if _SIMPLIFIED_PARTS.intersection(decomposition.tree(c))}
    other = {c for c in other if "\u4e00" <= c <= "\u9fff" and readings(c)}
    return common + "".join(sorted(other - set(common))), len(common)


def feature_postings(
    characters: str, decomposition: Decomposition
) -> tuple[list[dict[str, float]], dict[str, tuple[NDArray[np.int64], NDArray[np.float32]]]]:
    """Each character's features as a unit vector, and for each feature the rows that have it with their values."""
    import numpy as np

    counted = [decomposition.features(c) for c in characters]
    occurrences = Counter(name for features in counted for name in features)
    vectors: list[dict[str, float]] = []
    for features in counted:
        scaled = {name: v * math.log(1 + len(characters) / occurrences[name]) for name, v in features.items()}
        norm = math.sqrt(sum(v * v for v in scaled.values()))
        vectors.append({name: v / norm for name, v in scaled.items()})
    rows: dict[str, list[tuple[int, float]]] = {}
    for row, vector in enumerate(vectors):
        for name, value in vector.items():
            rows.setdefault(name, []).append((row, value))
    return vectors, {
        name: (np.array([r for r, _ in pairs]), np.array([v for _, v in pairs], dtype=np.float32))
        for name, pairs in rows.items()
    }


def render(characters: str, font: str, max_stretch: float = 1.0) -> NDArray[np.float32]:
    """Blurred images less their mean, as unit vectors: (characters, pixels); zeros where the font has no glyph.

    The ink is stretched towards the full square, each axis by ``max_stretch`` at most, so that 日 and 曰 can meet.
    """
    import numpy as np
    from PIL import Image, ImageDraw, ImageFilter, ImageFont

    path, _, index = font.partition(":")
    face = ImageFont.truetype(path, _CANVAS_SIZE - 2, index=int(index or 0))

    def draw(character: str) -> NDArray[np.float32]:
        image = Image.new("L", (_CANVAS_SIZE, _CANVAS_SIZE))
        centre = (_CANVAS_SIZE / 2, _CANVAS_SIZE / 2)
        ImageDraw.Draw(image).text(centre, character, fill=255, font=face, anchor="mm")
        image = _stretch(image, max_stretch)
        blurred = image.filter(ImageFilter.GaussianBlur(_BLUR_PIXELS))
        return np.asarray(blurred.resize((_IMAGE_SIZE, _IMAGE_SIZE)), dtype=np.float32).ravel()

    missing = draw("\U0010fffd")
    images = np.stack([draw(c) for c in characters])
    present = (images != missing).any(axis=1) & images.any(axis=1)
    images[present] /= np.linalg.norm(images[present], axis=1, keepdims=True)
    images[present] -= images[present].mean(axis=0)
    images[present] /= np.linalg.norm(images[present], axis=1, keepdims=True)
    images[~present] = 0
    return images


def _stretch(image: Image.Image, max_stretch: float) -> Image.Image:
    from PIL import Image

    box = image.getbbox()
    if box is None or max_stretch == 1:
        return image
    width, height = (min(_CANVAS_SIZE - 2, round(max_stretch * (box[i + 2] - box[i]))) for i in (0, 1))
    stretched = Image.new("L", image.size)
    corner = ((_CANVAS_SIZE - width) // 2, (_CANVAS_SIZE - height) // 2)
    stretched.paste(image.crop(box).resize((width, height)), corner)
    return stretched


def outline_similarity(rows: slice, fonts: list[NDArray[np.float32]]) -> NDArray[np.float32]:
    """What the images say, 0..1: (rows, characters). The mean is over the fonts that have both characters."""
    import numpy as np

    correlation = np.zeros((len(fonts[0][rows]), len(fonts[0])), dtype=np.float32)
    both = np.zeros_like(correlation)
    for images in fonts:
        drawn = np.asarray(images.any(axis=1), dtype=np.float32)
        correlation += images[rows] @ images.T
        both += np.outer(drawn[rows], drawn)
    scaled = (correlation / np.maximum(both, 1) - _UNLIKE_CORRELATION) / (1 - _UNLIKE_CORRELATION)
    outline: NDArray[np.float32] = np.clip(scaled, 0, 1)
    return outline


def nearest_pairs(
    characters: str, common: int, decomposition: Decomposition, fonts: list[str]
) -> dict[tuple[int, int], int]:
    """(lower row, higher row) → similarity in `STEPS` of 1, for the nearest characters of each."""
    import numpy as np

    vectors, postings = feature_postings(characters, decomposition)
    printed, stretched = ([render(characters, font, by) for font in fonts] for by in (1.0, _MAX_STRETCH))
    pairs: dict[tuple[int, int], int] = {}
    for start in range(0, len(characters), _BLOCK_ROWS):
        block = slice(start, start + _BLOCK_ROWS)
        outlines = np.maximum(outline_similarity(block, printed), outline_similarity(block, stretched))
        for row, outline in enumerate(outlines, start):
            shared = np.zeros(len(characters), dtype=np.float32)
            for name, value in vectors[row].items():
                rows, values = postings[name]
                shared[rows] += value * values
            similarity = 1 - (1 - np.sqrt(np.clip(shared, 0, 1))) * (1 - outline)
            similarity[row] = 0
            order = np.argsort(-similarity, kind="stable")
            kept = order[order < common][:_KEPT] if row < common else _nearest_to_other(order, common)
            for other in kept[similarity[kept] >= _MIN_SIMILARITY].tolist():
                step = min(STEPS - 1, round(float(similarity[other]) * STEPS))
                pairs[min(row, other), max(row, other)] = step
    return pairs


def _nearest_to_other(order: NDArray[np.int64], common: int) -> NDArray[np.int64]:
    import numpy as np

    return np.union1d(order[order < common][:_KEPT_BY_OTHER], order[:_KEPT_BY_OTHER])


def build(ids: Path, fonts: list[str], path: Path = TABLE_PATH) -> tuple[int, int]:
    """Write the table; returns the numbers of characters and of pairs."""
    import numpy as np

    decomposition = Decomposition.read(ids)
    characters, common = chosen_characters(decomposition)
    pairs = nearest_pairs(characters, common, decomposition, fonts)
    ordered = sorted(pairs)
    lower, higher = (np.array([pair[i] for pair in ordered]) for i in (0, 1))
    gaps = np.diff(higher, prepend=0)
    first = np.diff(lower, prepend=-1) > 0
    gaps[first] = higher[first]
    np.savez_compressed(
        path,
        characters=np.array([ord(c) for c in characters], dtype=np.uint32),
        common=np.array(common),
        pairs_per_row=np.bincount(lower, minlength=len(characters)).astype(np.uint16),
        gaps=gaps.astype(np.uint16),
        steps=np.array([pairs[pair] for pair in ordered], dtype=np.uint8),
    )
    return len(characters), len(ordered)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m corrector.similarity.build_glyph", description="Build the table.")
    parser.add_argument("--ids", type=Path, required=True, help="decompositions: character, tab, IDS")
    parser.add_argument("fonts", nargs="+", metavar="FONT[:INDEX]", help="font files; INDEX within a collection")
    arguments = parser.parse_args()
    count, kept_pairs = build(arguments.ids, arguments.fonts)
    sys.stdout.write(f"{count} characters, {kept_pairs} pairs, {TABLE_PATH.stat().st_size} bytes\n")

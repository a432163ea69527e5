"""Labelled pairs of what a recogniser makes of text: every line is rendered, spoilt as scans are, and read again.

Needs Pillow, and rapidocr-onnxruntime (the networks of PP-OCRv4 are in it) or the program Tesseract.
"""

from __future__ import annotations

import io
import os
import random
import subprocess
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from corrector.errors import CorrectorError, InputError
from corrector.text.protect import is_han
from corrector.text.write import AtomicWriter

if TYPE_CHECKING:
    from PIL import Image

    from corrector.electra.runtime import Floats

Engine = Literal["rapidocr", "tesseract"]
Place = dict[str, float]
"""What a recogniser takes a place of a line for, with probabilities."""

PIECE = 30  # characters of a line rendered together
LEAST = 0.004  # probability of a character to be drawn
_RENDERED, _SPOILT = (28, 32, 36), 48  # pixels: sizes of the font, height of the image that is read
_MARGIN = 12


class RapidOcr:
    """The recogniser of PP-OCRv4 (mobile) as RapidOCR ships it, without its detector: an image is one line."""

    def __init__(self) -> None:
        from rapidocr_onnxruntime import RapidOCR

        self._recogniser = RapidOCR(intra_op_num_threads=1).text_rec
        self._classes: Sequence[str] = self._recogniser.postprocess_op.character

    def read(self, image: Image.Image) -> list[Place]:
        """The places of the line, decoded as CTC does: the likeliest class of every step, repeated ones and blanks left out."""
        pixels = self._recogniser.resize_norm_img(np.asarray(image.convert("RGB")), image.width / image.height)
        steps: Floats = self._recogniser.session(pixels[None])[0][0]
        best = steps.argmax(1)
        emitted = np.flatnonzero((best != 0) & (best != np.concatenate([[0], best[:-1]])))
        return [self._place(steps[step]) for step in emitted]

    def _place(self, chances: Floats) -> Place:
        likely = np.flatnonzero(chances > LEAST)
        return {self._classes[i]: float(chances[i] / (1 - chances[0])) for i in likely[likely != 0]}


class Tesseract:
    """The program of that name with its model of Simplified Chinese; it says one character for each place."""

    def read(self, image: Image.Image) -> list[Place]:
        """The places of the line. Raises CorrectorError where the program cannot be run."""
        from PIL import ImageOps

        page = io.BytesIO()
        ImageOps.expand(image, 20, 255).save(page, "PNG")
        command = ("tesseract", "-", "-", "-l", "chi_sim", "--psm", "7")
        try:
            alone = os.environ | {"OMP_THREAD_LIMIT": "1"}
            done = subprocess.run(command, input=page.getvalue(), capture_output=True, check=True, env=alone)
        except (OSError, subprocess.CalledProcessError) as error:
            raise CorrectorError(f"recognise: tesseract cannot be run ({error}); install it with its model chi_sim") from error
        return [{char: 1.0} for char in done.stdout.decode("utf-8", "replace") if not char.isspace()]


ENGINES: dict[Engine, Callable[[], RapidOcr | Tesseract]] = {"rapidocr": RapidOcr, "tesseract": Tesseract}


def scanned(text: str, font: Any, pixels: tuple[float, float], rng: random.Random) -> Image.Image:
    """A grey image of one line, as a scan with characters of ``pixels`` (least, most) in height would be: turned a little, blurred, with
    noise, and compressed."""
    from PIL import Image, ImageDraw, ImageFilter

    size = font.size
    image = Image.new("L", (int(font.getlength(text)) + 2 * _MARGIN, size + 2 * _MARGIN), 255)
    ImageDraw.Draw(image).text((_MARGIN, _MARGIN - 4), text, fill=rng.randint(0, 70), font=font)
    if rng.random() < 0.5:
        image = image.rotate(rng.uniform(-0.6, 0.6), fillcolor=255, resample=Image.Resampling.BICUBIC)
    scale = rng.uniform(*pixels) / size
    image = image.resize((max(8, int(image.width * scale)), max(8, int(image.height * scale))), Image.Resampling.BILINEAR)
    if rng.random() < 0.5:
        image = image.filter(ImageFilter.GaussianBlur(rng.uniform(0.2, 0.7)))
    noise = np.random.default_rng(rng.randrange(1 << 30)).normal(0, rng.uniform(0, 25), (image.height, image.width))
    image = Image.fromarray(np.clip(np.asarray(image) + noise, 0, 255).astype(np.uint8))
    compressed = io.BytesIO()
    image.save(compressed, "JPEG", quality=rng.randint(30, 90))
    image = Image.open(compressed)
    return image.resize((int(image.width * _SPOILT / image.height), _SPOILT), Image.Resampling.BICUBIC)


def aligned(text: str, read: str) -> tuple[int, list[tuple[int, int]]]:
    """The edit distance of two texts, and the places (in the one, in the other) that are the same or read as another."""
    rows, columns = len(text) + 1, len(read) + 1
    cost = np.zeros((rows, columns), dtype=np.int64)
    cost[:, 0], cost[0] = range(rows), range(columns)
    for i in range(1, rows):
        for j in range(1, columns):
            cost[i, j] = min(cost[i - 1, j - 1] + (text[i - 1] != read[j - 1]), cost[i - 1, j] + 1, cost[i, j - 1] + 1)
    found, i, j = [], rows - 1, columns - 1
    while i and j:
        if cost[i, j] == cost[i - 1, j - 1] + (text[i - 1] != read[j - 1]):
            i, j = i - 1, j - 1
            found.append((i, j))
        elif cost[i, j] == cost[i - 1, j] + 1:
            i -= 1
        else:
            j -= 1
    return int(cost[-1, -1]), found[::-1]


def misread(text: str, places: Sequence[Place], draws: int, lost: float, rng: random.Random) -> Iterator[str]:
    """The text with what a recogniser takes its Han characters for, where that is another one: the likeliest, or with ``draws`` so many
    times what is drawn. What is missing or too much in what was read is not: pairs are equally long. Nothing where a greater share than
    ``lost`` was read wrongly."""
    read = [max(place, key=lambda char: place[char], default="") for place in places]
    cost, found = aligned(text, "".join(one[:1] or " " for one in read))
    for _ in range(max(draws, 1) if cost <= lost * len(text) else 0):
        source = list(text)
        for i, j in found:
            char = read[j] if not draws or not places[j] else rng.choices(list(places[j]), list(places[j].values()))[0]
            if len(char) == 1 and is_han(char) and is_han(text[i]):
                source[i] = char
        yield "".join(source)


def recognise(
    lines: Iterable[str], fonts: Sequence[str], engine: Engine, pixels: tuple[float, float], draws: int, lost: float, seed: int, out: Path
) -> tuple[int, int]:
    """Write pairs of the lines, (as read, as they are), all or nothing; the same for a seed and the same engine, fonts and Pillow. Lines of
    which a piece is read worse than ``lost`` are left out. Returns how many Han characters there are, and how many are read as another.

    ``fonts`` are paths, with the number of a face after a colon where a file has several. Raises InputError for one that cannot be used.
    """
    faces = [_face(font, size) for font in fonts for size in _RENDERED]
    reader, rng, characters, wrong = ENGINES[engine](), random.Random(seed), 0, 0
    with AtomicWriter(out) as writer:
        for line in lines:
            text = line.strip()
            pieces = [text[start : start + PIECE] for start in range(0, len(text), PIECE)]
            read = [list(misread(one, reader.read(scanned(one, rng.choice(faces), pixels, rng)), draws, lost, rng)) for one in pieces]
            for source in map("".join, zip(*read, strict=True)) if all(read) else ():
                characters += sum(map(is_han, text))
                wrong += sum(a != b for a, b in zip(source, text, strict=True))
                writer.write(f"{source}\t{text}\n".encode())
    return characters, wrong


def _face(font: str, size: int) -> Any:
    from PIL import ImageFont

    path, _, index = font.partition(":")
    try:
        return ImageFont.truetype(path, size, index=int(index or 0))
    except (OSError, ValueError) as error:
        raise InputError(path, f"cannot be used as a font ({error}); give a TrueType or OpenType file, as FILE or FILE:NUMBER") from error

"""Errors made for the task, drawn in whole batches: people's typing slips, look-alikes, and input-method words.

Also says where the masked generator (ELECTRA, section 3.1) or the corrective head makes the errors, and how its samples are re-weighted
by sound and shape similarity in a share of the places: p(c) ∝ p_G(c | context) · (ε + sim(c, original))^α.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from corrector.train.noise_tables import NoiseTables

if TYPE_CHECKING:
    from corrector.train.config import NoiseConfig
    from corrector.train.observed import Observed

Ids = NDArray[np.int64]
_SIMILARITY_FLOOR = 0.02
_OBSERVED = 6  # the kind of error after the six that NoiseConfig weighs
_PUT_RIGHT = 0.3  # of the errors of a labelled row that gets made ones


@dataclass(frozen=True, eq=False)
class Noise:
    """Draws errors with a caller's random generator; keeps no state."""

    tables: NoiseTables
    config: NoiseConfig
    vocabulary_size: int
    mask_id: int
    observed: Observed | None = None  # what ``config.observed`` draws from

    def corrupt(self, original: Ids, rng: np.random.Generator) -> Ids:
        """(batch, length) → the same with errors and some [MASK] tokens in it. Only Han characters change."""
        t, c = self.tables, self.config
        rate = rng.choice(np.array(c.rates), size=len(original))
        kind = rng.random(len(original))
        rate[kind < c.clean_windows] = 0.0
        draw = rng.random(original.shape)
        if self.observed is not None:
            draw /= 1 - c.observed + c.observed * self.observed.proneness[original]
        draw[~t.is_han[original]] = np.inf
        chosen = draw < rate[:, None]
        single = (kind >= c.clean_windows) & (kind < c.clean_windows + c.single_windows)
        chosen[single] = False
        lowest = draw.argmin(1)
        chosen[single, lowest[single]] = np.isfinite(draw[single, lowest[single]])
        result = self.replace(original, np.flatnonzero(chosen), rng)
        masks = (rng.random(original.shape) < c.masked) & t.is_han[original]
        result[masks] = self.mask_id
        return result

    def corrupt_labelled(self, original: Ids, given: Ids, rng: np.random.Generator) -> Ids:
        """(rows, length) right and given → given; ``config.labelled`` of the rows get some errors put right and others made."""
        if not self.config.labelled:
            return given
        chosen = rng.random(len(given)) < self.config.labelled
        put_right = rng.random(given.shape) < _PUT_RIGHT
        changed = self.corrupt(np.where(put_right, original, given), rng)
        return np.where(chosen[:, None], changed, given)

    def replace(self, original: Ids, places: Ids, rng: np.random.Generator) -> Ids:
        """A copy with an error at each flat place (a word error also changes the character after it, and some errors a doubled one)."""
        t, c = self.tables, self.config
        flat = original.reshape(-1).copy()
        shares = np.array([c.same_sound, c.near_sound, c.shape, c.random, c.word, c.particles])
        kind = rng.choice(len(shares), size=len(places), p=shares / shares.sum())
        if self.observed is not None:
            proneness = c.observed * self.observed.proneness[flat[places]]
            kind[rng.random(len(places)) < proneness / (1 - c.observed + proneness)] = _OBSERVED
        for number, (table, p) in enumerate(
            ((t.same_sound, t.same_sound_p), (t.near_sound, t.near_sound_p), (t.shape, t.shape_p))
        ):
            self._from_table(flat, places[kind == number], table, p, rng)
        at = places[kind == 3]
        flat[at] = np.searchsorted(t.frequency_p, rng.random(len(at)) * t.frequency_p[-1])
        self._words(flat, original, places[kind == 4], rng)
        at = places[kind == 5]
        swappable = t.particles_p[flat[at], -1] > 0
        self._from_table(flat, at[swappable], t.particles, t.particles_p, rng)
        self._from_table(flat, at[~swappable], t.same_sound, t.same_sound_p, rng)
        if self.observed is not None:
            at = places[kind == _OBSERVED]
            seen = self.observed.replacements_p[flat[at], -1] > 0
            self._from_table(flat, at[~seen], t.same_sound, t.same_sound_p, rng)
            self._from_table(flat, at[seen], self.observed.replacements, self.observed.replacements_p, rng)
        if c.doubled:
            self._double(flat, original, places[rng.random(len(places)) < c.doubled])
        return flat.reshape(original.shape)

    def _from_table(self, flat: Ids, places: Ids, table: Any, p: Any, rng: np.random.Generator) -> None:
        ids = flat[places]
        column = (p[ids] < rng.random(len(ids))[:, None] * p[ids, -1:]).sum(1)
        known = p[ids, -1] > 0
        flat[places] = np.where(known, table[ids, column], ids)

    def _words(self, flat: Ids, original: Ids, places: Ids, rng: np.random.Generator) -> None:
        """Replace the two-character word at each place; where there is none with a homophone, one same-sounding character."""
        t = self.tables
        length = original.shape[1]
        source = original.reshape(-1)
        places = places[places % length < length - 1]
        key = source[places].astype(np.uint64) * np.uint64(self.vocabulary_size) + source[places + 1].astype(np.uint64)
        row = np.minimum(np.searchsorted(t.word_keys, key), len(t.word_keys) - 1)
        known = t.word_keys[row] == key
        self._from_table(flat, places[~known], t.same_sound, t.same_sound_p, rng)
        row, at = row[known], places[known]
        column = (t.word_p[row] < rng.random(len(row))[:, None]).sum(1)
        column = np.minimum(column, t.word_alternatives.shape[1] - 1)
        flat[at] = t.word_alternatives[row, column, 0]
        flat[at + 1] = t.word_alternatives[row, column, 1]

    def _double(self, flat: Ids, original: Ids, places: Ids) -> None:
        """Make the error at each place also at the same character right after or before it."""
        source, length = original.reshape(-1), original.shape[1]
        for step in (1, -1):
            at = places[(places % length + step >= 0) & (places % length + step < length)]
            at = at[(source[at + step] == source[at]) & (flat[at] != source[at])]
            flat[at + step] = flat[at]

    def mask_for_generator(self, original: Ids, rng: np.random.Generator) -> tuple[Ids, Ids]:
        """Windows with [MASK] at a fixed number of places, and these flat places: (batch, length), (places,)."""
        count = round(self.config.generator_masked * original.size)
        draw = rng.random(original.size)
        draw[~self.tables.is_han[original].reshape(-1)] += 1.0
        places = np.sort(np.argpartition(draw, count)[:count])
        masked = original.reshape(-1).copy()
        masked[places] = self.mask_id
        return masked.reshape(original.shape), places

    def similarity_bias(self, original: Ids, rng: np.random.Generator) -> NDArray[np.float32]:
        """Log-weights (n, vocabulary) to add to the generator's logits when sampling; zeros for the plain share."""
        similarity = self.tables.similarity[original].astype(np.float32) / 255
        bias = self.config.similarity_power * np.log(_SIMILARITY_FLOOR + similarity)
        bias[rng.random(len(original)) >= self.config.generator_similarity] = 0.0
        bias[:, ~self.tables.is_han] = -1e4  # an error is always a Han character
        return bias.astype(np.float32)

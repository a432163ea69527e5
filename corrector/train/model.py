"""The network that is trained: one ELECTRA encoder with two heads, and the small masked generator that makes its errors.

Post-LN BERT layers as in Clark et al. 2020 (ELECTRA, section 3 and appendix A), written as softmax(QKᵀ)V without dropout so that
``torch.compile`` fuses it on a CPU. Parameter names map one to one onto transformers' (``transformers_names.py``), so what is
saved loads as ``ElectraForPreTraining`` and ``ElectraForMaskedLM``.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from corrector.electra.marks import MARK_FACTORS, PLAIN_MARKS

if TYPE_CHECKING:
    from corrector.train.config import ModelConfig


class Embeddings(nn.Module):
    """Characters + positions + marks, shared by the generator and the encoder (paper, section 3.2).

    A character's vector is its own row plus the rows of its features (``features.py``; (vocabulary, features) weights).
    A mark is a mixed-radix number (``marks.MARK_FACTORS``); each factor but the alternative has its own table here, and
    ``folded_types`` adds them up into the single token-type table of a plain ELECTRA.
    """

    features: Tensor

    def __init__(self, config: ModelConfig, features: Tensor) -> None:
        super().__init__()
        self.word = nn.Embedding(config.vocabulary_size, config.embedding_size)
        self.feature_rows = nn.Parameter(torch.randn(features.shape[1], config.embedding_size) * 0.02)
        self.register_buffer("features", features)
        self.position = nn.Embedding(config.max_positions, config.embedding_size)
        self.marks = nn.ModuleList(nn.Embedding(size, config.embedding_size) for size in MARK_FACTORS)
        self.norm = nn.LayerNorm(config.embedding_size, eps=config.layer_norm_eps)

    def table(self) -> Tensor:
        """Every character's vector: (vocabulary, embedding)."""
        return self.word.weight + self.features @ self.feature_rows

    def forward(self, ids: Tensor, types: Tensor, table: Tensor) -> Tensor:
        """(batch, length) ids and marks → (batch, length, embedding)."""
        positions = torch.arange(ids.shape[1], device=ids.device)
        total = F.embedding(ids, table) + self.position(positions)
        for table, size in zip(self.marks, MARK_FACTORS, strict=True):
            total = total + table(types % size)
            types = types // size
        out: Tensor = self.norm(total)
        return out

    def folded_types(self) -> Tensor:
        """The sum of the factor tables for every mark: (product of MARK_FACTORS, embedding)."""
        mark = torch.arange(math.prod(MARK_FACTORS))
        total = torch.zeros(len(mark), self.word.embedding_dim)
        for table, size in zip(self.marks, MARK_FACTORS, strict=True):
            total = total + table.weight.detach().float().cpu()[mark % size]
            mark = mark // size
        return total


def attend(projected: Tensor, heads: int, bias: Tensor | None = None) -> Tensor:
    """softmax(QKᵀ/√d + bias)V: queries, keys and values side by side (batch, length, 3·hidden) → (batch, length, hidden)."""
    batch, length, width = projected.shape
    size = width // 3 // heads
    q, k, v = projected.view(batch, length, 3, heads, size).permute(2, 0, 3, 1, 4)
    scores = q @ k.transpose(-1, -2) * size**-0.5  # (batch, heads, length, length)
    if bias is not None:
        scores = scores + bias
    return (scores.softmax(-1) @ v).transpose(1, 2).reshape(batch, length, width // 3)


class Layer(nn.Module):
    """One post-LN Transformer layer; query, key and value in one product."""

    def __init__(self, hidden: int, heads: int, intermediate: int, eps: float) -> None:
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(hidden, 3 * hidden)
        self.out = nn.Linear(hidden, hidden)
        self.norm1 = nn.LayerNorm(hidden, eps=eps)
        self.up = nn.Linear(hidden, intermediate)
        self.down = nn.Linear(intermediate, hidden)
        self.norm2 = nn.LayerNorm(hidden, eps=eps)

    def forward(self, x: Tensor, bias: Tensor | None) -> Tensor:
        """(batch, length, hidden) → the same; ``bias`` (batch, 1, 1, length) is added to the attention scores."""
        return self.after(x, attend(self.qkv(x), self.heads, bias))

    def after(self, x: Tensor, mixed: Tensor) -> Tensor:
        """The rest of the layer, given its input and what the attention made of it: both (batch, length, hidden)."""
        x = self.norm1(x + self.out(mixed))
        out: Tensor = self.norm2(x + self.down(F.gelu(self.up(x))))
        return out


class Encoder(nn.Module):
    """Projection from the embedding size, then the layers."""

    def __init__(self, embedding: int, hidden: int, layers: int, heads: int, units: int, eps: float) -> None:
        super().__init__()
        self.project = nn.Linear(embedding, hidden)
        self.layers = nn.ModuleList(Layer(hidden, heads, units, eps) for _ in range(layers))

    def forward(self, x: Tensor, bias: Tensor | None = None, beside: Tensor | None = None) -> Tensor:
        """(batch, length, embedding) → (batch, length, hidden); ``beside``, of that shape, is added to the projection."""
        x = self.project(x)
        if beside is not None:
            x = x + beside
        for layer in self.layers:
            x = layer(x, bias)
        return x


class CharacterHead(nn.Module):
    """The masked-language-model head: hidden → embedding → logits over the tied character table."""

    def __init__(self, hidden: int, config: ModelConfig) -> None:
        super().__init__()
        self.dense = nn.Linear(hidden, config.embedding_size)
        self.norm = nn.LayerNorm(config.embedding_size, eps=config.layer_norm_eps)
        self.bias = nn.Parameter(torch.zeros(config.vocabulary_size))

    def forward(self, hidden: Tensor, table: Tensor) -> Tensor:
        """(n, hidden) and the table (vocabulary, embedding) → (n, vocabulary)."""
        return F.linear(self.norm(F.gelu(self.dense(hidden))), table, self.bias)


class DetectionHead(nn.Module):
    """The discriminator's head: one logit a token that it was replaced (paper, equation 2)."""

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.dense = nn.Linear(hidden, hidden)
        self.prediction = nn.Linear(hidden, 1)

    def forward(self, hidden: Tensor) -> Tensor:
        """(batch, length, hidden) → (batch, length)."""
        out: Tensor = self.prediction(F.gelu(self.dense(hidden))).squeeze(-1)
        return out


class JointElectra(nn.Module):
    """Encoder with detection and corrective heads, and the masked generator that shares its embeddings."""

    def __init__(self, config: ModelConfig, features: Tensor) -> None:
        super().__init__()
        self.config = config
        eps = config.layer_norm_eps
        self.embeddings = Embeddings(config, features)
        self.encoder = Encoder(config.embedding_size, config.hidden_size, config.layers, config.heads, config.units, eps)
        self.alternative = nn.Linear(config.embedding_size, config.hidden_size, bias=False)
        self.detection = DetectionHead(config.hidden_size)
        self.correction = CharacterHead(config.hidden_size, config)
        self.generator = Encoder(
            config.embedding_size, config.generator_hidden, config.generator_layers, config.generator_heads,
            4 * config.generator_hidden, eps,
        )  # fmt: skip
        self.generator_head = CharacterHead(config.generator_hidden, config)
        self.apply(self._initialise)

    @staticmethod
    def _initialise(module: nn.Module) -> None:
        """Truncated normal, 0.02 (BERT, ELECTRA appendix A)."""
        if isinstance(module, nn.Linear | nn.Embedding):
            nn.init.trunc_normal_(module.weight, std=0.02, a=-0.04, b=0.04)
        if isinstance(module, nn.Linear) and module.bias is not None:
            nn.init.zeros_(module.bias)

    def encode(self, ids: Tensor, types: Tensor, mask: Tensor | None, table: Tensor) -> Tensor:
        """(batch, length) → (batch, length, hidden). ``mask`` is 1 for tokens, 0 for padding; None: no padding."""
        bias = None if mask is None else (1.0 - mask[:, None, None, :].float()) * -1e4
        hidden: Tensor = self.encoder(self.embeddings(ids, types, table), bias, self.alternatives(types, table))
        return hidden

    def alternatives(self, types: Tensor, table: Tensor) -> Tensor:
        """What the encoder is told of the alternative in each mark, 0 for none: (batch, length) → (batch, length, hidden)."""
        ids = types // PLAIN_MARKS
        told: Tensor = self.alternative(F.embedding(ids, table) * (ids > 0)[..., None])
        return told

    def forward(self, ids: Tensor, types: Tensor, mask: Tensor | None, positions: Tensor) -> tuple[Tensor, Tensor]:
        """Detection logits (batch, length) and corrective logits (n, vocabulary) at flat ``positions`` into batch × length."""
        table = self.embeddings.table()
        hidden = self.encode(ids, types, mask, table)
        chosen = hidden.reshape(-1, hidden.shape[-1])[positions]
        return self.detection(hidden), self.correction(chosen, table)

    def generate(self, ids: Tensor, positions: Tensor) -> Tensor:
        """The masked generator's logits (n, vocabulary) at flat ``positions``; it sees no marks."""
        table = self.embeddings.table()
        hidden = self.generator(self.embeddings(ids, torch.zeros_like(ids), table))
        chosen = hidden.reshape(-1, hidden.shape[-1])[positions]
        logits: Tensor = self.generator_head(chosen, table)
        return logits

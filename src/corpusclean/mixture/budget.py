"""Scaling laws: the tokens, parameters and compute of a training run that go together.

Compute is C = 6·N·D floating point operations for N parameters and D tokens, the usual
approximation; N counts all parameters, embeddings included. Every law here is a straight line, or
a chain of them, between log N and log D: D = scale · N^slope.

- `chinchilla_1` and `chinchilla_2`: Hoffmann et al. 2022 (arXiv:2203.15556), tables 3 and A3: the
  published rows, straight lines between them, the published exponents (.50/.50, .49/.51) beyond;
- `chinchilla_3`: the parametric loss of that paper, with its exponents before rounding;
- `besiroglu`: the corrected fit of that loss, Besiroglu et al. 2024 (arXiv:2404.10102);
- `ratio_20`: twenty tokens a parameter, the default.

The third approach is often computed with the paper's rounded constants (alpha .34, beta .28). They
give 93 tokens a parameter at 5.76e23 FLOPs, where the paper's own answer is a model of 40 billion
parameters (59 tokens each). `chinchilla_3` takes alpha .3392 and beta .2849, which give that
answer; the rounded fit stands beside it as `CHINCHILLA_3_ROUNDED`, to show the difference.
"""

import math
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

from corpusclean.errors import RecipeError
from corpusclean.mixture.quantities import parse_quantity

__all__ = [
    "BESIROGLU",
    "CHINCHILLA_3",
    "CHINCHILLA_3_ROUNDED",
    "DEFAULT_LAW",
    "LAWS",
    "Law",
    "LossFit",
    "budget_tokens",
    "effective_tokens",
    "flops",
]

TOKENS_PER_PARAMETER = 20
REPEAT_DECAY = 15.387756
"""R*_D of Muennighoff et al. 2023 (arXiv:2305.16264): repeats after which a token has faded."""


def flops(parameters: float, tokens: float) -> float:
    """Return the compute of training, 6·N·D, in floating point operations."""
    return 6.0 * parameters * tokens


@dataclass(frozen=True)
class LossFit:
    """A fit of the loss L(N, D) = E + A/N^alpha + B/D^beta."""

    e: float
    a: float
    b: float
    alpha: float
    beta: float

    def line(self) -> tuple[float, float]:
        """Return (scale, slope) of the D at which both terms of the loss fall equally fast.

        At the least loss for a given 6·N·D, alpha·A/N^alpha equals beta·B/D^beta.
        """
        scale = (self.beta * self.b / (self.alpha * self.a)) ** (1 / self.beta)
        return scale, self.alpha / self.beta


CHINCHILLA_3 = LossFit(1.6934, 406.4, 410.7, 0.3392, 0.2849)
CHINCHILLA_3_ROUNDED = LossFit(1.69, 406.4, 410.7, 0.34, 0.28)
BESIROGLU = LossFit(1.8172, 482.01, 2085.43, 0.3478, 0.3658)


@dataclass(frozen=True)
class Law:
    """A relation between parameters and tokens that is best for the compute.

    `lines` are (scale, slope) of D = scale · N^slope; line i holds up to `breaks[i]` parameters.
    """

    lines: tuple[tuple[float, float], ...]
    breaks: tuple[float, ...] = ()

    def tokens(self, parameters: float) -> float:
        """Return the tokens to train so many parameters on."""
        scale, slope = self.lines[bisect_right(self.breaks, parameters)]
        return float(scale * parameters**slope)

    def parameters(self, tokens: float) -> float:
        """Return the parameters that so many tokens are best for."""
        scale, slope = self.lines[bisect_right([self.tokens(n) for n in self.breaks], tokens)]
        return float((tokens / scale) ** (1 / slope))

    def at_flops(self, compute: float) -> tuple[float, float]:
        """Return (parameters, tokens) for a compute in floating point operations."""
        steps = [flops(n, self.tokens(n)) for n in self.breaks]
        scale, slope = self.lines[bisect_right(steps, compute)]
        parameters = float((compute / (6 * scale)) ** (1 / (1 + slope)))
        return parameters, compute / (6 * parameters)


def _through(rows: tuple[tuple[float, float], ...], slope_beyond: float) -> Law:
    """Return the law through (parameters, tokens) rows, with one slope beyond both ends."""
    (first_n, first_d), (last_n, last_d) = rows[0], rows[-1]
    lines = [(first_d / first_n**slope_beyond, slope_beyond)]
    for (n0, d0), (n1, d1) in pairwise(rows):
        slope = math.log(d1 / d0) / math.log(n1 / n0)
        lines.append((d0 / n0**slope, slope))
    lines.append((last_d / last_n**slope_beyond, slope_beyond))
    return Law(tuple(lines), tuple(n for n, _ in rows))


_TABLE_1 = (
    (400e6, 8.0e9),
    (1e9, 20.2e9),
    (10e9, 205.1e9),
    (67e9, 1.5e12),
    (175e9, 3.7e12),
    (280e9, 5.9e12),
    (520e9, 11.0e12),
    (1e12, 21.2e12),
    (10e12, 216.2e12),
)
_TABLE_2 = (
    (400e6, 7.7e9),
    (1e9, 20.0e9),
    (10e9, 219.5e9),
    (67e9, 1.7e12),
    (175e9, 4.3e12),
    (280e9, 7.1e12),
    (520e9, 13.4e12),
    (1e12, 26.5e12),
    (10e12, 292.0e12),
)

DEFAULT_LAW = "ratio_20"
LAWS: Mapping[str, Law] = {
    "chinchilla_1": _through(_TABLE_1, 0.50 / 0.50),
    "chinchilla_2": _through(_TABLE_2, 0.51 / 0.49),
    "chinchilla_3": Law((CHINCHILLA_3.line(),)),
    "besiroglu": Law((BESIROGLU.line(),)),
    "ratio_20": Law(((float(TOKENS_PER_PARAMETER), 1.0),)),
}
"""The laws by the names that `plan` shows."""


def budget_tokens(budget: Mapping[str, Any]) -> int:
    """Return the tokens to emit for a recipe's `budget` section.

    It holds one of `tokens`, `parameters` and `flops`, and with the last two perhaps
    `tokens_per_parameter` (20 if absent): D = ratio · N, or D = √(C · ratio / 6), rounded down.
    Raises RecipeError for anything else.
    """
    given = [name for name in ("tokens", "parameters", "flops") if budget.get(name) is not None]
    if len(given) != 1:
        found = ", ".join(given) or "none of them"
        raise RecipeError(f"budget: found {found}, expected one of tokens, parameters and flops")
    kind = given[0]
    amount = parse_quantity(budget[kind], f"budget.{kind}")
    if kind == "tokens":
        return amount
    ratio = _ratio(budget.get("tokens_per_parameter"))
    exact = ratio * amount if kind == "parameters" else Fraction(amount) * ratio / 6
    tokens = math.floor(exact) if kind == "parameters" else math.isqrt(math.floor(exact))
    if tokens == 0:
        raise RecipeError(f"budget.{kind}: {budget[kind]!r} is too little for a single token")
    return tokens


def _ratio(value: Any) -> Fraction:
    if value is None:
        return Fraction(TOKENS_PER_PARAMETER)
    try:
        ratio = Fraction(str(value))
    except (ValueError, ZeroDivisionError):
        ratio = Fraction(0)
    if ratio <= 0:
        raise RecipeError(
            f"budget.tokens_per_parameter: found {value!r}, expected a number above zero"
        )
    return ratio


def effective_tokens(unique: float, tokens: float) -> float:
    """Return how many new tokens are worth as much as `tokens` drawn from `unique` ones.

    Up to one epoch a token is new. A repeat is worth less, by the law of Muennighoff et al. 2023:
    U + U·R*·(1 - e^(-R/R*)) with R = tokens/unique - 1 and R* = 15.39; four epochs are almost as
    good as new, and no number of them is worth more than 16.39 times the unique tokens.
    """
    if tokens <= unique:
        return float(tokens)
    if unique <= 0:
        return 0.0
    repeats = tokens / unique - 1
    return unique * (1 - REPEAT_DECAY * math.expm1(-repeats / REPEAT_DECAY))

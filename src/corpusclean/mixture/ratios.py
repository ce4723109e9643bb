"""From target ratios, supply and budget to whole tokens a source.

A source may give at most floor(max_epochs · supply) tokens, its cap. Where the ratios ask for more
than a cap allows, one of three policies says what gives way:

- `fail`: nothing; the plan is an error;
- `shrink`: the budget, down to the largest at which the ratios hold and every cap too;
- `waterfill`: the ratios; a source that runs short gives its cap, and the others share what is
  missing in the proportion of their ratios, as often as needed.

Tokens are whole by the largest remainder (Hamilton), ties by name, so their sum is the budget
exactly. All arithmetic is exact: a ratio means the decimal number that is written in the recipe.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from corpusclean.errors import RecipeError, SupplyError

__all__ = ["MixturePlan", "Shortfall", "SourcePlan", "plan_mixture"]

Shortfall = Literal["fail", "shrink", "waterfill"]

_TOLERANCE = Fraction(1, 10**6)


@dataclass(frozen=True)
class SourcePlan:
    """What one source gives.

    `ratio` is its target share, `available` its supply, `wanted` its share of the budget that was
    asked for, `tokens` what it is planned to give; `epochs` is tokens / available, None without
    supply; `short` tells that its cap was below what was wanted.
    """

    ratio: float
    available: int
    wanted: int
    tokens: int
    epochs: float | None
    short: bool


@dataclass(frozen=True)
class MixturePlan:
    """What a mixture gives: `budget` tokens were asked for, `tokens` are planned.

    `sources` stand in the order of the ratios. `changes` says in words what the policy changed, a
    line each; it is empty if supply sufficed.
    """

    budget: int
    tokens: int
    shortfall: Shortfall
    sources: Mapping[str, SourcePlan]
    changes: tuple[str, ...]


def plan_mixture(
    supply: Mapping[str, int],
    ratios: Mapping[str, float],
    budget: int,
    max_epochs: float,
    shortfall: Shortfall = "fail",
) -> MixturePlan:
    """Plan how many tokens each source gives.

    `supply` is the tokens available, `ratios` the target shares, of the same sources; the shares
    sum to 1 within 1e-6 and are scaled to sum to it exactly. Raises SupplyError if `fail` meets a
    shortage, if `shrink` would leave nothing, or if `waterfill` finds too little in all sources
    together; RecipeError for arguments that cannot be.
    """
    shares = _shares(supply, ratios, budget)
    epochs = _exact(max_epochs, "mixture.max_epochs")
    if epochs <= 0:
        raise RecipeError(f"mixture.max_epochs: found {max_epochs}, expected a number above zero")
    caps = {name: int(epochs * supply[name]) for name in shares}
    short = {name for name, share in shares.items() if share * budget > caps[name]}
    total, tokens = budget, None
    if short and shortfall == "fail":
        raise SupplyError(_failure(shares, supply, caps, budget, max_epochs, short))
    if short and shortfall == "shrink":
        total = _largest_budget(shares, caps)
        if total == 0:
            raise SupplyError(_nothing_left(shares, caps, budget))
    elif short and shortfall == "waterfill":
        tokens = _waterfill(shares, caps, budget, max_epochs)
    elif shortfall not in ("fail", "shrink", "waterfill"):
        raise RecipeError(
            f"mixture.shortfall: found {shortfall!r}, expected fail, shrink or waterfill"
        )
    if tokens is None:
        tokens = _largest_remainder(shares, total)
    wanted = _largest_remainder(shares, budget)
    sources = {
        name: SourcePlan(
            ratio=float(share),
            available=supply[name],
            wanted=wanted[name],
            tokens=tokens[name],
            epochs=tokens[name] / supply[name] if supply[name] else None,
            short=name in short,
        )
        for name, share in shares.items()
    }
    return MixturePlan(budget, total, shortfall, sources, _changes(sources, budget, total))


def _exact(number: float, name: str) -> Fraction:
    try:
        return Fraction(str(number))
    except ValueError:
        raise RecipeError(f"{name}: found {number!r}, expected a finite number") from None


def _shares(
    supply: Mapping[str, int], ratios: Mapping[str, float], budget: int
) -> dict[str, Fraction]:
    """Return the exact ratios, scaled to sum to one."""
    if supply.keys() != ratios.keys():
        odd = ", ".join(sorted(supply.keys() ^ ratios.keys()))
        raise RecipeError(f"mixture: ratios and supply name different sources: {odd}")
    if budget < 1:
        raise RecipeError(f"budget: found {budget} tokens, expected at least one")
    exact = {name: _exact(ratio, f"sources.{name}.ratio") for name, ratio in ratios.items()}
    for name in exact:
        if exact[name] < 0 or supply[name] < 0:
            raise RecipeError(
                f"sources.{name}: found ratio {ratios[name]} and supply {supply[name]}, "
                "expected neither below zero"
            )
    total = sum(exact.values(), Fraction(0))
    if abs(total - 1) > _TOLERANCE:
        raise RecipeError(f"sources: the ratios sum to {float(total):g}, expected 1")
    return {name: share / total for name, share in exact.items()}


def _largest_remainder(shares: Mapping[str, Fraction], total: int) -> dict[str, int]:
    """Divide `total` by shares that sum to one; what floors leave goes to the largest remainders.

    Only sources with a remainder are rounded up, so a source never gets more than the whole number
    at or above its exact share.
    """
    tokens = {name: int(share * total) for name, share in shares.items()}
    remainder = {name: shares[name] * total - tokens[name] for name in shares}
    for name in sorted(shares, key=lambda n: (-remainder[n], n))[: total - sum(tokens.values())]:
        tokens[name] += 1
    return tokens


def _largest_budget(shares: Mapping[str, Fraction], caps: Mapping[str, int]) -> int:
    return min(int(caps[name] / share) for name, share in shares.items() if share)


def _waterfill(
    shares: Mapping[str, Fraction], caps: Mapping[str, int], budget: int, max_epochs: float
) -> dict[str, int]:
    """Give short sources their caps and share what is missing among the others."""
    reachable = sum(caps[name] for name, share in shares.items() if share)
    if reachable < budget:
        raise SupplyError(
            f"mixture: all sources together can give {reachable:,} tokens in {max_epochs:g} "
            f"epochs, the budget is {budget:,}; lower the budget to {reachable:,}, raise "
            "mixture.max_epochs, or add data"
        )
    full: dict[str, int] = {}
    open_shares = {name: share for name, share in shares.items() if share}
    while open_shares:
        left = budget - sum(full.values())
        level = left / sum(open_shares.values(), Fraction(0))
        reached = {n: caps[n] for n, share in open_shares.items() if share * level > caps[n]}
        if not reached:
            scaled = {name: share * level / left for name, share in open_shares.items() if left}
            shared = _largest_remainder(scaled, left)
            return {name: full.get(name, shared.get(name, 0)) for name in shares}
        full |= reached
        open_shares = {n: share for n, share in open_shares.items() if n not in reached}
    return {name: full.get(name, 0) for name in shares}


def _failure(
    shares: Mapping[str, Fraction],
    supply: Mapping[str, int],
    caps: Mapping[str, int],
    budget: int,
    max_epochs: float,
    short: set[str],
) -> str:
    lines = [
        f"source {name}: needed {-int(-shares[name] * budget // 1):,} tokens "
        f"({float(shares[name]):g} of the budget {budget:,}), found {supply[name]:,} available × "
        f"{max_epochs:g} epochs = {caps[name]:,}"
        for name in shares
        if name in short
    ]
    largest = _largest_budget(shares, caps)
    advice = [f"lower the budget to {largest:,} (shortfall: shrink does)"] if largest else []
    advice += ["let other sources fill in (shortfall: waterfill)", "lower the ratio"]
    advice += ["raise mixture.max_epochs", "add data"]
    return "; ".join(lines) + ". To go on: " + ", or ".join(advice)


def _nothing_left(shares: Mapping[str, Fraction], caps: Mapping[str, int], budget: int) -> str:
    empty = [n for n, share in shares.items() if share and int(caps[n] / share) == 0]
    return (
        f"source {', '.join(empty)}: found no tokens for its ratio, so the budget of {budget:,} "
        "tokens would shrink to none; take the source out of the recipe, or look in ledger.json "
        "for why its documents were dropped"
    )


def _changes(sources: Mapping[str, SourcePlan], budget: int, total: int) -> tuple[str, ...]:
    lines = [
        f"{name} is short: {plan.wanted:,} tokens wanted, {plan.tokens:,} planned"
        for name, plan in sources.items()
        if plan.short
    ]
    if total < budget:
        lines.append(f"the budget shrinks from {budget:,} to {total:,} tokens to keep the ratios")
    lines += [
        f"{name} fills in: {plan.wanted:,} tokens wanted, {plan.tokens:,} planned"
        for name, plan in sources.items()
        if plan.tokens > plan.wanted and not plan.short
    ]
    return tuple(lines) if any(plan.short for plan in sources.values()) else ()

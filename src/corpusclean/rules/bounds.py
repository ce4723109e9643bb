"""Rules that contradict each other: one drops all that is below a bound, another all above it."""

from collections.abc import Iterable
from dataclasses import dataclass

from corpusclean.rules.rule_sets import RuleSet

__all__ = ["contradictions"]


@dataclass(frozen=True, slots=True)
class _Bound:
    """A value beyond which a rule drops; `inclusive` if it drops that value too."""

    value: float
    inclusive: bool
    rule: str


def contradictions(rule_sets: Iterable[RuleSet]) -> list[str]:
    """Return a message for each signal of which the rules together keep no value."""
    lows: dict[str, _Bound] = {}
    highs: dict[str, _Bound] = {}
    for rule in (rule for rule_set in rule_sets for rule in rule_set.rules):
        for found in rule.comparisons:
            if not found.alone or found.operator in ("=", "<>"):
                continue
            said = f"{rule.reason} ({found.signal} {found.operator} {found.threshold:g})"
            bound = _Bound(found.threshold, found.operator in ("<=", ">="), said)
            if found.operator in ("<", "<="):
                lows[found.signal] = max(bound, lows.get(found.signal, bound), key=_as_low)
            else:
                highs[found.signal] = min(bound, highs.get(found.signal, bound), key=_as_high)
    return [
        f"{low.rule} and {highs[name].rule} leave no value of {name}: every document that has "
        "one is dropped"
        for name, low in lows.items()
        if name in highs and _nothing_between(low, highs[name])
    ]


def _as_low(bound: _Bound) -> tuple[float, bool]:
    return bound.value, bound.inclusive


def _as_high(bound: _Bound) -> tuple[float, bool]:
    return bound.value, not bound.inclusive


def _nothing_between(low: _Bound, high: _Bound) -> bool:
    if low.value == high.value:
        return low.inclusive or high.inclusive
    return low.value > high.value

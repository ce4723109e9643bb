"""Rule sets made ready: overrides applied, parameters put in, predicates checked."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from corpusclean.errors import RecipeError
from corpusclean.recipe.models import OFF
from corpusclean.recipe.problems import Problem, RecipeProblems, expected_one_of
from corpusclean.rules.predicates import Comparison, compile_predicate, substitute
from corpusclean.rules.rule_files import Scope, filter_folders, read_rule_set

__all__ = ["Rule", "RuleSet", "load_rule_set", "signal_kinds"]

_TEMPLATE = "blocklist_hits"
"""In the rule set `blocklist` the signal of whichever list it stands for."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A predicate on signals; a document for which it is true is dropped for the reason."""

    name: str
    reason: str
    predicate: str
    signals: tuple[str, ...]
    comparisons: tuple[Comparison, ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True)
class RuleSet:
    """A named list of rules in the order of the file; its repr says all that decisions need."""

    name: str
    source: str = field(repr=False)
    scope: Scope
    language: str | None = field(repr=False)
    interpretation: str | None = field(repr=False)
    parameters: Mapping[str, Any] = field(repr=False)
    rules: tuple[Rule, ...]
    path: str = field(default="", repr=False, compare=False)

    @property
    def signals(self) -> frozenset[str]:
        """The names of all signals that its rules look at."""
        return frozenset(name for rule in self.rules for name in rule.signals)


@functools.cache
def signal_kinds(blocklists: tuple[str, ...] = ()) -> dict[str, str]:
    """Return the kind of every signal by its name."""
    from corpusclean.signals import all_signals

    return {name: signal.kind for name, signal in all_signals(blocklists).items()}


def _blocklist_signal(name: str) -> str:
    from corpusclean.signals.blocklists import blocklist_signal

    return blocklist_signal(name).name


def load_rule_set(
    name: str,
    overrides: Mapping[str, str] | None = None,
    *,
    search: tuple[str, ...] | None = None,
    parameters: Mapping[str, Any] | None = None,
    signals: Mapping[str, str] | None = None,
    blocklist: str | None = None,
) -> RuleSet:
    """Load a rule set, with other predicates for some of its rules, or `off`.

    `search` are the folders to look in (the package's own if None), `parameters` replace those of
    the file, `signals` are the kinds of the known signals by name (all, if None), `blocklist` is
    the list that a rule set with `each: blocklist` stands for. Raises RecipeProblems, in which the
    keys of what is wrong with an override are (rule,).
    """
    file, document = read_rule_set(name, search if search is not None else filter_folders())
    overrides = overrides or {}
    known = (
        dict(signals) if signals is not None else signal_kinds((blocklist,) if blocklist else ())
    )
    values: dict[str, Any] = {f"${key}": value for key, value in file.parameters.items()}
    values |= {f"${key}": value for key, value in (parameters or {}).items()}
    if file.each and blocklist:
        values[_TEMPLATE] = _blocklist_signal(blocklist)
    elif file.each:
        known = {**known, _TEMPLATE: "integer"}
    problems = [
        Problem(f"rule set {name} has no such rule; {expected_one_of(rule, file.drop)}", (rule,))
        for rule in overrides
        if rule not in file.drop
    ]
    rules = []
    for rule, given in file.drop.items():
        text = overrides.get(rule, given)
        if text == OFF:
            continue
        try:
            checked = compile_predicate(substitute(text, values), known)
        except RecipeError as error:
            if rule in overrides:
                problems.append(Problem(str(error), (rule,)))
            else:
                problems.append(document.locate(Problem(str(error), ("drop", rule))))
            continue
        reason = f"{name}.{blocklist if file.each and blocklist else rule}"
        rules.append(Rule(rule, reason, checked.text, checked.signals, checked.comparisons))
    if problems:
        raise RecipeProblems(problems)
    return RuleSet(
        name=name,
        source=file.source,
        scope=file.scope,
        language=file.language,
        interpretation=file.interpretation,
        parameters={key: value for key, value in values.items() if key[0] == "$"},
        rules=tuple(rules),
        path=document.path,
    )

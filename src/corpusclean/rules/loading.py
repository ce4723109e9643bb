"""The rule sets of a source, in the order of decisions."""

from collections.abc import Iterable, Mapping
from typing import Any

from corpusclean.recipe.models import Blocklist, Languages, Overrides, Recipe
from corpusclean.recipe.problems import Keys, Problem, RecipeProblems
from corpusclean.rules.bounds import contradictions
from corpusclean.rules.rule_files import filter_folders
from corpusclean.rules.rule_sets import Rule, RuleSet, load_rule_set, signal_kinds

__all__ = [
    "Rule",
    "RuleSet",
    "load_rule_set",
    "override_problems",
    "rules_for_source",
    "source_rule_sets",
]

_SWITCHED = {"language": "languages", "blocklist": "blocklists"}
"""Rule sets that a section of the recipe switches on, and no list of filters."""


def override_problems(
    overrides: Mapping[str, Overrides], blocklists: Iterable[str], search: tuple[str, ...]
) -> list[Problem]:
    """Return what is wrong with a recipe's overrides, also of rule sets that no source lists."""
    problems = []
    signals = signal_kinds(tuple(blocklists))
    for name, rules in overrides.items():
        try:
            load_rule_set(name, rules, search=search, signals=signals)
        except RecipeProblems as error:
            problems += error.below(("filters", name))
    return problems


def rules_for_source(recipe: Recipe, source_name: str) -> tuple[RuleSet, ...]:
    """Return the rule sets of a source in the order of decisions.

    Rule sets as listed, then language, then blocklists. Raises RecipeProblems.
    """
    search = filter_folders(recipe.folder)
    source = recipe.sources[source_name]
    rule_sets, problems = source_rule_sets(
        source_name, source.rule_sets, source.languages, recipe.filters, recipe.blocklists, search
    )
    if problems:
        raise RecipeProblems(problems)
    return rule_sets


def source_rule_sets(
    source_name: str,
    listed: Mapping[str, Overrides],
    languages: Languages | None,
    overrides: Mapping[str, Overrides],
    blocklists: Mapping[str, Blocklist],
    search: tuple[str, ...],
) -> tuple[tuple[RuleSet, ...], list[Problem]]:
    """Return the rule sets of a source in the order of decisions, and what is wrong with them.

    `listed` are the rule sets of the source with its own overrides, `overrides` those of all
    sources, which give way.
    """
    loaded: list[RuleSet] = []
    problems: list[Problem] = []
    place: Keys = ("sources", source_name, "filters")

    def load(name: str, own: Overrides, keys: Keys, **options: Any) -> None:
        merged = {**overrides.get(name, {}), **own}
        try:
            rule_set = load_rule_set(name, merged, search=search, **options)
        except RecipeProblems as error:
            problems.extend(_placed(error.problems, name, own, keys))
            return
        if rule_set.scope != "document":
            said = f"rule set {name} cuts a {rule_set.scope} at a time, which this version cannot"
            problems.append(Problem(said, keys))
            return
        loaded.append(rule_set)

    names = tuple(blocklists)
    for number, (name, own) in enumerate(listed.items()):
        if name in _SWITCHED:
            said = f"rule set {name} is switched on by `{_SWITCHED[name]}:`; take it out here"
            problems.append(Problem(said, (*place, number)))
            continue
        load(name, own, (*place, number), signals=signal_kinds(names))
    if languages is not None:
        given = languages.model_dump(exclude_none=True)
        load("language", {}, ("sources", source_name, "languages"), parameters=given)
    for name, blocklist in blocklists.items():
        limit = {"max_hits": blocklist.max_hits}
        load("blocklist", {}, ("blocklists", name), parameters=limit, blocklist=name)
    problems += [Problem(said, place) for said in contradictions(loaded)]
    return tuple(loaded), problems


def _placed(problems: Iterable[Problem], name: str, own: Overrides, keys: Keys) -> list[Problem]:
    """Return problems of loading a rule set with the keys where the recipe has their cause."""
    placed = []
    for problem in problems:
        if problem.file:
            placed.append(problem)
        elif not problem.keys:
            placed.append(Problem(problem.message, keys))
        elif problem.keys[0] in own:
            placed.append(Problem(problem.message, (*keys, name, *problem.keys)))
        else:
            placed.append(Problem(problem.message, ("filters", name, *problem.keys)))
    return placed

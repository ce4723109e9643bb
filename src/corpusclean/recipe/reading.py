"""Reading a recipe's file: shape, values, rule sets; everything wrong is said at once."""

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

from corpusclean import files
from corpusclean.recipe.later import without_later
from corpusclean.recipe.models import Blocklist, Filters, Languages, Overrides, Recipe, Source
from corpusclean.recipe.problems import Keys, Problem, RecipeProblems, shown
from corpusclean.recipe.shape import fit
from corpusclean.recipe.values import is_blocklist_name
from corpusclean.recipe.yaml_file import Document, read_yaml

__all__ = ["read_recipe"]

_TOLERANCE = Fraction(1, 10**6)


def read_recipe(path: str) -> Recipe:
    """Read a recipe; RecipeProblems names everything that is wrong with it."""
    document = read_yaml(path)
    absolute = path if files.is_url(path) else str(Path(path).absolute())
    if not isinstance(document.data, Mapping):
        known = ", ".join(Recipe.model_fields)
        found = f"found {shown(document.data)}, expected a mapping with {known}"
        raise RecipeProblems([document.locate(Problem(found))])
    data, problems = without_later(document.data)
    later = [problem.keys for problem in problems]
    recipe, misfits = fit(Recipe, data)
    problems += [problem for problem in misfits if not _follows(problem, later)]
    problems += _across(
        data, absolute.rpartition("/")[0] if files.is_url(path) else str(Path(absolute).parent)
    )
    if problems:
        raise RecipeProblems(_in_order(problems, document))
    assert isinstance(recipe, Recipe)
    recipe._path = absolute
    return recipe


def _follows(problem: Problem, later: list[Keys]) -> bool:
    """Tell whether something is missing only because what stood for it is not there yet."""
    if not problem.message.startswith("missing"):
        return False
    return any(keys[: len(problem.keys) - 1] == problem.keys[:-1] for keys in later)


def _in_order(problems: list[Problem], document: Document) -> list[Problem]:
    located = [document.locate(problem) for problem in dict.fromkeys(problems)]
    return sorted(located, key=lambda p: (p.file != document.path, p.file or "", p.line or 0))


def _across(data: Mapping[str, Any], folder: str) -> list[Problem]:
    """Return what is wrong between entries, looking at those that fit by themselves."""
    sources = _each(Source, data.get("sources"))
    blocklists = _each(Blocklist, data.get("blocklists"))
    blocklists = {name: value for name, value in blocklists.items() if is_blocklist_name(name)}
    overrides, _ = fit(dict[str, Overrides], data.get("filters", {}))
    problems = []
    if sources and len(sources) == len(data["sources"]):
        problems += _ratio_problems(sources)
    return problems + _rule_problems(data.get("sources"), overrides or {}, blocklists, folder)


def _each(kind: Any, data: Any) -> dict[str, Any]:
    if not isinstance(data, Mapping):
        return {}
    fitted = {name: fit(kind, value)[0] for name, value in data.items()}
    return {name: value for name, value in fitted.items() if value is not None}


def _ratio_problems(sources: Mapping[str, Source]) -> list[Problem]:
    total = sum((Fraction(str(source.ratio)) for source in sources.values()), Fraction(0))
    if abs(total - 1) <= _TOLERANCE:
        return []
    each = ", ".join(f"{name} {source.ratio:g}" for name, source in sources.items())
    return [Problem(f"the ratios sum to {float(total):g} ({each}), expected 1", ("sources",))]


def _rule_problems(
    sources: Any,
    overrides: Mapping[str, Overrides],
    blocklists: Mapping[str, Blocklist],
    folder: str,
) -> list[Problem]:
    from corpusclean.rules.loading import override_problems, source_rule_sets
    from corpusclean.rules.rule_files import filter_folders

    search = filter_folders(folder)
    problems = override_problems(overrides, blocklists, search)
    for name, source in sources.items() if isinstance(sources, Mapping) else ():
        given = source if isinstance(source, Mapping) else {}
        # The filters of a source are looked at even if another of its entries does not fit.
        filters, _ = fit(Filters, given.get("filters") or ())
        languages, _ = fit(Languages, given["languages"]) if given.get("languages") else (None, [])
        listed = {rule_set: own for entry in filters or () for rule_set, own in entry.items()}
        _, found = source_rule_sets(name, listed, languages, overrides, blocklists, search)
        problems += found
    return problems

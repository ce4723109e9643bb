"""Checking a recipe without any work: its shape, its rule sets and the files it names."""

from pathlib import Path
from typing import Any

from corpusclean.cli.tables import table
from corpusclean.errors import RecipeError

__all__ = ["check", "show"]


def check(path: str | Path) -> dict[str, Any]:
    """Return `{"ok", "problems": [..], "warnings": [..], "sources": {NAME: {..}}}`.

    Of each source: `files`, `rule_sets` and `reasons` in the order of decisions. Warnings are of
    what is allowed but seldom meant. A recipe that cannot be read has problems and no sources.
    """
    from corpusclean.recipe import load_recipe
    from corpusclean.recipe.problems import RecipeProblems
    from corpusclean.stages.job import run_problems

    result: dict[str, Any] = {"ok": False, "problems": [], "warnings": [], "sources": {}}
    try:
        recipe = load_recipe(path)
    except RecipeProblems as error:
        result["problems"] = [str(problem) for problem in error.problems]
        return result
    except RecipeError as error:
        result["problems"] = [str(error)]
        return result
    result["problems"] = [f"{path}: {problem}" for problem in run_problems(recipe)]
    result["warnings"] = _warnings(recipe)
    result["sources"] = {name: _source(recipe, name) for name in recipe.sources}
    result["ok"] = not result["problems"]
    return result


def _source(recipe: Any, name: str) -> dict[str, Any]:
    from corpusclean.rules.loading import rules_for_source

    rule_sets = rules_for_source(recipe, name)
    return {
        "ratio": recipe.sources[name].ratio,
        "files": _count_files(recipe, name),
        "rule_sets": list(dict.fromkeys(rule_set.name for rule_set in rule_sets)),
        "reasons": [rule.reason for rule_set in rule_sets for rule in rule_set.rules],
    }


def _count_files(recipe: Any, name: str) -> int | None:
    from corpusclean import files
    from corpusclean.errors import InputError

    try:
        return len(files.expand(recipe.sources[name].inputs, recipe.folder))
    except (InputError, OSError, ValueError, ImportError):
        return None


def _warnings(recipe: Any) -> list[str]:
    from corpusclean.rules.loading import rules_for_source

    warnings = []
    listed = {name for source in recipe.sources.values() for name in source.rule_sets}
    for name, source in recipe.sources.items():
        kept = source.languages.keep if source.languages else ()
        for rule_set in rules_for_source(recipe, name):
            other = [code for code in kept if code != rule_set.language]
            if rule_set.language and (other or not kept):
                whose = ", ".join(other) if kept else "any language"
                warnings.append(
                    f"sources.{name}: rule set {rule_set.name} is made for {rule_set.language}, "
                    f"but the source keeps documents in {whose}"
                )
        if not source.ratio:
            warnings.append(f"sources.{name}: the ratio is 0, so none of it is emitted")
    for name in recipe.filters:
        if name not in listed and name not in ("language", "blocklist"):
            warnings.append(f"filters.{name}: no source lists this rule set")
    output = recipe.output
    if output.shard_tokens < output.sequence_length:
        warnings.append(
            f"output: a shard holds {output.shard_tokens:,} tokens, less than a sequence of "
            f"{output.sequence_length:,}"
        )
    return warnings


def show(result: dict[str, Any]) -> str:
    """Return the result of a check as text."""
    header = ["source", "ratio", "files", "rules", "rule sets"]
    rows = [
        [name, entry["ratio"], entry["files"], len(entry["reasons"]), ", ".join(entry["rule_sets"])]
        for name, entry in result["sources"].items()
    ]
    lines = [f"problem: {said}" for said in result["problems"]]
    lines += [f"warning: {said}" for said in result["warnings"]]
    if rows:
        lines.append(table(header, rows))
    lines.append("the recipe is in order" if result["ok"] else "the recipe cannot be run")
    return "\n".join(lines)

"""Planning: tokens, parameters and compute by every law, and what a recipe asks of its sources."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from corpusclean import files
from corpusclean.cli.tables import table
from corpusclean.errors import RecipeError, SupplyError
from corpusclean.mixture.budget import (
    CHINCHILLA_3_ROUNDED,
    DEFAULT_LAW,
    LAWS,
    Law,
    effective_tokens,
)
from corpusclean.mixture.budget import flops as compute_of
from corpusclean.mixture.quantities import format_quantity, parse_quantity
from corpusclean.mixture.ratios import MixturePlan, plan_mixture

__all__ = ["plan_training", "show"]

_GOOD_EPOCHS, _LAST_EPOCHS = 4, 16


def plan_training(
    recipe: Path | None,
    parameters: str | int | None = None,
    flops: str | int | None = None,
    tokens: str | int | None = None,
) -> dict[str, Any]:
    """Return the plan for one or two of parameters, compute and tokens, or for a recipe's budget.

    What is given on the command line stands in place of the recipe's budget. Of a recipe, the plan
    also says what each source is to give; how often its tokens repeat is known once a run of the
    recipe has counted them. Raises RecipeError if nothing is given, or all three.
    """
    loaded = None
    texts = {"parameters": parameters, "flops": flops, "tokens": tokens}
    given = {n: parse_quantity(t, f"--{n}") for n, t in texts.items() if t is not None}
    if recipe is not None:
        from corpusclean.recipe import load_recipe

        loaded = load_recipe(recipe)
        if not given:
            given = _budget(loaded)
    if not given or len(given) == 3:
        raise RecipeError(
            "plan: expected a recipe, or one or two of --parameters, --flops and --tokens; found "
            + ("all three" if given else "none of them")
        )
    plan = _size(given)
    plan["laws"] = {name: _by_law(law, given) for name, law in LAWS.items()}
    rounded = Law((CHINCHILLA_3_ROUNDED.line(),))
    plan["laws"]["chinchilla_3"]["with_rounded_constants"] = _by_law(rounded, given)
    plan |= {"sources": {}, "training": None, "supply": None, "warnings": []}
    if loaded is not None:
        _add_sources(plan, loaded)
    return plan


def _budget(recipe: Any) -> dict[str, int]:
    """Return what a recipe's budget fixes, by the names of the options."""
    budget = recipe.budget
    fixed = {"parameters": budget.parameters, "flops": budget.flops, "tokens": budget.tokens}
    given = {name: number for name, number in fixed.items() if number is not None}
    return given if budget.tokens_per_parameter is None else {**given, "tokens": budget.total}


def _size(given: Mapping[str, int]) -> dict[str, Any]:
    """Return parameters, tokens and compute: what is given, and the rest by 6·N·D = C."""
    n, d, c = (given.get(name) for name in ("parameters", "tokens", "flops"))
    law = DEFAULT_LAW if len(given) == 1 else None
    if len(given) == 1:
        by_default = _by_law(LAWS[DEFAULT_LAW], given)
        n, d = by_default["parameters"], by_default["tokens"]
    elif n is None:
        n = round((c or 0) / (6 * (d or 1)))
    elif d is None:
        d = round((c or 0) / (6 * n))
    assert n is not None and d is not None
    compute = float(c) if c is not None else compute_of(n, d)
    return {"law": law, "parameters": n, "tokens": d, "flops": compute}


def _by_law(law: Law, given: Mapping[str, int]) -> dict[str, Any]:
    """Return what a law says for the parameters if they are given, else the compute or tokens."""
    if "parameters" in given:
        pair = (float(given["parameters"]), law.tokens(given["parameters"]))
    elif "flops" in given:
        pair = law.at_flops(given["flops"])
    else:
        pair = (law.parameters(given["tokens"]), float(given["tokens"]))
    return {
        "parameters": round(pair[0]),
        "tokens": round(pair[1]),
        "tokens_per_parameter": pair[1] / pair[0],
    }


def _add_sources(plan: dict[str, Any], recipe: Any) -> None:
    """Add what each source gives, with epochs where an earlier run has counted its tokens."""
    ratios = {name: source.ratio for name, source in recipe.sources.items()}
    supply, path = _supply(recipe.output_directory, set(ratios))
    mixture = _without_shortage(ratios, plan["tokens"])
    if supply is not None:
        plan["supply"] = path
        policy = recipe.mixture
        try:
            mixture = plan_mixture(
                supply, ratios, plan["tokens"], policy.max_epochs, policy.shortfall
            )
            plan["warnings"] += mixture.changes
        except SupplyError as error:
            plan["warnings"].append(str(error))
    for name, source in mixture.sources.items():
        available = None if supply is None else supply[name]
        epochs = source.tokens / available if available else None
        effective = None if available is None else effective_tokens(available, source.tokens)
        plan["sources"][name] = {
            "ratio": source.ratio,
            "tokens": source.tokens,
            "available": available,
            "epochs": epochs,
            "effective_tokens": None if effective is None else round(effective),
        }
        if epochs is not None and epochs > _GOOD_EPOCHS:
            worth = "almost nothing" if epochs > _LAST_EPOCHS else "clearly less than new ones"
            plan["warnings"].append(f"{name}: {epochs:.1f} epochs; the last are worth {worth}")


def _without_shortage(ratios: Mapping[str, float], tokens: int) -> MixturePlan:
    return plan_mixture(dict.fromkeys(ratios, tokens), ratios, tokens, 1)


def _supply(directory: str, names: set[str]) -> tuple[dict[str, int] | None, str]:
    """Return the tokens that a finished run of the same sources had, and where that is written."""
    path = files.join(directory, "manifest.json")
    try:
        sources = json.loads(files.read_bytes(path))["sources"]
        supply = {name: int(source["tokens_available"]) for name, source in sources.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None, path
    return (supply if supply.keys() == names else None), path


def show(plan: dict[str, Any]) -> str:
    """Return a plan as text: the size, the laws side by side, the sources."""
    size = (
        f"{format_quantity(plan['parameters'])} parameters, "
        f"{format_quantity(plan['tokens'])} tokens, {plan['flops']:.4g} FLOPs"
    )
    by = "as given" if plan["law"] is None else f"by {plan['law']}, the default"
    parts = [f"Plan, {by}: {size}", _laws(plan["laws"])]
    if plan["sources"]:
        parts.append(_sources(plan))
    parts += [f"warning: {line}" for line in plan["warnings"]]
    return "\n\n".join(parts)


def _laws(laws: Mapping[str, Any]) -> str:
    rows = []
    for name, law in laws.items():
        rows.append([name, *_law_cells(law)])
        if "with_rounded_constants" in law:
            rows.append(["  its constants rounded", *_law_cells(law["with_rounded_constants"])])
    ratios = [law["tokens_per_parameter"] for law in laws.values()]
    spread = f"The laws span {min(ratios):.1f} to {max(ratios):.1f} tokens a parameter"
    header = ["law", "parameters", "tokens", "tokens a parameter"]
    return table(header, rows) + f"\n{spread}; {DEFAULT_LAW} is what a recipe's budget uses."


def _law_cells(law: Mapping[str, Any]) -> list[Any]:
    numbers = [format_quantity(law[name]) for name in ("parameters", "tokens")]
    return [*numbers, f"{law['tokens_per_parameter']:.1f}"]


def _sources(plan: Mapping[str, Any]) -> str:
    names = ("ratio", "tokens", "available", "epochs", "effective_tokens")
    rows = [[name, *(source[n] for n in names)] for name, source in plan["sources"].items()]
    header = ["source", "ratio", "tokens", "available", "epochs", "worth in new tokens"]
    known = "Tokens available as counted in " + str(plan["supply"])
    return table(header, rows) + "\n" + (known if plan["supply"] else "Epochs are not known yet.")

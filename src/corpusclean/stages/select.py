"""The second stage: measured parts to verdicts. Reads columns, never text.

Decisions fall in the order of the design: rule sets, language, blocklists, records read twice,
exact duplicates, near duplicates, contamination. A document takes part in a step only if every
earlier one kept it.
"""

from typing import Any

import duckdb
import numpy as np

from corpusclean.contamination import VERSION as CONTAMINATION_VERSION
from corpusclean.dedup import VERSION as DEDUP_VERSION
from corpusclean.engine.receipts import fingerprint
from corpusclean.engine.results import StageResult
from corpusclean.engine.runner import Stage
from corpusclean.engine.steps import Step
from corpusclean.recipe import Recipe
from corpusclean.rules import VERSION as RULES_VERSION
from corpusclean.rules.loading import rules_for_source
from corpusclean.stages.decide import DecideSettings, decide_part
from corpusclean.stages.duplicates import (
    ExactSettings,
    NearSettings,
    find_buckets,
    find_exact,
    keep_near,
    send_bands,
)
from corpusclean.stages.verdicts import VerdictSettings, count_grams, find_common, give_verdicts

__all__ = ["select"]

VERSION = "1"
_DEFAULT_KEEP = ("source_order", "longest")
_ROWS_A_PARTITION = 500_000
_MOST_PARTITIONS = 512


def select(
    recipe: Recipe,
    work: str,
    options: list[str],
    measured: StageResult,
    index_folder: str | None,
) -> StageResult:
    """Run the stage; the result's outputs are a reference to the verdicts of each part."""
    steps = _steps(recipe, work, measured.account.documents, index_folder)
    with Stage("select", work, options) as stage:
        parts = stage.start(("decide", key, item) for key, item in measured.outputs)
        decided = stage.do("Apply rules", steps["decide"], parts)
        exact = stage.do("Find exact duplicates", steps["exact"], decided)
        found = [decided, exact]
        if "near" in steps:
            bands = stage.do("Send bands", steps["bands"], decided, exact)
            buckets = stage.do("Find shared buckets", steps["buckets"], bands)
            found.append(stage.do("Keep greedily", steps["near"], bands, buckets))
        if "grams" in steps:
            grams = stage.do("Count benchmark n-grams", steps["grams"], *found)
            found.append(stage.do("Find common n-grams", steps["common"], grams))
        stage.do("Give verdicts", steps["verdicts"], *found)
    return stage.result


def _steps(recipe: Recipe, work: str, documents: int, index_folder: str | None) -> dict[str, Step]:
    partitions = min(_MOST_PARTITIONS, max(2, documents // _ROWS_A_PARTITION))
    deduplicate = recipe.deduplicate
    near = deduplicate.near if deduplicate else None
    keep = tuple(near.keep) if near else _DEFAULT_KEEP
    exact = bool(deduplicate and deduplicate.exact)
    order = tuple(recipe.sources)
    rule_sets = {name: rules_for_source(recipe, name) for name in recipe.sources}
    made: dict[str, tuple[Any, Any, str]] = {
        "decide": (decide_part, DecideSettings(rule_sets, order, exact, partitions), RULES_VERSION),
        "exact": (find_exact, ExactSettings(exact, keep), DEDUP_VERSION),
    }
    if near:
        settings = NearSettings(
            near.bands, near.rows, near.similarity, keep, order, min(4 * partitions, 512)
        )
        for name, function in (("bands", send_bands), ("buckets", find_buckets)):
            made[name] = (function, settings, DEDUP_VERSION)
        made["near"] = (keep_near, settings, DEDUP_VERSION)
    action = recipe.decontaminate.action if recipe.decontaminate else None
    verdicts = VerdictSettings(action, index_folder)
    if action is not None:
        made["grams"] = (count_grams, verdicts, CONTAMINATION_VERSION)
        made["common"] = (find_common, verdicts, CONTAMINATION_VERSION)
    made["verdicts"] = (give_verdicts, verdicts, CONTAMINATION_VERSION)
    return {
        name: Step(
            f"select/{name}",
            function,
            settings,
            work,
            fingerprint(VERSION, version, repr(settings), np.__version__, duckdb.__version__),
        )
        for name, (function, settings, version) in made.items()
    }

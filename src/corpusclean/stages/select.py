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
from corpusclean.engine.references import Message, Ref
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
    messages: list[Message] = [("decide", key, item) for key, item in measured.outputs]
    sources = {key: Ref(*item).label for key, item in measured.outputs}
    for key, source in sources.items():
        messages.append(("decide", key, ("rules", _rules_fingerprint(recipe, source))))
    with Stage("select", work, options) as stage:
        parts = stage.start(messages)
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


def _rules_fingerprint(recipe: Recipe, source: str) -> str:
    place = list(recipe.sources).index(source)
    return fingerprint(place, repr(rules_for_source(recipe, source)))


def _steps(recipe: Recipe, work: str, documents: int, index_folder: str | None) -> dict[str, Step]:
    partitions = min(_MOST_PARTITIONS, max(2, documents // _ROWS_A_PARTITION))
    deduplicate = recipe.deduplicate
    near = deduplicate.near if deduplicate else None
    keep = tuple(near.keep) if near else _DEFAULT_KEEP
    exact = bool(deduplicate and deduplicate.exact)
    order = tuple(recipe.sources)
    rule_sets = {name: rules_for_source(recipe, name) for name in recipe.sources}
    # Of each step: its function, its settings, and what of them shapes its output.
    made: dict[str, tuple[Any, Any, Any]] = {
        "decide": (
            decide_part,
            DecideSettings(rule_sets, order, exact, partitions),
            (RULES_VERSION, exact, partitions),
        ),
        "exact": (find_exact, ExactSettings(exact, keep), (DEDUP_VERSION, exact, keep)),
    }
    if near:
        settings = NearSettings(
            near.bands, near.rows, near.similarity, keep, order, min(4 * partitions, 512)
        )
        of_bands = (DEDUP_VERSION, near.bands, near.rows, settings.partitions)
        for name, function in (("bands", send_bands), ("buckets", find_buckets)):
            made[name] = (function, settings, of_bands)
        made["near"] = (keep_near, settings, (DEDUP_VERSION, repr(settings)))
    action = recipe.decontaminate.action if recipe.decontaminate else None
    verdicts = VerdictSettings(action, index_folder)
    # The folder of an index is named after its content, wherever the run's folder is.
    of_verdicts = (CONTAMINATION_VERSION, action, (index_folder or "").rpartition("/")[2])
    if action is not None:
        made["grams"] = (count_grams, verdicts, of_verdicts)
        made["common"] = (find_common, verdicts, of_verdicts)
    made["verdicts"] = (give_verdicts, verdicts, of_verdicts)
    return {
        name: Step(
            f"select/{name}",
            function,
            settings,
            work,
            fingerprint(VERSION, shape, np.__version__, duckdb.__version__),
        )
        for name, (function, settings, shape) in made.items()
    }

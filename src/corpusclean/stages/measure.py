"""The first stage: raw files to measured parts, a split at a time.

Reads, sends unreadable records to the quarantine, normalises newlines, and measures every family
that the recipe asks for. Raw input is read once: a family that changes is made again from the
stored text.
"""

import re
from dataclasses import astuple
from typing import Any

import pyarrow as pa

from corpusclean import files
from corpusclean.engine.pool import current_pool
from corpusclean.engine.receipts import fingerprint
from corpusclean.engine.results import StageResult
from corpusclean.engine.runner import Stage
from corpusclean.engine.steps import Step
from corpusclean.errors import InputError
from corpusclean.recipe import Recipe
from corpusclean.sources import VERSION as SOURCES_VERSION
from corpusclean.sources.reading import check_columns
from corpusclean.stages.families import families_of
from corpusclean.stages.splits import (
    VERSION,
    MeasureSettings,
    measure_split,
    planned_splits,
    split_weight,
)

__all__ = ["check_quarantine", "measure"]

_QUARANTINE = re.compile(r".+-[0-9a-f]{16}\.jsonl")


def measure(
    recipe: Recipe, work: str, output: str, options: list[str], index_folder: str | None
) -> StageResult:
    """Run the stage; the result's outputs are a reference to each family of each part."""
    families = tuple(families_of(recipe, index_folder))
    settings = MeasureSettings(families, files.join(output, "quarantine"))
    shape = fingerprint(
        VERSION, SOURCES_VERSION, pa.__version__, [family.fingerprint for family in families]
    )
    splits = planned_splits(recipe)
    for split, spec in splits:
        check_columns(split, spec)
    step = Step("measure/parts", measure_split, settings, work, shape, weigh=split_weight)
    with Stage("measure", work, options) as stage:
        planned = stage.start(
            ("parts", split.key, (astuple(split), astuple(spec))) for split, spec in splits
        )
        stage.do("Measure splits", step, planned)
    _remove_old_quarantine(settings.quarantine, {split.key for split, _ in splits})
    return stage.result


def _remove_old_quarantine(folder: str, current: set[str]) -> None:
    for path in files.list_files(folder):
        name = path.rpartition("/")[2]
        if _QUARANTINE.fullmatch(name) and name.removesuffix(".jsonl") not in current:
            files.remove(path)


def check_quarantine(recipe: Recipe, counts: dict[str, Any]) -> None:
    """Tell of unreadable records; InputError if a source has more than the recipe allows."""
    pool = current_pool()
    for name, source in recipe.sources.items():
        found = counts.get("sources", {}).get(name, {})
        causes = found.get("quarantined", {})
        quarantined, read = sum(causes.values()), found.get("read", 0)
        told = ", ".join(f"{cause} {count:,}" for cause, count in sorted(causes.items()))
        if causes and pool is not None:
            archives = sum(causes.get(cause, 0) for cause in ("truncated", "unreadable"))
            more = "; a damaged file may have lost many records" if archives else ""
            pool.progress.say(f"measure: source {name}: in quarantine: {told}{more}")
        if quarantined > source.max_quarantined * read:
            raise InputError(
                f"source {name}: {quarantined:,} of {read:,} records are unreadable "
                f"({quarantined / read:.2%}), more than max_quarantined "
                f"({source.max_quarantined:.2%}) allows: {told}. They stand in the output's "
                "quarantine folder with file, position and cause. Mend the input, or raise "
                "max_quarantined and run the same command again: what is measured stays."
            )

"""The fourth stage: token parts to shards, at the ratios and within the budget of the recipe.

Ratios become a plan of whole tokens a source; the plan becomes copies of documents; a shard is a
range of the order of all copies. A change of ratio or budget repeats this stage alone.
"""

import re

import numpy as np

from corpusclean import files
from corpusclean.engine.pool import current_pool
from corpusclean.engine.receipts import fingerprint
from corpusclean.engine.references import Ref
from corpusclean.engine.results import StageResult
from corpusclean.engine.runner import Stage
from corpusclean.engine.steps import Step
from corpusclean.mixture import VERSION as MIXTURE_VERSION
from corpusclean.mixture.ratios import MixturePlan, plan_mixture
from corpusclean.recipe import Recipe
from corpusclean.shards import VERSION as SHARDS_VERSION
from corpusclean.shards.formats import FORMATS, format_named
from corpusclean.shards.info import ShardInfo
from corpusclean.stages.mixing import MixSettings, plan_mix, write_shard
from corpusclean.tokens.tokenizers import Tokenizer

__all__ = ["mix", "mixture_of"]

VERSION = "1"


def mixture_of(recipe: Recipe, tokenized: StageResult) -> MixturePlan:
    """Plan the tokens of each source from what tokenize found; SupplyError if they do not do."""
    counted = tokenized.account.counts.get("sources", {})
    supply = {name: counted.get(name, {}).get("tokens", 0) for name in recipe.sources}
    ratios = {name: source.ratio for name, source in recipe.sources.items()}
    mixture = recipe.mixture
    return plan_mixture(supply, ratios, recipe.budget.total, mixture.max_epochs, mixture.shortfall)


def mix(
    recipe: Recipe,
    work: str,
    output: str,
    options: list[str],
    tokenized: StageResult,
    tokenizer: Tokenizer,
) -> StageResult:
    """Run the stage; the result's outputs say for each shard what was written."""
    planned = mixture_of(recipe, tokenized)
    targets = {name: source.tokens for name, source in planned.sources.items()}
    supply = {name: source.available for name, source in planned.sources.items()}
    settings = MixSettings(
        name=recipe.name,
        targets=targets,
        supply=supply,
        shard_tokens=recipe.output.shard_tokens,
        format=recipe.output.format,
        dtype=format_named(recipe.output.format).dtype_for(tokenizer.vocabulary).name,
        tokenizer=tokenizer.name,
    )
    shape = fingerprint(VERSION, MIXTURE_VERSION, SHARDS_VERSION, np.__version__, repr(settings))
    # Shards stand beside the work folder, so the steps' files are relative to the output folder.
    plan = Step("work/mix/plan", plan_mix, settings, output, shape)
    shards = Step("work/mix/shards", write_shard, settings, output, shape)
    pool = current_pool()
    if pool is not None:
        for change in planned.changes:
            pool.progress.say(f"mixture: {change}")
    with Stage("mix", work, options) as stage:
        start = stage.start(
            ("plan", "all", ref._replace(path=f"work/{ref.path}"))
            for ref in (Ref(*item) for _, item in tokenized.outputs)
        )
        plans = stage.do("Plan shards", plan, start)
        stage.do("Write shards", shards, plans)
    _remove_others(output, recipe, stage.result)
    return stage.result


def _remove_others(output: str, recipe: Recipe, result: StageResult) -> None:
    """Remove shards of earlier runs of the recipe that are not part of this one."""
    ours = re.compile(re.escape(recipe.name) + r"-\d{5}-of-\d{5}\.")
    indexes = {known.index for known in FORMATS.values()}
    kept = {f"shards/{format_named(recipe.output.format).index}"}
    for _, (prefix, info, provenance, _) in result.outputs:
        kept |= {f"{prefix}{file.suffix}" for file in ShardInfo(*info).files} | {provenance}
    for folder in ("shards", "provenance"):
        for path in files.list_files(files.join(output, folder)):
            file = path.rpartition("/")[2]
            if (ours.match(file) or file in indexes) and f"{folder}/{file}" not in kept:
                files.remove(path)

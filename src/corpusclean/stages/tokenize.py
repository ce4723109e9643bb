"""The third stage: the text of kept documents to token parts, sorted by order key."""

from importlib.metadata import version

from corpusclean.engine.receipts import fingerprint
from corpusclean.engine.results import StageResult
from corpusclean.engine.runner import Stage
from corpusclean.engine.steps import Step
from corpusclean.recipe import Recipe
from corpusclean.stages.tokenizing import TokenizeSettings, part_rows, tokenize_part, tokenizer_of
from corpusclean.tokens import VERSION as TOKENS_VERSION

__all__ = ["tokenize"]

VERSION = "1"


def tokenize(
    recipe: Recipe, work: str, options: list[str], measured: StageResult, selected: StageResult
) -> StageResult:
    """Run the stage; the result's outputs are references to the token part of each part."""
    settings = TokenizeSettings(
        tokenizer=recipe.resolve(recipe.tokenizer.file),
        eod=recipe.tokenizer.eod,
        append_eod=recipe.output.append_eod,
        seed=recipe.seed,
        min_characters=recipe.after_cuts.min_characters,
        max_cut_share=recipe.after_cuts.max_cut_share,
    )
    tokenizer = tokenizer_of(settings.tokenizer, settings.eod)
    shape = fingerprint(
        VERSION,
        TOKENS_VERSION,
        version("tokenizers"),
        tokenizer.sha256,
        tokenizer.eod_id,
        [settings.append_eod, settings.seed, settings.min_characters, settings.max_cut_share],
    )
    step = Step("tokenize/parts", tokenize_part, settings, work, shape, weigh=part_rows)
    texts = [
        (key, item) for key, item in measured.outputs if str(item[0]).endswith("/text.parquet")
    ]
    with Stage("tokenize", work, options) as stage:
        start = stage.start(("parts", key, item) for key, item in texts + selected.outputs)
        stage.do("Tokenize parts", step, start)
    return stage.result

"""corpusclean: from raw corpora to verified training shards, by one recipe.

The names below are the library: planners, rules over a table, MinHash over Arrow columns, shard
writers and readers, and whole runs. Each is imported when it is first asked for.
"""

from importlib import import_module
from typing import Any

_PUBLIC = {
    "Job": "stages.job",
    "LanguageModel": "signals.language",
    "MegatronShard": "shards.megatron",
    "MegatronWriter": "shards.megatron",
    "RuleEvaluator": "rules.applying",
    "Signer": "dedup.signatures",
    "build_index": "contamination.index",
    "effective_tokens": "mixture.budget",
    "find_hits": "contamination.scan",
    "load_recipe": "recipe",
    "load_rule_set": "rules.rule_sets",
    "load_tokenizer": "tokens.tokenizers",
    "measure_document_signals": "signals.document",
    "plan_mixture": "mixture.ratios",
    "verify_output": "shards.verify",
}

__all__ = sorted(_PUBLIC)


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        return getattr(import_module(f"corpusclean.{_PUBLIC[name]}"), name)
    raise AttributeError(f"corpusclean has no {name!r}")


def __dir__() -> list[str]:
    return __all__

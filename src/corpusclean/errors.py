"""The one tree of errors that corpusclean raises.

A message says what happened, where, what was found, what was expected and what to do.
"""

__all__ = [
    "CorpuscleanError",
    "EngineError",
    "InputError",
    "LedgerError",
    "RecipeError",
    "ShardError",
    "SupplyError",
]


class CorpuscleanError(Exception):
    """Root of every error that corpusclean raises on purpose."""


class RecipeError(CorpuscleanError):
    """A recipe, a rule set or a command line asks for what cannot be."""


class InputError(CorpuscleanError):
    """Input files cannot be read, or too many of their records are unreadable."""


class SupplyError(CorpuscleanError):
    """The sources hold too few tokens for the mixture that the recipe asks for."""


class LedgerError(CorpuscleanError):
    """The account of documents does not balance."""


class ShardError(CorpuscleanError):
    """A shard, a part or the manifest is damaged or inconsistent."""


class EngineError(CorpuscleanError):
    """A stage could not be carried out: a worker died, or the runner failed."""

"""What a signal is, and where its reference stands.

Each module of this room lists its signals as `Signal` entries; `all_signals` in this package
joins them. A rule may name any of them, and `corpusclean check` refuses any other name.
"""

from dataclasses import dataclass
from typing import Literal

__all__ = ["Signal"]


@dataclass(frozen=True, slots=True)
class Signal:
    """The reference of one signal."""

    name: str
    kind: Literal["integer", "fraction", "number", "label"]
    """Integers are counts; fractions lie in [0, 1]; numbers are any finite real."""
    family: str
    """The family of columns that holds it: signals, language, blocklists."""
    meaning: str
    """One sentence: what is counted over which denominator."""
    null_when: str = "never"
    """When the signal is undefined and therefore NULL."""
    source: str = "this project"

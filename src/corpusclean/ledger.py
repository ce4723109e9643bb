"""The ledger: what became of every record of every source.

read = kept + dropped + quarantined, and kept = emitted + unused. Accounts of parts of a source are
merged by adding up. What no stage has told yet is None.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from corpusclean.errors import LedgerError

__all__ = ["Ledger", "SourceLedger"]


def _sum(first: int | None, second: int | None) -> int | None:
    if first is None or second is None:
        return second if first is None else first
    return first + second


def _sums(first: Mapping[str, int], second: Mapping[str, int]) -> dict[str, int]:
    names = dict.fromkeys([*first, *second])
    return {name: first.get(name, 0) + second.get(name, 0) for name in names}


@dataclass(frozen=True, slots=True)
class SourceLedger:
    """The account of one source, in documents; quarantined records and blank lines apart."""

    read: int = 0
    """Records: documents and what is quarantined."""
    kept: int | None = None
    """None before select."""
    emitted: int | None = None
    """Kept documents of which a copy is in the mixture; None before mix."""
    unused: int | None = None
    """Kept documents of which there is none."""
    dropped: Mapping[str, int] = field(default_factory=dict)
    """By the first reason, each document once."""
    quarantined: Mapping[str, int] = field(default_factory=dict)
    """By cause."""
    blank: int = 0
    reasons: Mapping[str, int] = field(default_factory=dict)
    """By every reason that holds, so a document may count several times."""
    cuts: Mapping[str, int] = field(default_factory=dict)
    """Cuts, not documents, by reason."""
    undefined: Mapping[str, int] = field(default_factory=dict)
    """Documents for which a rule's predicate is NULL, by the reason that it would give."""

    @classmethod
    def from_json(cls, entry: Mapping[str, Any]) -> "SourceLedger":
        """Make an account from JSON or from counts; what is absent is as it is by default."""
        return cls(**{f.name: entry[f.name] for f in fields(cls) if f.name in entry})

    def __add__(self, other: "SourceLedger") -> "SourceLedger":
        """Return the account of both."""
        return SourceLedger(
            read=self.read + other.read,
            kept=_sum(self.kept, other.kept),
            emitted=_sum(self.emitted, other.emitted),
            unused=_sum(self.unused, other.unused),
            dropped=_sums(self.dropped, other.dropped),
            quarantined=_sums(self.quarantined, other.quarantined),
            blank=self.blank + other.blank,
            reasons=_sums(self.reasons, other.reasons),
            cuts=_sums(self.cuts, other.cuts),
            undefined=_sums(self.undefined, other.undefined),
        )

    def to_json(self) -> dict[str, Any]:
        """Return plain values; reasons and causes stand in alphabetical order, zeros left out."""
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        return {name: _sorted(v) if isinstance(v, Mapping) else v for name, v in values.items()}

    def imbalance(self) -> str | None:
        """Return what does not add up, or None."""
        for name, value in self.to_json().items():
            counts = value if isinstance(value, dict) else {name: value}
            negative = [f"{key} {n}" for key, n in counts.items() if n is not None and n < 0]
            if negative:
                return f"found {', '.join(negative)} in {name}, expected no count below zero"
        if self.kept is None:
            return None
        dropped, quarantined = sum(self.dropped.values()), sum(self.quarantined.values())
        accounted = self.kept + dropped + quarantined
        if self.read != accounted:
            return (
                f"read {self.read:,} but kept {self.kept:,} + dropped {dropped:,} + quarantined "
                f"{quarantined:,} = {accounted:,}; {_difference(self.read - accounted)}"
            )
        if self.emitted is None or self.unused is None:
            return None
        used = self.emitted + self.unused
        if self.kept != used:
            return (
                f"kept {self.kept:,} but emitted {self.emitted:,} + unused {self.unused:,} = "
                f"{used:,}; {_difference(self.kept - used)}"
            )
        return None


def _sorted(counts: Mapping[str, int]) -> dict[str, int]:
    return {name: counts[name] for name in sorted(counts) if counts[name]}


def _difference(missing: int) -> str:
    return f"{abs(missing):,} {'are missing' if missing > 0 else 'too many'}"


@dataclass(frozen=True, slots=True)
class Ledger:
    """The accounts of all sources, in the order of the recipe, and of the benchmarks."""

    sources: Mapping[str, SourceLedger]
    benchmarks: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """For each benchmark whole numbers by their names: items, documents that hold some, ..."""

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> "Ledger":
        """Make a ledger from the content of `ledger.json`."""
        sources = {
            name: SourceLedger.from_json(entry) for name, entry in content["sources"].items()
        }
        return cls(sources, content.get("benchmarks", {}))

    @classmethod
    def merged(cls, order: Iterable[str], ledgers: Iterable["Ledger"]) -> "Ledger":
        """Return the sum of ledgers, with the sources in the given order, each at least empty."""
        sources = {name: SourceLedger() for name in order}
        benchmarks: dict[str, Mapping[str, int]] = {}
        for ledger in ledgers:
            for name, account in ledger.sources.items():
                if name not in sources:
                    raise LedgerError(f"{name}: found in an account, but no source has this name")
                sources[name] = sources[name] + account
            for name, counts in ledger.benchmarks.items():
                benchmarks[name] = _sums(benchmarks.get(name, {}), counts)
        return cls(sources, benchmarks)

    def balance(self) -> None:
        """Raise LedgerError, naming every source whose account does not add up."""
        wrong = {name: account.imbalance() for name, account in self.sources.items()}
        said = [f"source {name}: {found}" for name, found in wrong.items() if found]
        if said:
            raise LedgerError(
                "the ledger does not balance: " + "; ".join(said) + ". A document was lost or "
                "counted twice: this is a fault of corpusclean, and the output is not to be used"
            )

    def to_json(self) -> dict[str, Any]:
        """Return the content of `ledger.json`: plain values in a fixed order."""
        content: dict[str, Any] = {
            "sources": {name: account.to_json() for name, account in self.sources.items()}
        }
        if self.benchmarks:
            content["benchmarks"] = {
                name: dict(sorted(self.benchmarks[name].items()))
                for name in sorted(self.benchmarks)
            }
        return content

    def table(self) -> tuple[list[str], list[list[str | int | None]]]:
        """Return a header and a row for each source and, of several, for all together."""
        header = ["source", "read", "kept", "dropped", "quarantined", "emitted", "unused"]
        rows = [_row(name, account) for name, account in self.sources.items()]
        if len(rows) > 1:
            total = SourceLedger()
            for account in self.sources.values():
                total = total + account
            rows.append(_row("all", total))
        return header, rows


def _row(name: str, account: SourceLedger) -> list[str | int | None]:
    dropped = sum(account.dropped.values()) if account.kept is not None else None
    quarantined = sum(account.quarantined.values())
    used = [account.emitted, account.unused]
    return [name, account.read, account.kept, dropped, quarantined, *used]

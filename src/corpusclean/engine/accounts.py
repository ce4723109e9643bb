"""Adding up what tasks did: whole numbers in nested dictionaries, times and peaks."""

from collections.abc import Iterable
from typing import Any

from corpusclean.engine.steps import Account

__all__ = ["EMPTY", "add_accounts", "add_counts"]

EMPTY = Account({}, 0, 0, 0.0, 0.0, 0, 0, 0)


def add_counts(total: dict[str, Any], counts: dict[str, Any]) -> dict[str, Any]:
    """Return the sum of two nested dictionaries of whole numbers; neither is changed."""
    result = dict(total)
    for name, value in counts.items():
        if isinstance(value, dict):
            result[name] = add_counts(result.get(name, {}), value)
        else:
            result[name] = result.get(name, 0) + value
    return result


def add_accounts(accounts: Iterable[Account]) -> Account:
    """Return the sum of accounts; of peaks the highest."""
    total = EMPTY
    for account in (Account(*item) for item in accounts):
        total = Account(
            counts=add_counts(total.counts, account.counts),
            documents=total.documents + account.documents,
            bytes=total.bytes + account.bytes,
            wall_seconds=total.wall_seconds + account.wall_seconds,
            cpu_seconds=total.cpu_seconds + account.cpu_seconds,
            peak_rss_bytes=max(total.peak_rss_bytes, account.peak_rss_bytes),
            parts=total.parts + account.parts,
            parts_reused=total.parts_reused + account.parts_reused,
        )
    return total

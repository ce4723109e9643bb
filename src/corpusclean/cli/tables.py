"""Plain text tables: numbers to the right, the rest to the left."""

from collections.abc import Sequence
from typing import Any

__all__ = ["table"]


def table(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Return rows below a header, in columns parted by two spaces."""
    cells = [[_text(value) for value in row] for row in rows]
    right = [
        all(isinstance(row[i], int | float) or row[i] is None for row in rows) and bool(rows)
        for i in range(len(header))
    ]
    widths = [max(map(len, column)) for column in zip(header, *cells, strict=True)]
    lines = []
    for row in [list(header), *cells]:
        parts = [
            cell.rjust(width) if to_right else cell.ljust(width)
            for cell, width, to_right in zip(row, widths, right, strict=True)
        ]
        lines.append("  ".join(parts).rstrip())
    return "\n".join(lines)


def _text(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:.4g}"
    return str(value)

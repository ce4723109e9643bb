"""How often our signals and decisions are those of peers, on real documents.

    python tests/conformance/peers/agreement.py FILE.jsonl.zst ... [--documents 250]
        [--datatrove-python PATH] [--dolma-python PATH]

For each signal of Gopher's rules: of how many documents both have a value, the share of equal
values, and, of the documents for which the definitions agree, how many there are and how many
differ. For each rule with its published limit: the share of equal decisions, and how many
documents only one side would drop. Words are whitespace words on both sides.
"""

import argparse
import operator
from collections.abc import Callable
from pathlib import Path
from typing import Any

from asking import ask, measure, texts_of
from definitions import DATATROVE, DOLMA, Definition

from corpusclean.rules.loading import load_rule_set
from corpusclean.signals.language import UNKNOWN, default_path

_OPERATORS: dict[str, Callable[[float, float], bool]] = {"<": operator.lt, ">": operator.gt}
Row = dict[str, Any]


def equal(ours: float | None, theirs: float) -> bool:
    """Tell whether values are equal but for rounding; what is undefined is 0 to the peers."""
    return abs((ours or 0.0) - theirs) <= 1e-9


def print_signals(
    definitions: dict[str, Definition], texts: list[str], ours: list[Row], theirs: list[Row]
) -> None:
    print("| signal | documents | equal | where the definitions agree | of these, unequal |")
    print("|---|---:|---:|---:|---:|")
    for name, definition in definitions.items():
        found = [
            (text, equal(row[name], told[definition.peer]))
            for text, row, told in zip(texts, ours, theirs, strict=True)
            if definition.peer in told
        ]
        agreed = [same for text, same in found if definition.equal(text)]
        share = sum(same for _, same in found) / len(found)
        unequal = len(agreed) - sum(agreed)
        print(f"| {name} | {len(found):,} | {share:.1%} | {len(agreed):,} | {unequal} |")
    print()


def print_rules(definitions: dict[str, Definition], ours: list[Row], theirs: list[Row]) -> None:
    print("| rule | equal decisions | both drop | only corpusclean | only the peer |")
    print("|---|---:|---:|---:|---:|")
    dropped: list[tuple[set[int], set[int]]] = []
    for rule_set in ("gopher_quality", "gopher_repetition"):
        for rule in load_rule_set(rule_set).rules:
            name, sign, limit = rule.predicate.split()
            if name not in definitions:
                continue
            fires, peer = _OPERATORS[sign], definitions[name].peer
            mine, other = (
                {n for n, value in values if value is not None and fires(value, float(limit))}
                for values in (
                    ((n, row[name]) for n, row in enumerate(ours)),
                    ((n, row.get(peer)) for n, row in enumerate(theirs)),
                )
            )
            dropped.append((mine, other))
            _print_decisions(rule.reason, mine, other, len(ours))
    mine, other = (set().union(*sides) for sides in zip(*dropped, strict=True))
    _print_decisions("any of these", mine, other, len(ours))
    print()


def _print_decisions(reason: str, mine: set[int], other: set[int], documents: int) -> None:
    both, share = mine & other, 1 - len(mine ^ other) / documents
    print(f"| {reason} | {share:.1%} | {len(both)} | {len(mine - both)} | {len(other - both)} |")


def print_languages(ours: list[Row], told: list[Row]) -> None:
    compared = [
        (row, answer)
        for row, answer in zip(ours, told, strict=True)
        if row["language"] != UNKNOWN and "language" in answer
    ]
    labels = sum(row["language"] == answer["language"] for row, answer in compared)
    gap = max(abs(row["language_probability"] - answer["probability"]) for row, answer in compared)
    print(f"Language: {labels:,} of {len(compared):,} labels equal, probabilities to {gap:.1e}.\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--documents", type=int, default=250, help="of each file")
    parser.add_argument("--datatrove-python")
    parser.add_argument("--dolma-python")
    options = parser.parse_args()
    texts = []
    for path in options.files:
        # Of a text without a word the peers' filters have nothing to say.
        found = [text for text in texts_of(path, options.documents) if text.split()]
        print(f"{path.name}: {len(found)} documents")
        texts += found
    print(f"\n{len(texts):,} documents, {sum(len(t.encode()) for t in texts) / 1e6:.1f} MB\n")
    ours = measure(texts)
    if options.datatrove_python:
        told = ask(options.datatrove_python, "datatrove_values.py", texts, default_path())
        values = [answer["values"] for answer in told]
        print("## datatrove\n")
        print_languages(ours, told)
        print_signals(DATATROVE, texts, ours, values)
        print_rules(DATATROVE, ours, values)
    if options.dolma_python:
        told = ask(options.dolma_python, "dolma_values.py", texts)
        values = [answer["values"] for answer in told]
        print("## Dolma\n")
        print_signals(DOLMA, texts, ours, values)
        print_rules(DOLMA, ours, values)


if __name__ == "__main__":
    main()

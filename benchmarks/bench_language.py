"""How fast language and term lists are measured, against the libraries themselves.

    python benchmarks/bench_language.py FILE.jsonl.zst... [--megabytes 8] [--terms LIST.txt]

CPU seconds of one thread, the best of several runs; MB are 10^6 bytes of UTF-8 text, whole
documents, all in one run. Language: the fastText library's `predict` on a text with newlines as
spaces, on the first part of the same documents; the labels are compared. Terms: Python's `re`
with the terms as an alternation between `\\b`, as published filters have it, on the first part.
Without --terms, 400 made-up terms are looked for.
"""

import argparse
import io
import json
import re
import time
from collections.abc import Callable
from pathlib import Path

import fasttext
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import zstandard

from corpusclean.signals.blocklists import TermLists, read_terms
from corpusclean.signals.language import LanguageModel, default_path


def read_texts(path: Path, size: float) -> list[str]:
    """Return the first texts of a file of JSON lines, about so many bytes of them."""
    texts = []
    with path.open("rb") as file:
        reader = zstandard.ZstdDecompressor().stream_reader(file)
        for line in io.TextIOWrapper(reader, encoding="utf-8"):
            texts.append(json.loads(line)["text"])
            size -= len(texts[-1].encode())
            if size <= 0:
                break
    return texts


def seconds(work: Callable[[], object], runs: int) -> float:
    """Return the least CPU seconds of several runs."""
    taken = []
    for _ in range(runs):
        start = time.process_time()
        work()
        taken.append(time.process_time() - start)
    return min(taken)


def made_up_terms() -> list[str]:
    """Return 400 terms of the lengths that real lists have, a third of them phrases."""
    syllables = ("ba", "de", "gi", "ko", "lu", "man", "nor", "pis", "quet", "ras")
    words = [a + b + c for a in syllables for b in syllables for c in syllables[:4]]
    return [word if i % 3 else f"{word} {words[-i]}" for i, word in enumerate(words)]


def rates(
    texts: list[str],
    model: LanguageModel,
    library: fasttext.FastText._FastText,
    lists: TermLists,
    pattern: re.Pattern[str],
) -> tuple[float, ...]:
    """Return the columns of the table for some documents."""
    column = pa.array(texts, pa.large_string())
    letters = np.full(len(texts), 10**6)
    size = pc.sum(pc.binary_length(column)).as_py() / 1e6
    first = texts[: max(1, len(texts) // 8)]
    part = sum(len(text.encode()) for text in first) / 1e6
    labels = model.measure(column, letters).column("language").to_pylist()
    found = [library.predict(text.replace("\n", " "))[0][0][9:] for text in first]
    equal = sum(a == b for a, b in zip(found, labels, strict=False)) / len(first)
    return (
        size,
        size / seconds(lambda: model.measure(column, letters), 5),
        part / seconds(lambda: [library.predict(text.replace("\n", " ")) for text in first], 2),
        equal,
        size / seconds(lambda: lists.measure(column), 5),
        part / seconds(lambda: [len(pattern.findall(text)) for text in first], 1),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--megabytes", type=float, default=8)
    parser.add_argument("--terms")
    options = parser.parse_args()
    model = LanguageModel.load()
    library = fasttext.load_model(default_path())
    terms = read_terms(options.terms) if options.terms else made_up_terms()
    lists = TermLists({"terms": terms})
    pattern = re.compile(r"\b(?:" + "|".join(map(re.escape, terms)) + r")\b", re.IGNORECASE)
    header = ("file", "MB", "language", "fastText", "equal", "terms", "re")
    print(("{:28}" + "{:>10}" * 6).format(*header), "  (MB/s)")
    for path in options.files:
        texts = read_texts(path, options.megabytes * 1e6)
        row = rates(texts, model, library, lists, pattern)
        print(f"{path.name.partition('.')[0]:28}" + "".join(f"{rate:10.1f}" for rate in row))


if __name__ == "__main__":
    main()

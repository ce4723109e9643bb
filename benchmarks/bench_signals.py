"""How fast the family `signals` is measured, against the same definitions in plain Python.

    python benchmarks/bench_signals.py FILE.jsonl.zst... [--megabytes 8] [--naive 0.5]

CPU seconds of one thread, the best of several runs; MB are 10^6 bytes of UTF-8 text. "naive" is
what filters written in Python do for each document: split it into words, build every n-gram and
line, count them in a dictionary. It computes Gopher's quality and repetition signals for both
kinds of words and nothing else, on the first part of the same text, in the same run.
"""

import argparse
import io
import json
import re
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import zstandard

from corpusclean.signals.document import measure_document_signals
from corpusclean.text.scan import scan

STOP_WORDS = {"the", "be", "to", "of", "and", "that", "have", "with"}


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


def naive_signals(text: str) -> list[float]:
    """Compute Gopher's signals of one text as a filter in Python would."""
    found: list[float] = []
    lines = [line for line in text.split("\n") if line.strip()]
    paragraphs = [piece for piece in re.split(r"\n{2,}", text) if piece.strip()]
    for segments in (lines, paragraphs):
        copies = Counter(segments)
        found.append(len(segments) - len(copies))
        found.append(sum(len(segment) * (n - 1) for segment, n in copies.items()))
    found.append(sum(line.lstrip().startswith(("-", "*", "•")) for line in lines))
    found.append(sum(line.rstrip().endswith(("...", "…")) for line in lines))
    for words in (text.split(), re.findall(r"\w+|[^\w\s]", text)):
        found.append(sum(map(len, words)) / max(len(words), 1))
        found.append(sum(any(map(str.isalpha, word)) for word in words))
        found.append(len(STOP_WORDS & {word.casefold() for word in words}))
        for order in range(2, 11):
            grams = [" ".join(words[i : i + order]) for i in range(len(words) - order + 1)]
            counts = Counter(grams)
            if order <= 4:
                gram, times = counts.most_common(1)[0] if counts else ("", 0)
                found.append(len(gram) * times / len(text))
            else:
                repeated = sum(len(gram) * n for gram, n in counts.items() if n > 1)
                found.append(repeated / len(text))
    return found


def cpu_seconds(work: Callable[[], object], runs: int) -> float:
    """Return the least CPU time of several runs."""
    best = float("inf")
    for _ in range(runs):
        begin = time.process_time()
        work()
        best = min(best, time.process_time() - begin)
    return best


def main() -> None:
    """Measure every file, and print a row for each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--megabytes", type=float, default=8, help="text taken of each file")
    parser.add_argument("--naive", type=float, default=0.5, help="MB for plain Python; 0: none")
    parser.add_argument("--runs", type=int, default=5)
    arguments = parser.parse_args()
    begin = time.process_time()
    measure_document_signals(pa.array(["warm up"], pa.large_string()))
    print(f"first call, with compilation if nothing is cached: {time.process_time() - begin:.1f} s")
    columns = ("file", "texts", "MB", "scan MB/s", "signals MB/s", "naive MB/s")
    print("{:28s} {:>7s} {:>6s} {:>10s} {:>13s} {:>11s}".format(*columns))
    for path in arguments.files:
        texts = read_texts(path, arguments.megabytes * 1e6)
        column = pa.array(texts, pa.large_string())
        size = sum(len(text.encode()) for text in texts) / 1e6
        scanned = size / cpu_seconds(lambda c=column: scan(c), arguments.runs)
        measured = size / cpu_seconds(lambda c=column: measure_document_signals(c), arguments.runs)
        naive = 0.0
        if arguments.naive:
            some = read_texts(path, arguments.naive * 1e6)
            part = sum(len(text.encode()) for text in some) / 1e6
            naive = part / cpu_seconds(lambda t=some: [naive_signals(text) for text in t], 1)
        name = path.name.removesuffix(".jsonl.zst")
        print(
            f"{name:28s} {len(texts):7d} {size:6.1f} {scanned:10.1f} {measured:13.1f} {naive:11.2f}"
        )


if __name__ == "__main__":
    main()

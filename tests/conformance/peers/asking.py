"""Asking a peer, in the Python of its own environment, what it finds in texts."""

import json
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import zstandard

from corpusclean.signals.document import measure_document_signals
from corpusclean.signals.language import LanguageModel

HERE = Path(__file__).parent


def ask(python: str, script: str, texts: Iterable[str], *arguments: str) -> list[dict[str, Any]]:
    """Return the answers of a script of this folder, one for each text."""
    with tempfile.TemporaryFile("w+", encoding="utf-8") as asked:
        for text in texts:
            asked.write(json.dumps({"text": text}) + "\n")
        asked.seek(0)
        command = [python, str(HERE / script), *arguments]
        ran = subprocess.run(command, stdin=asked, capture_output=True, text=True)
    if ran.returncode:
        raise RuntimeError(f"{script} ended with {ran.returncode}:\n{ran.stderr}")
    return [json.loads(line) for line in ran.stdout.splitlines()]


def measure(texts: list[str]) -> list[dict[str, Any]]:
    """Return our signals of each text, language and probability among them."""
    column = pa.array(texts, pa.large_string())
    signals = measure_document_signals(column)
    letters = signals.column("letters").to_numpy()
    languages = LanguageModel.load().measure(column, letters)
    rows = zip(signals.to_pylist(), languages.to_pylist(), strict=True)
    return [row | language for row, language in rows]


def texts_of(path: Path, count: int, most_characters: int = 200_000) -> Iterator[str]:
    """Yield texts from the whole of a file of JSON lines, the very long ones left out."""
    content = path.read_bytes()
    if path.suffix == ".zst":
        content = zstandard.ZstdDecompressor().decompressobj().decompress(content)
    lines = content.splitlines()
    found = (json.loads(line)["text"] for line in lines[:: max(1, len(lines) // count)][:count])
    yield from (text for text in found if len(text) <= most_characters)

"""Train the tokenizer of the sample corpus: `python sample_data/train_tokenizer.py`.

A byte-level BPE with GPT-2's splitting into words and 4,096 entries, learned from the clean
documents (not from `faults/` or `benchmark/`). The same documents and the same version of
`tokenizers` give the same file; it was written with tokenizers 0.23.
"""

import gzip
import io
import json
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import zstandard
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers

HERE = Path(__file__).parent
VOCABULARY = 4096
END_OF_DOCUMENT = "<|endoftext|>"
FOLDERS = ("en", "code", "multilingual")
FORMATS = {".jsonl", ".gz", ".zst", ".parquet", ".txt"}


def texts_of(path: Path) -> Iterator[str]:
    """Yield the texts of a file; a plain text file is one document."""
    if path.suffix == ".parquet":
        yield from pq.read_table(path, columns=["text"]).column("text").to_pylist()
        return
    data = path.read_bytes()
    if path.suffix == ".gz":
        data = gzip.decompress(data)
    elif path.suffix == ".zst":
        data = zstandard.ZstdDecompressor().stream_reader(io.BytesIO(data)).read()
    if path.suffix == ".txt":
        yield data.decode()
        return
    for line in data.split(b"\n"):
        if line.strip():
            yield json.loads(line)["text"]


def clean_texts() -> Iterator[str]:
    """Yield every clean document with newlines as one character, in the order of the paths."""
    paths = [path for folder in FOLDERS for path in sorted((HERE / folder).rglob("*"))]
    for path in paths:
        if path.suffix in FORMATS:
            for text in texts_of(path):
                yield text.replace("\r\n", "\n")


def train() -> Tokenizer:
    """Return the trained tokenizer."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        special_tokens=[END_OF_DOCUMENT],
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    tokenizer.train_from_iterator(clean_texts(), trainer)
    return tokenizer


if __name__ == "__main__":
    train().save(str(HERE / "tokenizer.json"), pretty=False)

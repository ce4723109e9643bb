"""A small corpus made for tests: prose in several scripts, with everything that can go wrong."""

import gzip
import json
import random
from pathlib import Path
from typing import Any

import zstandard

ENGLISH = """
the of and that have with be to river stone garden window morning letter market bridge winter
candle harbour cloud teacher wagon orchard kettle lantern meadow pocket ribbon saddle thunder
valley willow anchor basket copper dragon engine feather glacier hammer island jacket
""".split()  # noqa: SIM905
CHINESE = "今天天气很好我们去公园散步看见许多花草树木孩子在湖边放风筝老人坐在长椅上读报纸"
JAPANESE = "朝になると市場の人々が店を開けて魚や野菜を並べ始める港からは船の汽笛が聞こえてくる"
CODE = "def add(first, second):\n    return first + second\n"


def sentence(chooser: random.Random) -> str:
    words = [chooser.choice(ENGLISH) for _ in range(chooser.randint(7, 14))]
    return " ".join(words).capitalize() + "."


def prose(chooser: random.Random, sentences: int = 12) -> str:
    return " ".join(sentence(chooser) for _ in range(sentences))


def characters(chooser: random.Random, alphabet: str, sentences: int = 12) -> str:
    made = ("".join(chooser.choices(alphabet, k=20)) + "。" for _ in range(sentences))
    return "".join(made)


def english(count: int, seed: int = 1) -> list[dict[str, Any]]:
    chooser = random.Random(seed)
    documents = [{"id": f"en-{i}", "text": prose(chooser)} for i in range(count)]
    documents[3]["text"] = documents[3]["text"].replace(". ", ".\r\n")
    documents[5]["text"] = documents[4]["text"].upper()
    documents[6]["text"] = documents[7]["text"].replace("garden", "harbour", 1)
    documents[8]["text"] = "too short"
    documents[9]["text"] = ""
    return documents


def asian(count: int) -> list[dict[str, Any]]:
    chooser = random.Random(2)
    scripts = (CHINESE, JAPANESE)
    return [
        {"id": i, "text": characters(chooser, scripts[i % 2]) + " 🙂 e\u0301"} for i in range(count)
    ]


def code(count: int) -> list[dict[str, Any]]:
    return [
        {"id": f"c{i}", "text": CODE + f"x_{i} = add({i}, {i * i})\n" * 5} for i in range(count)
    ]


def lines(documents: list[dict[str, Any]]) -> bytes:
    return b"".join(json.dumps(d, ensure_ascii=False).encode() + b"\n" for d in documents)


BROKEN = b'{"text": "cut off\n\xff\xfe\n\n{"id": 1}\n["text"]\n{"text": 7}\n'


def write_corpus(folder: Path, size: int = 40) -> None:
    """Write sources en, asia and code: JSONL, gzip and zstd, with five broken records in en."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "en.jsonl").write_bytes(lines(english(size)) + BROKEN)
    (folder / "asia.jsonl.gz").write_bytes(gzip.compress(lines(asian(size)), mtime=0))
    packed = zstandard.ZstdCompressor().compress(lines(code(size)))
    (folder / "code.jsonl.zst").write_bytes(packed)
    chooser = random.Random(9)
    items = [{"id": f"q{i}", "question": prose(chooser, 3)} for i in range(6)]
    (folder / "benchmark.jsonl").write_bytes(lines(items))
    packed = zstandard.ZstdCompressor().compress(lines(items))
    (folder / "benchmark.jsonl.zst").write_bytes(packed)
    (folder / "benchmark.jsonl.gz").write_bytes(gzip.compress(lines(items), mtime=0))
    quoting = [
        {"id": f"quote-{i}", "text": prose(chooser, 20) + items[i]["question"] + prose(chooser, 20)}
        for i in range(2)
    ]
    with (folder / "en.jsonl").open("ab") as file:
        file.write(lines(quoting))


def write_tokenizer(path: Path) -> None:
    """Train a small byte-level BPE."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=600,
        special_tokens=["<|endoftext|>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator([" ".join(ENGLISH), CHINESE, JAPANESE, CODE], trainer)
    tokenizer.save(str(path))


def recipe_text(**changes: Any) -> str:
    """Return the recipe of the small corpus; JSON is YAML."""
    recipe: dict[str, Any] = {
        "name": "small",
        "seed": 5,
        "sources": {
            "en": {
                "input": "en*.jsonl",
                "id": "id",
                "ratio": 0.5,
                "filters": ["anomalies", "gopher_quality"],
                "languages": {"keep": ["en"], "min_probability": 0.1},
                "max_quarantined": 0.5,
            },
            "asia": {"input": "asia*", "id": "id", "ratio": 0.3, "filters": ["anomalies"]},
            "code": {"input": "code*", "id": "id", "ratio": 0.2},
        },
        "deduplicate": {"exact": True, "near": {}},
        "decontaminate": {
            "benchmarks": {"quiz": {"input": "benchmark.jsonl", "fields": ["question"]}},
            "action": "cut",
        },
        "after_cuts": {"min_characters": 100},
        "mixture": {"shortfall": "waterfill", "max_epochs": 4},
        "budget": {"tokens": 20000},
        "tokenizer": {"file": "tokenizer.json"},
        "output": {"directory": "out", "shard_tokens": 6000},
    }
    for name, value in changes.items():
        recipe[name] = value
    return json.dumps(recipe)

"""The sample corpus is what its README says."""

import gzip
import io
import json
import re
import zlib
from collections import Counter
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard
from tokenizers import Tokenizer

from corpusclean.recipe import load_recipe
from corpusclean.rules.applying import RuleEvaluator, first_reason
from corpusclean.rules.loading import rules_for_source
from corpusclean.signals.blocklists import TermLists, read_terms
from corpusclean.signals.document import measure_document_signals
from corpusclean.signals.language import LanguageModel

SAMPLE_DATA = Path(__file__).resolve().parents[1] / "sample_data"
BYTES_AT_MOST = 1_500_000


def raw(path: Path) -> bytes:
    """Return the content of a file, decompressed as far as it goes."""
    data = path.read_bytes()
    if path.suffix == ".gz":
        return zlib.decompressobj(wbits=31).decompress(data)
    if path.suffix == ".zst":
        return zstandard.ZstdDecompressor().stream_reader(io.BytesIO(data)).read()
    return data


@cache
def records(name: str) -> tuple[dict, ...]:
    """Return the records of a file that can be read, as plainly as possible."""
    path = SAMPLE_DATA / name
    if path.suffix == ".parquet":
        return tuple(pq.read_table(path).to_pylist())
    if path.suffix == ".txt":
        return ({"id": path.name, "text": path.read_bytes().decode()},)
    found = []
    for line in raw(path).removeprefix(b"\xef\xbb\xbf").split(b"\n"):
        try:
            record = json.loads(line)
        except ValueError:
            continue
        if isinstance(record, dict):
            found.append(record)
    return tuple(found)


def names(*patterns: str) -> list[str]:
    paths = [path for pattern in patterns for path in SAMPLE_DATA.glob(pattern)]
    return sorted(path.relative_to(SAMPLE_DATA).as_posix() for path in paths)


ENGLISH = names("en/*.*", "en/notes/*.txt")
MULTILINGUAL = names("multilingual/*.jsonl")
CLEAN = [*ENGLISH, "code/code.jsonl", *MULTILINGUAL]
FAULTS = names("faults/*.*")
WORLD = names("multilingual/*.jsonl", "faults/world/*.jsonl")
QUICKSTART = SAMPLE_DATA.parent / "pipelines" / "quickstart.yaml"


def documents(files: list[str]) -> list[dict]:
    return [record for name in files for record in records(name)]


def by_id(name: str) -> dict[str, str]:
    return {record["id"]: record["text"] for record in records(name)}


def planted() -> list[tuple[list[str], list[str], str]]:
    """Return the rows of the README's table: files, ids, what happens."""
    readme = (SAMPLE_DATA / "README.md").read_text()
    table = readme.split("## What is planted where")[1]
    rows = [line.strip("| ").split(" | ") for line in table.splitlines() if line.startswith("| `")]
    return [
        (re.findall(r"`([^`]+)`", files), re.findall(r"`([^`]+)`", ids), fate)
        for files, ids, _, fate in rows
    ]


def test_there_are_enough_documents():
    assert len(documents(CLEAN)) >= 250
    assert len(documents(ENGLISH)) >= 110
    assert len(records("code/code.jsonl")) >= 30
    assert len(MULTILINGUAL) >= 9
    assert all(len(records(name)) >= 5 for name in MULTILINGUAL)


def test_it_stays_small():
    sizes = [path.stat().st_size for path in SAMPLE_DATA.rglob("*") if path.is_file()]
    assert sum(sizes) < BYTES_AT_MOST


@pytest.mark.parametrize("name", CLEAN)
def test_clean_files_hold_documents_alone(name):
    path = SAMPLE_DATA / name
    found = records(name)
    if path.suffix not in {".parquet", ".txt"}:
        assert len(found) == len(raw(path).splitlines())
    assert all(isinstance(record["text"], str) and record["text"].strip() for record in found)
    assert all(isinstance(record["id"], str) and record["id"] for record in found)


def test_clean_ids_are_unique():
    counts = Counter(record["id"] for record in documents(CLEAN))
    assert [name for name, count in counts.items() if count > 1] == []


def test_texts_of_english_and_code_are_unique():
    texts = [record["text"] for record in documents([*ENGLISH, "code/code.jsonl"])]
    assert len(set(texts)) == len(texts)


def test_english_documents_are_long_enough():
    short = [record["id"] for record in documents(ENGLISH) if len(record["text"].split()) < 70]
    assert short == []


def test_some_documents_have_crlf():
    crlf = [record["id"] for record in documents(ENGLISH) if "\r\n" in record["text"]]
    assert {"let-007", "gui-014", "plum-cake.txt"} <= set(crlf)


@pytest.mark.parametrize(("files", "ids", "fate"), planted())
def test_planted_documents_exist(files, ids, fate):
    assert fate
    content = b"\n".join(raw(SAMPLE_DATA / name) for name in files)
    there = {record.get("id") for name in files for record in records(name)}
    for identity in ids:
        assert identity in there or identity.encode() in content


def test_every_faulty_document_is_in_the_table():
    listed = {identity for _, ids, _ in planted() for identity in ids}
    there = {record["id"] for record in documents([*FAULTS, "faults/world/planted.jsonl"])}
    assert there <= listed


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def jaccard(a: str, b: str, n: int = 5) -> float:
    first, second = (
        {tuple(w[i : i + n]) for i in range(len(w) - n + 1)} for w in (words(a), words(b))
    )
    return len(first & second) / len(first | second)


FAMILIES = [
    ("n1-a", ["n1-b", "n1-c", "n1-d", "n1-e"]),
    ("enc-038", ["n2-b", "n2-c", "n2-d"]),
    ("n3-a", ["n3-b", "n3-c"]),
    ("n4-a", ["n4-b", "n4-c", "n4-d"]),
    ("code-019", ["code-035", "code-036"]),
]


@pytest.mark.parametrize(("representative", "others"), FAMILIES)
def test_families_are_near(representative, others):
    texts = {
        **by_id("faults/near.jsonl"),
        **by_id("faults/duplicates-b.jsonl"),
        **by_id("en/encyclopedia.jsonl"),
        **by_id("code/code.jsonl"),
    }
    assert len(words(texts[representative])) >= 200
    for other in others:
        assert 0.85 <= jaccard(texts[representative], texts[other]) < 1
        in_one_source = representative != "enc-038"
        assert len(texts[other]) < len(texts[representative]) or not in_one_source


def test_chain_is_no_family():
    texts = by_id("faults/near.jsonl")
    a, b, c = (texts[f"chain-{letter}"] for letter in "abc")
    assert len(a) > len(b) > len(c)
    assert jaccard(a, b) > 0.8
    assert jaccard(b, c) > 0.8
    assert jaccard(a, c) < 0.75


def test_duplicates_are_exact():
    first, second = by_id("faults/duplicates-a.jsonl"), by_id("faults/duplicates-b.jsonl")
    assert first["d-record"] == second["d-record"]
    assert first["d-exact-1"] == second["d-exact-2"] != second["d-exact-3"]
    assert words(second["d-exact-3"]) == words(first["d-exact-1"])


def riddles() -> dict[str, dict]:
    return {record["id"]: record for record in records("benchmark/riddles.jsonl")}


def test_benchmark_has_long_and_short_items():
    lengths = {name: len(words(item["question"])) for name, item in riddles().items()}
    assert sum(name.startswith("r") and length >= 20 for name, length in lengths.items()) == 40
    assert sum(name.startswith("s") and length < 10 for name, length in lengths.items()) == 5
    assert all(item["answer"] for item in riddles().values())


def quoted(text: str) -> list[tuple[int, int]]:
    """Return the character ranges of the items that a text quotes, in order."""
    places = [(text.find(item["question"]), len(item["question"])) for item in riddles().values()]
    return sorted((start, start + length) for start, length in places if start >= 0)


def test_contaminated_documents():
    texts = by_id("faults/contamination.jsonl")
    ((start, stop),) = quoted(texts["con-001"])
    assert start >= 1000
    assert len(texts["con-001"]) - stop >= 1000
    assert len(quoted(texts["con-006"])) == 2
    many = quoted(texts["con-002"])
    assert len(many) >= 11
    assert all(b[0] - a[1] > 600 for a, b in pairwise(many))
    assert quoted(texts["con-007"]) == []


def test_a_common_phrase_is_in_an_item_and_in_many_reviews():
    phrase = words(riddles()["r35"]["question"])[6:]
    needle = " ".join(phrase[: phrase.index("price") + 1])
    assert len(needle.split()) >= 13
    holders = [
        r["id"] for r in records("en/reviews.parquet") if needle in " ".join(words(r["text"]))
    ]
    assert len(holders) > 10


def test_blocklist_terms_are_used():
    terms = (SAMPLE_DATA / "blocklist.txt").read_text().split("\n")[:-1]
    text = "\n".join(
        record["text"].lower()
        for name in ("faults/blocklist.jsonl", "faults/world/planted.jsonl")
        for record in records(name)
    )
    assert terms
    assert all(term and term == term.strip() and term in text for term in terms)


def test_broken_lines():
    lines = (SAMPLE_DATA / "faults/broken.jsonl").read_bytes().split(b"\n")
    assert len(lines) == 14
    assert sum(not line.strip() for line in lines) == 2
    assert lines[-1]
    with pytest.raises(UnicodeDecodeError):
        lines[1].decode()
    with pytest.raises(EOFError):
        gzip.decompress((SAMPLE_DATA / "faults/truncated.jsonl.gz").read_bytes())
    assert [r["id"] for r in records("faults/truncated.jsonl.gz")] == ["t-1", "t-2", "t-3"]
    assert (SAMPLE_DATA / "faults/empty.jsonl").read_bytes() == b""
    assert (SAMPLE_DATA / "faults/bom.jsonl").read_bytes().startswith(b"\xef\xbb\xbf{")


def test_tokenizer_round_trips():
    tokenizer = Tokenizer.from_file(str(SAMPLE_DATA / "tokenizer.json"))
    assert tokenizer.get_vocab_size() == 4096
    assert tokenizer.token_to_id("<|endoftext|>") is not None
    for record in documents(CLEAN):
        ids = tokenizer.encode(record["text"]).ids
        assert tokenizer.decode(ids, skip_special_tokens=False) == record["text"]


def signals(texts: list[str]) -> pa.Table:
    """Measure whatever the quickstart's rules may look at."""
    column = pa.array([text.replace("\r\n", "\n") for text in texts], pa.large_string())
    table = pa.Table.from_batches([measure_document_signals(column)])
    letters = table.column("letters").to_numpy()
    terms = TermLists({"silly": read_terms(str(SAMPLE_DATA / "blocklist.txt"))})
    for batch in (LanguageModel.load().measure(column, letters), terms.measure(column)):
        for name in batch.schema.names:
            table = table.append_column(name, batch.column(name))
    return table


def first_reasons(source: str, files: list[str]) -> dict[str, str | None]:
    """Return for every readable document the rule of the quickstart that drops it."""
    rows = [r for r in documents(files) if isinstance(r.get("text"), str)]
    rows = [r for r in rows if "\ud83d" not in r["text"]]  # the lone surrogate
    evaluator = RuleEvaluator(rules_for_source(load_recipe(QUICKSTART), source))
    first = first_reason(evaluator.evaluate(signals([r["text"] for r in rows])))
    reasons = np.array([*evaluator.reasons, None], object)
    return dict(zip((r["id"] for r in rows), reasons[first], strict=True))


@pytest.mark.parametrize(
    ("source", "files"),
    [
        ("english", [name for name in ENGLISH if "notes" not in name]),
        ("notes", [name for name in ENGLISH if "notes" in name]),
        ("code", ["code/code.jsonl"]),
        ("faults", FAULTS),
    ],
)
def test_rules_drop_what_the_table_says_and_nothing_else(source, files):
    table = {i: re.match(r"`(\w+\.\w+)`$", fate) for _, ids, fate in planted() for i in ids}
    by_rules = {
        identity: found[1]
        for identity, found in table.items()
        if found and found[1].split(".")[0] not in {"contamination", "cut"}
    }
    for identity, reason in first_reasons(source, files).items():
        assert (identity, reason) == (identity, by_rules.get(identity))


def test_rules_of_the_world_drop_what_is_planted():
    dropped = {i: r for i, r in first_reasons("world", WORLD).items() if r}
    assert dropped["w-blocklist-ja"] == "blocklist.silly"
    assert dropped["w-unknown-signs"] == dropped["w-unknown-short"] == "language.not_kept"
    assert dropped["w-wrong-language"] == dropped["ru-009"] == "language.not_kept"
    assert dropped["ko-005"] == "anomalies.digits"
    assert {"ja-001", "zh-001", "th-001", "ar-001", "hi-001"}.isdisjoint(dropped)

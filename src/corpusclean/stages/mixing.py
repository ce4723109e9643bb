"""Mix: the plan of the shards, and how one shard is written.

The plan is made from the indexes of the token parts alone, part after part; a shard is then
written from slices of the parts, without a shuffle of tokens.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, astuple, dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from corpusclean import files
from corpusclean.engine.references import OUTPUT, Ref, Task
from corpusclean.engine.steps import Output, Workplace
from corpusclean.errors import ShardError
from corpusclean.mixture.copies import (
    BUCKETS,
    Threshold,
    choose_histogram,
    copies_of,
    crossing_bucket,
    exact_threshold,
    whole_copies,
)
from corpusclean.shards.formats import FORMATS
from corpusclean.shards.gather import gather
from corpusclean.shards.layout import plan_shards
from corpusclean.shards.manifest import MANIFEST, shard_name
from corpusclean.shards.nanotron import NanotronWriter
from corpusclean.shards.provenance import write_provenance
from corpusclean.shards.stream import (
    PartIndex,
    Pieces,
    Place,
    ShardRange,
    merge_pieces,
    position_histogram,
    select_bucket,
    select_range,
)
from corpusclean.shards.writer import ShardWriter
from corpusclean.tokens.parts import TokenPart, checks_of

__all__ = ["MixSettings", "plan_mix", "write_shard"]

_MOST_OPEN = 256
_SHIFT = np.uint64(48)
_UNCHECKED = np.uint64(0)
"""Stands for the checksum of a piece of a document, which the index does not have."""


@dataclass(frozen=True, slots=True)
class MixSettings:
    """What mixing needs to know besides the token parts."""

    name: str
    targets: dict[str, int]
    """The tokens that each source is to give."""
    supply: dict[str, int]
    """The tokens that each source has."""
    shard_tokens: int
    format: str
    dtype: str
    """The type of ids that the format has for the tokenizer's vocabulary."""
    tokenizer: str


@dataclass(frozen=True, slots=True)
class _Copies:
    """How often the documents of a source are emitted."""

    whole: int
    threshold: Threshold | None

    @property
    def most(self) -> int:
        return self.whole + (self.threshold is not None)

    def of(self, part: TokenPart, rows: slice) -> np.ndarray:
        return copies_of(part.choose[rows], part.uid[rows], self.whole, self.threshold)

    def function(self, part: TokenPart) -> Callable[[slice], np.ndarray]:
        return lambda rows: self.of(part, rows)

    @classmethod
    def loaded(cls, said: dict[str, Any]) -> "_Copies":
        bound = said["threshold"]
        threshold = Threshold(bound["choose"], tuple(bound["uid"])) if bound else None
        return cls(said["whole"], threshold)


def _index(part: TokenPart) -> PartIndex:
    return PartIndex(part.key, part.uid, part.tokens)


def plan_mix(task: Task, settings: MixSettings, place: Workplace) -> Output:
    """Choose the copies of every document and divide the stream into shards."""
    paths: dict[str, list[str]] = {name: [] for name in settings.targets}
    for item in task.inputs:
        ref = Ref(*item)
        if ref.label:
            paths[ref.label].append(ref.path)
    sources = list(settings.targets)
    copies = {name: _copies_of_source(name, paths[name], settings, place) for name in sources}
    total = np.zeros(BUCKETS, np.int64)
    longest = 0
    output = Output()
    for name in sources:
        documents = tokens = 0
        for part in _opened(paths[name], place):
            count = copies[name].of(part, slice(None))
            total += position_histogram(part.key, part.tokens, count)
            longest = max(longest, int(part.tokens[count > 0].max(initial=0)))
            documents += int(np.count_nonzero(count))
            tokens += int((part.tokens * count).sum())
        output.counts.setdefault("sources", {})[name] = {"emitted": documents, "tokens": tokens}

    def refine(bucket: int) -> Pieces:
        found = [
            select_bucket(
                _index(part),
                copies[name].function(part),
                copies[name].most,
                settings.shard_tokens,
                bucket,
            )
            for name in sources
            for part in _opened(paths[name], place)
        ]
        return merge_pieces(found)[0]

    shards = plan_shards(total, longest, settings.shard_tokens, refine)
    plan = {
        "parts": paths,
        "copies": {name: asdict(chosen) for name, chosen in copies.items()},
        "shards": [astuple(shard) for shard in shards],
    }
    path = f"{place.folder}/{task.key}.plan"
    file = files.publish_bytes(place.path(path), json.dumps(plan, sort_keys=True).encode())
    reference = output.published(path, file)
    for number in range(len(shards)):
        output.send("shards", f"{number:05}", reference)
    return output


def _opened(paths: list[str], place: Workplace) -> Iterator[TokenPart]:
    for path in paths:
        yield TokenPart.open(place.path(path))


def _copies_of_source(
    name: str, paths: list[str], settings: MixSettings, place: Workplace
) -> _Copies:
    """Find the threshold that brings a source nearest to its target."""
    whole, rest = whole_copies(settings.targets[name], settings.supply[name])
    if rest == 0:
        return _Copies(whole, None)
    histogram = np.zeros(BUCKETS, np.int64)
    for part in _opened(paths, place):
        histogram += choose_histogram(part.choose, part.tokens)
    bucket, before = crossing_bucket(histogram, rest)
    chosen: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
    for part in _opened(paths, place):
        rows = np.flatnonzero((part.choose >> _SHIFT) == np.uint64(bucket))
        chosen.append((part.choose[rows], part.uid[rows], part.tokens[rows]))
    choose, uid, tokens = (np.concatenate(columns) for columns in zip(*chosen, strict=True))
    return _Copies(whole, exact_threshold(choose, uid, tokens, rest - before))


class _TokensOf(Sequence[np.ndarray]):
    """The ids of token parts, mapped when they are asked for, not more than so many at a time."""

    def __init__(self, paths: list[str], place: Workplace) -> None:
        self._paths = paths
        self._get = lru_cache(maxsize=_MOST_OPEN)(
            lambda i: TokenPart.open(place.path(paths[i])).ids
        )

    def __len__(self) -> int:
        return len(self._paths)

    def __getitem__(self, i: Any) -> Any:
        return self._get(int(i))


def write_shard(task: Task, settings: MixSettings, place: Workplace) -> Output:
    """Write one shard and its provenance from slices of the token parts."""
    plan = json.loads(files.read_bytes(place.path(str(task.inputs[0][0]))))
    number, count = int(task.key), len(plan["shards"])
    first, stop, tokens = plan["shards"][number]
    shard = ShardRange(Place(*first), Place(*stop) if stop else None, tokens)
    # A folder with a manifest is a finished one: it goes before the first shard changes.
    files.remove(place.path(MANIFEST))
    known = FORMATS[settings.format]
    if known.index is not None:
        files.remove(place.path(f"shards/{known.index}"))
    sources = list(plan["parts"])
    paths = [path for name in sources for path in plan["parts"][name]]
    source_of = np.repeat(np.arange(len(sources)), [len(plan["parts"][n]) for n in sources])
    copies = {name: _Copies.loaded(said) for name, said in plan["copies"].items()}
    found, starts, checks = [], [], []
    for i, path in enumerate(paths):
        part = TokenPart.open(place.path(path))
        chosen = copies[sources[source_of[i]]]
        pieces = select_range(
            _index(part), chosen.function(part), chosen.most, settings.shard_tokens, shard
        )
        found.append(pieces)
        starts.append(part.start[pieces.row])
        whole = pieces.tokens == part.tokens[pieces.row]
        checks.append(np.where(whole, part.check[pieces.row], _UNCHECKED))
    pieces, part_of = merge_pieces(found)
    begin = _in_stream_order(starts, part_of) + pieces.start
    check = _in_stream_order(checks, part_of)
    name = shard_name(settings.name, number, count)
    prefix = f"shards/{name}"
    with _writer(place.path(prefix), settings) as writer:
        done = 0
        for ids, lengths in gather(_TokensOf(paths, place), part_of, begin, pieces.tokens):
            here = slice(done, done + len(lengths))
            _compare(ids, lengths, check[here], part_of[here], paths)
            done = here.stop
            writer.add_documents(ids, lengths)
            place.progress(len(lengths), ids.nbytes)
    provenance_path = f"provenance/{name}.parquet"
    provenance = write_provenance(
        place.path(provenance_path),
        number,
        uid=pieces.uid,
        source=source_of[part_of],
        sources=sources,
        copy=pieces.copy,
        document_start=pieces.start,
        tokens=pieces.tokens,
    )
    info = writer.info
    written = {f"{prefix}{file.suffix}": file.bytes for file in info.files}
    written[provenance_path] = provenance.bytes
    output = Output(written=written, documents=info.documents, bytes=info.bytes)
    output.send(OUTPUT, task.key, (prefix, astuple(info), provenance_path, astuple(provenance)))
    return output


def _writer(prefix: str, settings: MixSettings) -> ShardWriter:
    if settings.format == "nanotron":
        return NanotronWriter(prefix, settings.dtype, tokenizer=settings.tokenizer)
    return FORMATS[settings.format].writer(prefix, settings.dtype)


def _compare(
    ids: np.ndarray, lengths: np.ndarray, check: np.ndarray, part: np.ndarray, paths: list[str]
) -> None:
    """Raise ShardError if the ids of a document are not those that were written."""
    wrong = (checks_of(ids, lengths) != check) & (check != _UNCHECKED)
    if wrong.any():
        path = paths[int(part[np.flatnonzero(wrong)[0]])]
        raise ShardError(
            f"{path}.tokens: damaged: the ids of a document have another checksum than its index "
            f"says. {files.REMAKE}"
        )


def _in_stream_order(columns: list[np.ndarray], part_of: np.ndarray) -> np.ndarray:
    """Bring a column of every part's pieces into the order of the merged pieces.

    Each part's pieces are in stream order already, so the next piece of a part in the merged
    order is the part's next one.
    """
    merged = np.concatenate(columns) if columns else np.empty(0, np.int64)
    result = np.empty(len(merged), merged.dtype)
    result[np.argsort(part_of, kind="stable")] = merged
    return result

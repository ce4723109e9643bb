"""Provenance: from which document every token of a shard comes.

One Parquet file a shard, a row for each contiguous piece, in the order of the tokens:

| column | means |
|---|---|
| shard | place of the shard in the manifest's list, from 0 |
| sequence | row of the shard's index, from 0 |
| start | first token of the piece within that sequence |
| uid, source, copy | the document, its source, and which repetition of it this is, from 0 |
| document_start | first token of the piece within the document |
| tokens | length of the piece |

The bytes depend on the rows alone (and on the version of the Parquet writer).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from corpusclean import files
from corpusclean.errors import ShardError

__all__ = ["SCHEMA", "ProvenanceInfo", "ProvenanceRows", "read_provenance", "write_provenance"]

SCHEMA = pa.schema(
    [
        pa.field("shard", pa.int64(), nullable=False),
        pa.field("sequence", pa.int64(), nullable=False),
        pa.field("start", pa.int64(), nullable=False),
        pa.field("uid", pa.binary(16), nullable=False),
        pa.field("source", pa.string(), nullable=False),
        pa.field("copy", pa.int64(), nullable=False),
        pa.field("document_start", pa.int64(), nullable=False),
        pa.field("tokens", pa.int64(), nullable=False),
    ]
)
_COUNTERS = ("shard", "sequence", "start", "copy", "document_start", "tokens")
_GROUP_ROWS = 1 << 17


@dataclass(frozen=True)
class ProvenanceInfo:
    """What was written; `sha256` is that of the file."""

    path: str
    rows: int
    bytes: int
    sha256: str


@dataclass(frozen=True)
class ProvenanceRows:
    """Rows of one file; integers are int64, `uid` is uint64[n, 2] in big-endian halves.

    `source` int[n] points into `sources`.
    """

    shard: np.ndarray
    sequence: np.ndarray
    start: np.ndarray
    uid: np.ndarray
    source: np.ndarray
    sources: list[str]
    copy: np.ndarray
    document_start: np.ndarray
    tokens: np.ndarray

    def __len__(self) -> int:
        return len(self.tokens)


def write_provenance(
    path: str | Path,
    shard: int,
    *,
    uid: np.ndarray,
    source: np.ndarray,
    sources: Sequence[str],
    copy: np.ndarray,
    document_start: np.ndarray,
    tokens: np.ndarray,
    sequence: np.ndarray | None = None,
    start: np.ndarray | None = None,
) -> ProvenanceInfo:
    """Publish the provenance of one shard, its pieces in the order of their tokens.

    Arrays as in `ProvenanceRows`. Without `sequence` and `start`, each piece is a sequence of its
    own.
    """
    count = len(tokens)
    halves = np.ascontiguousarray(uid.astype(">u8"))
    columns = [
        pa.array(np.full(count, shard, np.int64)),
        pa.array(np.arange(count) if sequence is None else sequence, pa.int64()),
        pa.array(np.zeros(count, np.int64) if start is None else start, pa.int64()),
        pa.FixedSizeBinaryArray.from_buffers(pa.binary(16), count, [None, pa.py_buffer(halves)]),
        pa.array(list(sources), pa.string()).take(pa.array(source, pa.int64())),
        pa.array(copy, pa.int64()),
        pa.array(document_start, pa.int64()),
        pa.array(tokens, pa.int64()),
    ]
    table = pa.Table.from_arrays(columns, schema=SCHEMA)
    with files.publishing(path) as file:
        file.with_sha256()
        pq.write_table(
            table,
            file,
            row_group_size=_GROUP_ROWS,
            compression="zstd",
            compression_level=3,
            version="2.6",
            use_dictionary=["source"],
            column_encoding=dict.fromkeys(_COUNTERS, "DELTA_BINARY_PACKED"),
        )
    return ProvenanceInfo(str(path), count, file.bytes, file.sha256)


def read_provenance(content: bytes, path: str) -> Iterator[ProvenanceRows]:
    """Yield the rows of a file, given its bytes, a row group at a time.

    `path` is named in messages. Raises ShardError for what is not such a file.
    """
    try:
        file = pq.ParquetFile(pa.BufferReader(content))
        found = file.schema_arrow
        if not found.equals(SCHEMA):
            raise ShardError(f"{path}: found columns {found.names}, expected {SCHEMA.names}")
        for group in range(file.num_row_groups):
            yield _rows(file.read_row_group(group))
    except (pa.ArrowException, OSError) as error:
        raise ShardError(f"{path}: not a readable Parquet file: {error}") from None


def _rows(table: pa.Table) -> ProvenanceRows:
    columns = {name: table.column(name).combine_chunks() for name in SCHEMA.names}
    uid = columns.pop("uid")
    halves = np.frombuffer(uid.buffers()[1], ">u8")[2 * uid.offset : 2 * (uid.offset + len(uid))]
    names = columns.pop("source").dictionary_encode()
    return ProvenanceRows(
        uid=halves.astype(np.uint64).reshape(-1, 2),
        source=names.indices.to_numpy(),
        sources=names.dictionary.to_pylist(),
        **{name: column.to_numpy() for name, column in columns.items()},
    )

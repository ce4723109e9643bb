"""What `work/` still knows of documents: columns of their measured parts, looked up by uid."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from corpusclean import files

__all__ = ["columns_of_documents", "measured_parts"]


def measured_parts(directory: str) -> list[str]:
    """Return the folders of the measured parts of a run that are still there, sorted."""
    try:
        said = json.loads(files.read_bytes(files.join(directory, "work/measure/stage.json")))
        found = {str(item[0]).rpartition("/")[0] for _, item in said["outputs"]}
    except (OSError, ValueError, KeyError, TypeError, IndexError):
        return []
    folders = sorted(files.join(directory, "work", folder) for folder in found)
    return [folder for folder in folders if files.exists(files.join(folder, "text.parquet"))]


def columns_of_documents(
    directory: str, uids: Iterable[bytes], columns: Mapping[str, list[str] | None]
) -> dict[bytes, dict[str, Any]]:
    """Return columns of documents by uid; nothing of those that are not found.

    `columns` are those wanted of each family, None for all. Only the row groups that hold one of
    the documents are read.
    """
    wanted = set(uids)
    found: dict[bytes, dict[str, Any]] = {}
    for folder in measured_parts(directory):
        if not wanted:
            break
        for group, rows in _rows(folder, wanted):
            for family, names in columns.items():
                for uid, row in _read(folder, family, group, rows, names):
                    found.setdefault(uid, {}).update(row)
            wanted -= set(rows.values())
    return found


def _rows(folder: str, wanted: set[bytes]) -> Iterator[tuple[int, dict[int, bytes]]]:
    """Yield (row group, {row in it: uid}) where a part holds wanted documents."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    with files.open_read(files.join(folder, "text.parquet")) as raw:
        file = pq.ParquetFile(raw)
        values = pa.array(sorted(wanted), pa.binary(16))
        for group in range(file.num_row_groups):
            uids = file.read_row_group(group, ["uid"]).column("uid").combine_chunks()
            rows = pc.indices_nonzero(pc.is_in(uids, values)).to_pylist()
            if rows:
                yield group, {row: uids[row].as_py() for row in rows}


def _read(
    folder: str, family: str, group: int, rows: dict[int, bytes], names: list[str] | None
) -> Iterator[tuple[bytes, dict[str, Any]]]:
    import pyarrow.parquet as pq

    path = files.join(folder, f"{family}.parquet")
    if not files.exists(path):
        return
    with files.open_read(path) as raw:
        table = pq.ParquetFile(raw).read_row_group(group, names).take(list(rows))
    yield from zip(rows.values(), table.to_pylist(), strict=True)

"""Questions in SQL about a run: its documents, their verdicts and where their tokens went."""

import math
from pathlib import Path
from typing import Any

from corpusclean import files
from corpusclean.errors import RecipeError

__all__ = ["query_run", "show"]

_FAMILIES = ("signals", "language", "blocklists")
_PLACE = "split_part(filename, '/', -2) AS part, file_row_number AS row"


def query_run(directory: Path, sql: str) -> dict[str, Any]:
    """Return `{"columns": [...], "rows": [{...}]}` of a query over a run's views.

    Raises RecipeError if the folder has neither verdicts nor provenance, and for SQL that is
    wrong or not a SELECT.
    """
    import duckdb

    from corpusclean.engine.results import stage_outputs

    work = str(directory / "work")
    measured = _files(work, stage_outputs(work, "measure"))
    verdicts = _files(work, stage_outputs(work, "select"))
    provenance = [p for p in files.list_files(directory / "provenance") if p.endswith(".parquet")]
    if not (measured and verdicts) and not provenance:
        raise RecipeError(
            f"{directory}: found neither verdicts nor provenance; expected the output folder of a "
            "run that got past select"
        )
    connection = duckdb.connect(":memory:")
    try:
        _only_select(connection, sql)
        _make_views(connection, measured, verdicts, provenance)
        found = connection.execute(sql)
        names = _distinct([column[0] for column in found.description or []])
        rows = found.fetchall()
    except duckdb.Error as error:
        hint = "" if measured else "\nOnly provenance is there: out/work is deleted or incomplete."
        raise RecipeError(f"query: {error}{hint}") from None
    plain = [{n: _plain(value) for n, value in zip(names, row, strict=True)} for row in rows]
    return {"columns": names, "rows": plain}


def _files(work: str, outputs: list[tuple[str, tuple[Any, ...]]]) -> dict[str, list[str]]:
    """Return the existing files of a stage by family (the file's name without its ending)."""
    found: dict[str, list[str]] = {}
    for key, item in outputs:
        name = str(item[0]).rpartition("/")[2].removesuffix(".parquet")
        path = files.join(work, str(item[0]))
        if files.exists(path):
            found.setdefault("verdicts" if name == key else name, []).append(path)
    return found


def _only_select(connection: Any, sql: str) -> None:
    import duckdb

    statements = connection.extract_statements(sql)
    if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
        raise RecipeError("query: expected one SELECT statement; a run is read, never written")


def _make_views(
    connection: Any,
    measured: dict[str, list[str]],
    verdicts: dict[str, list[str]],
    provenance: list[str],
) -> None:
    """Make the views, then put every other file out of reach."""
    readable = [
        path for group in (measured, verdicts) for paths in group.values() for path in paths
    ]
    connection.execute("SET threads = 2")
    if measured.get("text"):
        connection.execute(f"CREATE VIEW documents AS {_documents(measured)}")
    if verdicts.get("verdicts"):
        connection.execute(f"CREATE VIEW verdicts AS {_verdicts(verdicts['verdicts'])}")
    if provenance:
        columns = "* REPLACE (lower(hex(uid)) AS uid)"
        connection.execute(f"CREATE VIEW provenance AS SELECT {columns} FROM {_read(provenance)}")
    connection.execute(f"SET allowed_paths = {_list(readable + provenance)}")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")


def _list(paths: list[str]) -> str:
    return "[" + ", ".join("'" + path.replace("'", "''") + "'" for path in paths) + "]"


def _read(paths: list[str]) -> str:
    return f"read_parquet({_list(paths)}, filename = true, file_row_number = true)"


def _documents(measured: dict[str, list[str]]) -> str:
    sql = (
        f"SELECT lower(hex(uid)) AS uid, id, source, url, metadata, {_PLACE} "
        f"FROM {_read(measured['text'])}"
    )
    for family in _FAMILIES:
        if family in measured:
            columns = "* EXCLUDE (filename, file_row_number)"
            other = f"SELECT {columns}, {_PLACE} FROM {_read(measured[family])}"
            sql = f"SELECT * FROM ({sql}) JOIN ({other}) USING (part, row)"
    return sql


def _verdicts(paths: list[str]) -> str:
    part = "parse_filename(filename, true) AS part, file_row_number AS row"
    return (
        "SELECT lower(hex(uid)) AS uid, kept, reasons, lower(hex(duplicate_of)) AS duplicate_of, "
        f"cluster_size, cuts, {part} FROM {_read(paths)}"
    )


def _distinct(names: list[str]) -> list[str]:
    """Give a second column of a name another one, as a row holds each name once."""
    told: list[str] = []
    for name in names:
        number, unused = 2, name
        while unused in told:
            unused, number = f"{name}_{number}", number + 1
        told.append(unused)
    return told


def _plain(value: Any) -> Any:
    """Return a value that JSON can hold."""
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return str(value)


def show(result: dict[str, Any]) -> str:
    """Return the rows as a table of text."""
    from corpusclean.cli.tables import table

    rows = [[row[name] for name in result["columns"]] for row in result["rows"]]
    return table(result["columns"], rows)

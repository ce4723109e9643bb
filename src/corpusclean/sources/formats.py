"""Which formats are read, told from a file's name.

This table and the one in `reading` are the only places that know all formats.
"""

from typing import Literal

from corpusclean.errors import InputError

__all__ = ["Compression", "Format", "format_of", "without_compression"]

Format = Literal["jsonl", "parquet", "text"]
Compression = Literal["gzip", "zstd"]

_FORMATS: dict[str, Format] = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".parquet": "parquet",
    ".txt": "text",
}
_COMPRESSIONS: dict[str, Compression] = {".gz": "gzip", ".zst": "zstd", ".zstd": "zstd"}


def without_compression(name: str) -> tuple[str, Compression | None]:
    """Return a file name without the ending of its compression, and that compression."""
    for ending, compression in _COMPRESSIONS.items():
        if name.lower().endswith(ending):
            return name[: -len(ending)], compression
    return name, None


def format_of(path: str) -> tuple[Format, Compression | None]:
    """Return the format and compression that a file's name tells; case does not matter.

    Raises InputError for a name that tells none. Parquet has its compression inside, so
    `.parquet.gz` is none.
    """
    name, compression = without_compression(path)
    for ending, known in _FORMATS.items():
        if name.lower().endswith(ending) and not (known == "parquet" and compression):
            return known, compression
    raise InputError(
        f"{path}: the name does not tell a format that can be read; expected a name that ends in "
        f"{', '.join(_FORMATS)}, and for all but .parquet also with {', '.join(_COMPRESSIONS)} "
        "after it. Narrow the pattern in the recipe, or rename the file."
    )

"""Comparing the outputs of runs."""

import json
from pathlib import Path
from typing import Any

from corpusclean import files


def same_bytes(output: Path) -> dict[str, Any]:
    """Return what must not differ between runs: checksums, and the manifest without the recipe's.

    See the design: shards, provenance, ledger, and the manifest without `recipe.sha256`.
    """
    found: dict[str, Any] = {}
    for folder in ("shards", "provenance"):
        for path in sorted((output / folder).rglob("*")):
            found[str(path.relative_to(output))] = files.checksum(path)
    found["ledger"] = json.loads((output / "ledger.json").read_text())
    manifest = json.loads((output / "manifest.json").read_text())
    del manifest["recipe"]["sha256"]
    found["manifest"] = manifest
    return found

"""What every test may use."""

import os
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

# Worker processes inherit the path, and so find the step functions of the engine's tests.
sys.path += [str(ROOT / "tests" / "corpus"), str(ROOT / "tests" / "engine" / "helpers")]


@pytest.fixture
def real_data():
    """Return a function from a relative path to a real corpus file; skips where it is absent."""

    def find(relative: str) -> Path:
        base = Path(os.environ.get("CORPUSCLEAN_DATA", ROOT.parent / "shared" / "data"))
        path = base / relative
        if not path.exists():
            pytest.skip(f"real data is not here: {relative} (set CORPUSCLEAN_DATA)")
        return path

    return find


@pytest.fixture
def sample_data() -> Path:
    """The folder of the sample corpus."""
    return ROOT / "sample_data"

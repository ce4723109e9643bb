"""The texts that peers are asked about, and who can be asked."""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

sys.path.append(str(Path(__file__).parent))

from asking import ask, texts_of

_REAL = [
    "linux-doc-6.1",
    "libreoffice-help-zh-cn",
    "libreoffice-help-hi",
    "manpages-ja",
    "manpages-de",
    "debian-faq-ru",
    "fortunes",
    "code",
]

WRITTEN = [
    "",
    " \n\t\n ",
    "one line here\ntwo line here\none line here",
    "The mat and the cat sat to have tea with the cat and the mat of that cat to be.\n" * 3,
    "spam ham eggs toast jam " * 40,
    "你好，世界。今天天气很好。\n• 第一\n- 第二",
    "first paragraph\nof two lines\n\nsecond\n\nfirst paragraph\nof two lines",
    "# heading ... and … more ### words\n* star\n- dash\n• dot\nends so...\nends so…",
    "مرحبا بالعالم\nمرحبا بالعالم",
    "e\u0301t\u00e9 \U0001f600 \U0001f600 x\r\nsecond line\r\nsecond line\r\n",
]


def _interpreter(variable: str) -> str:
    python = os.environ.get(variable)
    if not python:
        pytest.skip(f"{variable} names no Python (benchmarks/README.md says how to make one)")
    return python


@pytest.fixture(scope="session")
def datatrove() -> Callable[..., list[dict[str, Any]]]:
    """Return a function from texts to what datatrove says of them."""
    python = _interpreter("CORPUSCLEAN_DATATROVE_PYTHON")
    return lambda texts, *arguments: ask(python, "datatrove_values.py", texts, *arguments)


@pytest.fixture(scope="session")
def dolma() -> Callable[..., list[dict[str, Any]]]:
    """Return a function from texts to what Dolma says of them."""
    python = _interpreter("CORPUSCLEAN_DOLMA_PYTHON")
    return lambda texts: ask(python, "dolma_values.py", texts)


@pytest.fixture(scope="session", params=["sample", "real"])
def texts(request: pytest.FixtureRequest) -> list[str]:
    """The documents of the sample corpus and some written here, or real ones where they are."""
    root = Path(__file__).resolve().parents[3]
    if request.param == "sample":
        sample = root / "sample_data"
        paths = [sample / "en" / "encyclopedia.jsonl", sample / "code" / "code.jsonl"]
        paths += sorted((sample / "multilingual").glob("*.jsonl"))
        paths += [sample / "faults" / f"{name}.jsonl" for name in ("repetition", "quality")]
        return WRITTEN + [text for path in paths for text in texts_of(path, 1000)]
    data = Path(os.environ.get("CORPUSCLEAN_DATA", root.parent / "shared" / "data"))
    if not (data / "corpus").exists():
        pytest.skip("real data is not here (set CORPUSCLEAN_DATA)")
    paths = [data / "corpus" / f"{name}.jsonl.zst" for name in _REAL]
    return [text for path in paths for text in texts_of(path, 40, most_characters=30_000)]

"""The families of columns that measure makes of a text, each a pure function of a batch.

A family has a fingerprint of its own, so that only what changed is made again from stored text.
"""

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from corpusclean import files
from corpusclean.engine.receipts import fingerprint
from corpusclean.recipe import Recipe
from corpusclean.rules.loading import rules_for_source

__all__ = ["Family", "families_of", "family_columns"]

Columns = Mapping[str, pa.RecordBatch]
"""The columns of other families for the same rows."""


@dataclass(frozen=True, slots=True)
class Family:
    """A set of columns, what shapes it, and the families whose columns it reads."""

    name: str
    fingerprint: str
    settings: tuple[Any, ...]
    needs: tuple[str, ...] = field(default=())


def families_of(recipe: Recipe, index_folder: str | None) -> list[Family]:
    """Return the families besides `text` that a recipe asks for, in the order they are made."""
    families = [_signals()]
    if _needs_language(recipe):
        families.append(_language())
    if recipe.blocklists:
        families.append(_blocklists(recipe))
    if recipe.deduplicate is not None:
        families.append(_signature(recipe))
    if index_folder is not None and recipe.decontaminate is not None:
        families.append(_hits(index_folder))
    return families


def _needs_language(recipe: Recipe) -> bool:
    """Tell whether a rule or a blocklist looks at the language of documents."""
    rule_sets = [rule_set for name in recipe.sources for rule_set in rules_for_source(recipe, name)]
    looked_at = {signal for rule_set in rule_sets for signal in rule_set.signals}
    lists = recipe.blocklists.values()
    return bool(looked_at & {"language", "language_probability"}) or any(b.languages for b in lists)


def family_columns(family: Family, texts: pa.Array, tokens: Any, others: Columns) -> pa.RecordBatch:
    """Compute the columns of a family; `tokens` is the batch's normalised token stream."""
    return _MAKERS[family.name](family.settings, texts, tokens, others)


def _signals() -> Family:
    from corpusclean.signals.document import VERSION

    return Family("signals", fingerprint("signals", VERSION), ())


def _make_signals(_: Any, texts: pa.Array, tokens: Any, others: Columns) -> pa.RecordBatch:
    from corpusclean.signals.document import measure_document_signals

    return measure_document_signals(texts)


def _language() -> Family:
    from corpusclean.signals.language import VERSION, LanguageModel

    model = _language_model()
    assert isinstance(model, LanguageModel)
    shape = fingerprint("language", VERSION, model.checksum, _signals().fingerprint)
    return Family("language", shape, (), needs=("signals",))


@functools.cache
def _language_model() -> Any:
    from corpusclean.signals.language import LanguageModel

    return LanguageModel.load()


def _make_language(_: Any, texts: pa.Array, tokens: Any, others: Columns) -> pa.RecordBatch:
    letters = others["signals"].column("letters").to_numpy(zero_copy_only=False)
    return _language_model().measure(texts, letters)


def _blocklists(recipe: Recipe) -> Family:
    from corpusclean.signals.blocklists import VERSION

    lists = []
    for name, blocklist in recipe.blocklists.items():
        path = recipe.resolve(blocklist.terms)
        lists.append((name, path, files.checksum(path), tuple(blocklist.languages or ())))
    needs = ("language",) if any(entry[3] for entry in lists) else ()
    shape = [VERSION, [[name, check, list(known)] for name, _, check, known in lists]]
    if needs:
        shape.append(_language().fingerprint)
    return Family("blocklists", fingerprint("blocklists", shape), tuple(lists), needs)


@functools.cache
def _term_lists(lists: tuple[tuple[str, str, str, tuple[str, ...]], ...]) -> Any:
    from corpusclean.signals.blocklists import TermLists, read_terms

    terms = {name: read_terms(path) for name, path, _, _ in lists}
    return TermLists(terms, {name: known for name, _, _, known in lists if known})


def _make_blocklists(lists: Any, texts: pa.Array, tokens: Any, others: Columns) -> pa.RecordBatch:
    languages = others["language"].column("language") if "language" in others else None
    return _term_lists(lists).measure(texts, languages)


def _signature(recipe: Recipe) -> Family:
    from corpusclean.dedup import VERSION
    from corpusclean.text.exact import EXACT_NORMALISATION
    from corpusclean.text.folding import NORMALISATION

    near = recipe.deduplicate.near if recipe.deduplicate else None
    settings = (near.shingle, near.bands, near.rows) if near else None
    shape = fingerprint("signature", VERSION, NORMALISATION, EXACT_NORMALISATION, settings)
    return Family("signature", shape, (settings,))


@functools.cache
def _signer(settings: tuple[int, int, int] | None) -> Any:
    from corpusclean.dedup.signatures import Signer

    return Signer(*settings) if settings else Signer(bands=1, rows=1)


def _make_signature(settings: Any, texts: pa.Array, tokens: Any, others: Columns) -> pa.RecordBatch:
    return _signer(settings[0]).sign(texts, tokens)


def _hits(index_folder: str) -> Family:
    from corpusclean.contamination import VERSION

    shape = fingerprint("hits", VERSION, _index(index_folder).checksum)
    return Family("hits", shape, (index_folder,))


@functools.cache
def _index(folder: str) -> Any:
    from corpusclean.contamination.index import BenchmarkIndex

    return BenchmarkIndex.load(folder, mmap=True)


def _make_hits(settings: Any, texts: pa.Array, tokens: Any, others: Columns) -> pa.RecordBatch:
    from corpusclean.contamination.scan import find_hits

    hits = find_hits(texts, _index(settings[0]), tokens)
    return pa.RecordBatch.from_arrays([hits], names=["hits"])


_MAKERS: dict[str, Callable[[Any, pa.Array, Any, Columns], pa.RecordBatch]] = {
    "signals": _make_signals,
    "language": _make_language,
    "blocklists": _make_blocklists,
    "signature": _make_signature,
    "hits": _make_hits,
}

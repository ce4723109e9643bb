"""Tokenizers: Hugging Face `tokenizer.json` files, encoded exactly and fast.

The reference is the library `tokenizers`. `fastokens` encodes many times faster and is used where
it proves equal: at load on fixed texts of every script, at the first batch on a sample of its
documents, and afterwards on one document of every batch. One difference or failure, and the
reference does the rest, that batch included; `Tokenizer.why_not` says why.

What a file asks for and ids must not depend on is switched off: truncation, padding, and the
dropout of BPE. No token is added around a text, and the text of a special token inside a document
is ordinary text: a web page that spells out `<|endoftext|>` does not end there.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from corpusclean import files
from corpusclean.errors import EngineError, RecipeError
from corpusclean.tokens.pieces import split_huge
from corpusclean.tokens.self_check import check_texts

__all__ = ["EOD_NAMES", "UINT16_VOCABULARY", "Tokenizer", "load_tokenizer"]

EOD_NAMES = (
    "<|endoftext|>",
    "<|end_of_text|>",
    "<｜end▁of▁sentence｜>",
    "</s>",
    "<eos>",
    "<|eos|>",
    "[EOS]",
    "<EOD>",
    "<eod>",
    "<|endofdocument|>",
    "<EOS>",
)
"""The usual names of the token that ends a document; the first that the vocabulary has is it."""

UINT16_VOCABULARY = 65500
"""From so many ids on they are stored as int32, else as uint16: Megatron's choice."""

_SPECIAL_CHECKED = 64
_SAMPLE_DOCUMENTS = 200
_SAMPLE_BYTES = 1 << 18
_SPOT_BYTES = 1 << 14
_REFERENCE_BYTES = 1 << 20
"""Text given to the reference at once: it holds some 100 bytes for each byte of text."""
_FAST_BYTES = 8 << 20

Encoded = tuple[np.ndarray, np.ndarray]
"""The ids of several texts, one text after another, and the number of ids of each."""


class Tokenizer:
    """A vocabulary and how texts become its ids."""

    def __init__(self, content: str, name: str, sha256: str, eod: str, accelerate: bool) -> None:
        import tokenizers

        self._reference = tokenizers.Tokenizer.from_str(content)
        self._reference.encode_special_tokens = True
        ids = self._reference.get_vocab(with_added_tokens=True)
        self.name = name
        """The name of the file, without folders."""
        self.sha256 = sha256
        """The hex SHA-256 of the file."""
        self.vocabulary = max(ids.values()) + 1
        """The highest id, those of added tokens included, plus one."""
        self.eod = eod
        """The text of the token that ends a document."""
        self.eod_id = int(ids[eod])
        self.dtype = np.dtype("<u2" if self.vocabulary < UINT16_VOCABULARY else "<i4")
        """The type of stored ids."""
        self.why_not: str | None = None if accelerate else "acceleration is switched off"
        """Why the reference encodes, or None while `fastokens` does."""
        self._fast: Any = None
        self._sampled = False
        if accelerate:
            self._start_fast(content)

    @property
    def accelerated(self) -> bool:
        """Whether `fastokens` encodes."""
        return self._fast is not None

    def encode(self, texts: pa.Array | pa.ChunkedArray) -> Encoded:
        """Return the ids of texts, of type `dtype`, and int64 offsets of n + 1 in them.

        The ids of text i are `ids[offsets[i]:offsets[i + 1]]`. A null is the empty text. Raises
        EngineError if a library returns an id outside of the vocabulary.
        """
        strings = [text or "" for text in texts.to_pylist()]
        encoded = self._encode_fast(strings) if self.accelerated else None
        ids, lengths = encoded if encoded is not None else self._encode_reference(strings)
        if len(ids) and int(ids.max()) >= self.vocabulary:
            raise EngineError(
                f"tokenizer {self.name}: found the id {int(ids.max())}, expected ids below "
                f"{self.vocabulary}"
            )
        offsets = np.zeros(len(strings) + 1, np.int64)
        np.cumsum(lengths, out=offsets[1:])
        return ids.astype(self.dtype), offsets

    def spells_eod(self) -> bool:
        """Tell whether the text of the EOD, as text of a document, becomes the EOD."""
        return bool(np.any(self._reference_ids(self.eod) == self.eod_id))

    def _start_fast(self, content: str) -> None:
        def load() -> Any:
            import fastokens

            return fastokens.Tokenizer.from_json_str(content)

        self._fast = self._attempt(load)
        if self._fast is not None:
            special = [
                str(token.content)
                for token in self._reference.get_added_tokens_decoder().values()
                if token.special
            ]
            self._agrees(check_texts([self.eod, *special[:_SPECIAL_CHECKED]]), "a check text")

    def _attempt(self, action: Callable[[], Any]) -> Any:
        """Return what `action` returns, or None, and the reference from now on, if it fails."""
        try:
            return action()
        except (KeyboardInterrupt, SystemExit, MemoryError):
            raise
        except BaseException as error:  # a panic of its Rust code is not an Exception
            self._give_up(f"fastokens failed: {type(error).__name__}: {error}")
            return None

    def _give_up(self, reason: str) -> None:
        self._fast = None
        self.why_not = reason

    def _agrees(self, texts: Sequence[str], where: str) -> bool:
        """Compare both libraries; on a difference the reference encodes from now on."""
        fast = self._attempt(lambda: _encode_flat(self._fast, texts))
        if fast is None:
            return False
        ids, lengths = self._encode_reference(texts)
        if np.array_equal(fast[1], lengths) and np.array_equal(fast[0], ids):
            return True
        self._give_up(f"fastokens gives other ids than tokenizers for {where}")
        return False

    def _encode_fast(self, texts: Sequence[str]) -> Encoded | None:
        """Encode with `fastokens`, or return None where it failed or differs."""
        sample = _spot(texts) if self._sampled else _sample(texts)
        self._sampled = True
        if sample and not self._agrees(sample, "a document"):
            return None
        parts = []
        for group in _groups(texts, _FAST_BYTES):
            part = self._attempt(lambda group=group: _encode_flat(self._fast, group))  # type: ignore[misc]
            if part is None:
                return None
            parts.append(part)
        return _joined(parts)

    def _encode_reference(self, texts: Sequence[str]) -> Encoded:
        parts = []
        for group in _groups(texts, _REFERENCE_BYTES):
            if len(group) == 1:
                pieces = split_huge(group[0], self._reference_ids)
                ids = [self._reference_ids(piece) for piece in pieces]
                parts.append((np.concatenate(ids), np.array([sum(map(len, ids))], np.int64)))
                continue
            found = self._reference.encode_batch_fast(list(group), add_special_tokens=False)
            each = [encoding.ids for encoding in found]
            lengths = np.array([len(ids) for ids in each], np.int64)
            flat = np.fromiter((i for ids in each for i in ids), np.int64, int(lengths.sum()))
            parts.append((flat, lengths))
        return _joined(parts)

    def _reference_ids(self, text: str) -> np.ndarray:
        found = self._reference.encode_batch_fast([text], add_special_tokens=False)
        return np.array(found[0].ids, np.int64)


def load_tokenizer(file: str, eod: str | None = None, accelerate: bool = True) -> Tokenizer:
    """Load a `tokenizer.json`.

    `eod` is the text of the token that ends a document; None finds it by `EOD_NAMES`. Raises
    RecipeError, naming the option `tokenizer`, for a file that is missing or none of its kind, and
    for an EOD that is not in the vocabulary, or that the tokenizer makes of ordinary text.
    """
    try:
        content = files.read_bytes(file)
    except FileNotFoundError as error:
        raise RecipeError(f"tokenizer.file: there is no file {file}") from error
    try:
        model = json.loads(content)
        vocabulary = _settle(model)
        chosen = _eod(file, vocabulary, eod)
        for token in model["added_tokens"]:
            # Not special, it would be found in the text of documents.
            token["special"] = token["special"] or token["content"] == chosen
        settled = json.dumps(model, ensure_ascii=False)
        name = Path(file).name
        loaded = Tokenizer(settled, name, hashlib.sha256(content).hexdigest(), chosen, accelerate)
    except RecipeError:
        raise
    except Exception as error:  # the library raises nothing more precise
        raise RecipeError(
            f"tokenizer.file: {file} is no tokenizer.json of Hugging Face: {error}"
        ) from error
    if loaded.spells_eod():
        raise RecipeError(
            f"tokenizer.eod: {file} makes the token {chosen!r} of ordinary text, so it cannot "
            "mark the end of a document; name another token"
        )
    return loaded


def _settle(model: dict[str, Any]) -> set[str]:
    """Switch off what ids must not depend on; return the texts of all tokens."""
    model["truncation"] = None
    model["padding"] = None
    inner = model["model"]
    if "dropout" in inner:
        inner["dropout"] = None
    model.setdefault("added_tokens", [])
    entries = inner["vocab"]
    # A dictionary of ids, or for Unigram a list of (text, score).
    names = entries if isinstance(entries, dict) else [text for text, _ in entries]
    return {*names, *(token["content"] for token in model["added_tokens"])}


def _eod(file: str, vocabulary: set[str], asked: str | None) -> str:
    if asked is not None:
        if asked not in vocabulary:
            known = [name for name in EOD_NAMES if name in vocabulary]
            hint = f"it has {', '.join(known)}" if known else "it has none of the usual names"
            raise RecipeError(
                f"tokenizer.eod: {asked!r} is not in the vocabulary of {file}; {hint}"
            )
        return asked
    for name in EOD_NAMES:
        if name in vocabulary:
            return name
    raise RecipeError(
        f"tokenizer.eod: no token of {file} has a usual name of the end of a document "
        f"({', '.join(EOD_NAMES)}); name it with tokenizer.eod"
    )


def _encode_flat(fast: Any, texts: Sequence[str]) -> Encoded:
    ids, offsets = fast.encode_batch_flat(
        list(texts), add_special_tokens=False, split_special_tokens=True
    )
    lengths = np.diff(np.frombuffer(offsets, "<u8").astype(np.int64))
    if len(lengths) != len(texts):
        raise ValueError(f"{len(texts)} texts became {len(lengths)}")
    return np.frombuffer(ids, "<u4"), lengths


def _joined(parts: Sequence[Encoded]) -> Encoded:
    if not parts:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    if len(parts) == 1:
        return parts[0]
    ids, lengths = zip(*parts, strict=True)
    return np.concatenate(ids), np.concatenate(lengths)


def _size(text: str) -> int:
    """Return an upper bound of a text's bytes that takes no encoding."""
    return len(text) if text.isascii() else 3 * len(text)


def _groups(texts: Sequence[str], most: int) -> Iterator[Sequence[str]]:
    """Yield consecutive texts of up to so many bytes together; a larger one alone."""
    start = held = 0
    for i, text in enumerate(texts):
        size = _size(text)
        if i > start and held + size > most:
            yield texts[start:i]
            start, held = i, 0
        held += size
    if start < len(texts):
        yield texts[start:]


def _sample(texts: Sequence[str]) -> list[str]:
    """Return documents from all over a batch, without the very long ones."""
    step = max(1, len(texts) // _SAMPLE_DOCUMENTS)
    chosen = []
    held = 0
    for text in texts[::step]:
        size = _size(text)
        if size <= _SPOT_BYTES and held + size <= _SAMPLE_BYTES:
            chosen.append(text)
            held += size
    return chosen


def _spot(texts: Sequence[str]) -> list[str]:
    """Return one document, the first from the middle on that is not very long, if there is one."""
    middle = len(texts) // 2
    return next(([text] for text in texts[middle:] if _size(text) <= _SPOT_BYTES), [])

"""Ids against the library `tokenizers` called directly, and what never becomes an id."""

import io
import itertools
import json
import re
import sys
import types

import numpy as np
import pyarrow as pa
import pytest
import tokenizers
import zstandard

from corpusclean.errors import EngineError, RecipeError
from corpusclean.tokens import tokenizers as module
from corpusclean.tokens.pieces import split_huge
from corpusclean.tokens.self_check import check_texts
from corpusclean.tokens.tokenizers import load_tokenizer

TEXTS = [
    *check_texts(["<|endoftext|>"]),
    "line\r\nline\r\n\r\nlast without a newline",
    "a document that ends <|endoftext|> and goes on",
    "<|pad|><|endoftext|>",
]


def as_lists(encoded):
    ids, offsets = encoded
    return [ids[a:b].tolist() for a, b in itertools.pairwise(offsets)]


def library_ids(path, texts):
    library = tokenizers.Tokenizer.from_file(path)
    library.encode_special_tokens = True
    library.no_truncation()
    library.no_padding()
    return [library.encode(text, add_special_tokens=False).ids for text in texts]


@pytest.fixture(params=[True, False], ids=["accelerated", "reference"])
def accelerate(request):
    if request.param:
        pytest.importorskip("fastokens")
    return request.param


def test_ids_are_the_library_s(write_model, accelerate):
    path = write_model()
    tokenizer = load_tokenizer(path, accelerate=accelerate)
    assert as_lists(tokenizer.encode(pa.array(TEXTS, pa.large_string()))) == library_ids(
        path, TEXTS
    )
    assert tokenizer.accelerated is accelerate, tokenizer.why_not


def test_golden_ids(write_model):
    def small(model):
        model["model"]["vocab"] = {"<|endoftext|>": 0, "a": 1, "b": 2, "ab": 3, "Ġ": 4, "Ġab": 5}
        model["model"]["merges"] = [["a", "b"], ["Ġ", "ab"]]
        model["added_tokens"] = model["added_tokens"][:1]

    tokenizer = load_tokenizer(write_model(small))
    ids, offsets = tokenizer.encode(pa.array(["ab ab", "", "ba", None, " aab"]))
    assert ids.tolist() == [3, 5, 2, 1, 4, 1, 3]
    assert offsets.tolist() == [0, 2, 2, 4, 4, 7]
    assert ids.dtype == np.uint16 and offsets.dtype == np.int64


def test_slices_chunks_and_no_rows(write_model, accelerate):
    tokenizer = load_tokenizer(write_model(), accelerate=accelerate)
    texts = pa.array(TEXTS, pa.large_string())
    whole = as_lists(tokenizer.encode(texts))
    assert as_lists(tokenizer.encode(texts.slice(3, 5))) == whole[3:8]
    chunked = pa.chunked_array([texts.slice(0, 4), texts.slice(4)])
    assert as_lists(tokenizer.encode(chunked)) == whole
    ids, offsets = tokenizer.encode(pa.array([], pa.large_string()))
    assert len(ids) == 0 and offsets.tolist() == [0]


def test_special_tokens_in_a_document_are_text(write_model, accelerate):
    tokenizer = load_tokenizer(write_model(), accelerate=accelerate)
    ids, _ = tokenizer.encode(pa.array(["<|endoftext|>", "x<|pad|>y<|endoftext|>\n"] * 3))
    assert not np.isin(ids, [tokenizer.eod_id, 1]).any()


def test_an_eod_that_is_not_marked_special_is_text_too(write_model, accelerate):
    def plain(model):
        model["added_tokens"][0]["special"] = False

    tokenizer = load_tokenizer(write_model(plain), accelerate=accelerate)
    ids, _ = tokenizer.encode(pa.array(["x<|endoftext|>y"]))
    assert tokenizer.eod_id not in ids


@pytest.mark.parametrize(
    "change",
    [
        lambda model: model["model"].update(dropout=0.5),
        lambda model: model.update(
            truncation={
                "direction": "Right",
                "max_length": 4,
                "strategy": "LongestFirst",
                "stride": 0,
            }
        ),
        lambda model: model.update(
            padding={
                "strategy": {"Fixed": 64},
                "direction": "Right",
                "pad_to_multiple_of": None,
                "pad_id": 1,
                "pad_type_id": 0,
                "pad_token": "<|pad|>",
            }
        ),
        lambda model: model.update(
            post_processor={
                "type": "TemplateProcessing",
                "single": [
                    {"SpecialToken": {"id": "<|pad|>", "type_id": 0}},
                    {"Sequence": {"id": "A", "type_id": 0}},
                ],
                "pair": [{"Sequence": {"id": "A", "type_id": 0}}],
                "special_tokens": {"<|pad|>": {"id": "<|pad|>", "ids": [1], "tokens": ["<|pad|>"]}},
            }
        ),
    ],
    ids=["dropout", "truncation", "padding", "template"],
)
def test_settings_that_ids_must_not_depend_on(write_model, accelerate, change):
    plain = load_tokenizer(write_model(name="plain.json"), accelerate=accelerate)
    changed = load_tokenizer(write_model(change), accelerate=accelerate)
    texts = pa.array(TEXTS)
    assert as_lists(changed.encode(texts)) == as_lists(plain.encode(texts))
    assert as_lists(changed.encode(texts)) == as_lists(plain.encode(texts))


def test_vocabulary_and_dtype_count_added_tokens(write_model):
    plain = load_tokenizer(write_model())
    size = plain.vocabulary
    assert plain.dtype == np.uint16 and size < 600

    def token(number):
        return {
            "id": number,
            "content": f"<|extra-{number}|>",
            "single_word": False,
            "lstrip": False,
            "rstrip": False,
            "normalized": False,
            "special": True,
        }

    def grow(model):
        model["added_tokens"] += [token(n) for n in range(size, size + 10)]

    assert load_tokenizer(write_model(grow)).vocabulary == size + 10


@pytest.mark.parametrize(("vocabulary", "dtype"), [(65499, np.uint16), (65500, np.int32)])
def test_dtype_is_megatron_s_choice(write_model, vocabulary, dtype):
    def large(model):
        vocab = model["model"]["vocab"]
        vocab.update({f"word{n}": n for n in range(len(vocab), vocabulary)})

    tokenizer = load_tokenizer(write_model(large), accelerate=False)
    assert (tokenizer.vocabulary, tokenizer.dtype) == (vocabulary, dtype)
    assert tokenizer.encode(pa.array(["the"]))[0].dtype == dtype


def rename(name):
    def change(model):
        vocab = model["model"]["vocab"]
        vocab[name] = vocab.pop("<|endoftext|>")
        model["added_tokens"][0]["content"] = name

    return change


@pytest.mark.parametrize("name", module.EOD_NAMES)
def test_eod_is_found_by_the_usual_names(write_model, name):
    tokenizer = load_tokenizer(write_model(rename(name)), accelerate=False)
    assert (tokenizer.eod, tokenizer.eod_id) == (name, 0)


def test_eod_may_be_named(write_model):
    assert load_tokenizer(write_model(), "<|pad|>", accelerate=False).eod_id == 1


@pytest.mark.parametrize(
    ("change", "eod", "says"),
    [
        (rename("<stop>"), None, r"tokenizer\.eod: no token .* has a usual name"),
        (lambda model: None, "<stop>", r"'<stop>' is not in the vocabulary .* it has <\|endoftext"),
        (rename("<stop>"), "</s>", "has none of the usual names"),
        (lambda model: None, "the", "of ordinary text"),
        (lambda model: model.pop("model"), None, "no tokenizer.json of Hugging"),
        (lambda model: model["model"].update(type="Unheard"), None, "no tokenizer.json"),
    ],
)
def test_files_that_cannot_be_used(write_model, change, eod, says):
    path = write_model(change)
    with pytest.raises(RecipeError, match=says):
        load_tokenizer(path, eod)


def test_files_that_are_missing_or_not_json(tmp_path):
    with pytest.raises(RecipeError, match=r"tokenizer\.file: there is no file"):
        load_tokenizer(str(tmp_path / "none.json"))
    (tmp_path / "x.model").write_bytes(b"\x80binary")
    with pytest.raises(RecipeError, match="no tokenizer"):
        load_tokenizer(str(tmp_path / "x.model"))


def test_name_and_checksum_are_the_file_s(write_model):
    path = write_model(name="small.json")
    tokenizer = load_tokenizer(path, accelerate=False)
    assert tokenizer.name == "small.json"
    again = load_tokenizer(write_model(name="other.json"), accelerate=False)
    assert tokenizer.sha256 == again.sha256 and len(again.sha256) == 64


class Impostor:
    """A faulty accelerator: wrong where `wrong` says so, failing where `fails` does."""

    def __init__(self, reference, wrong=lambda text: False, fails=lambda text: False):
        self.reference, self.wrong, self.fails = reference, wrong, fails

    def encode_batch_flat(self, texts, add_special_tokens, split_special_tokens):
        assert not add_special_tokens and split_special_tokens
        if any(map(self.fails, texts)):
            raise ValueError("cannot")
        ids = [self.reference._reference_ids(text) for text in texts]
        ids = [each + self.wrong(text) for each, text in zip(ids, texts, strict=True)]
        offsets = np.cumsum([0, *map(len, ids)]).astype("<u8")
        flat = np.concatenate([np.zeros(0, np.int64), *ids])
        return flat.astype("<u4").tobytes(), offsets.tobytes()


def with_impostor(monkeypatch, path, **faults):
    reference = load_tokenizer(path, accelerate=False)
    fake = types.ModuleType("fastokens")
    fake.Tokenizer = types.SimpleNamespace(from_json_str=lambda text: Impostor(reference, **faults))
    monkeypatch.setitem(sys.modules, "fastokens", fake)
    return load_tokenizer(path), reference


BATCHES = [["the first document", "and another"], ["a later bad one", "bad"], ["and the last"]]


@pytest.mark.parametrize(
    ("faults", "accelerated", "says"),
    [
        ({}, [True, True, True, True], None),
        ({"wrong": lambda text: "😀" in text}, [False] * 4, "other ids .* a check text"),
        ({"fails": lambda text: "😀" in text}, [False] * 4, "failed: ValueError: cannot"),
        ({"wrong": lambda text: "first" in text}, [True, False, False, False], "a document"),
        ({"wrong": lambda text: text == "bad"}, [True, True, False, False], "a document"),
        ({"fails": lambda text: "later" in text}, [True, True, False, False], "failed"),
    ],
)
def test_a_faulty_accelerator_is_given_up(monkeypatch, write_model, faults, accelerated, says):
    tokenizer, reference = with_impostor(monkeypatch, write_model(), **faults)
    seen = [tokenizer.accelerated]
    for batch in BATCHES:
        texts = pa.array(batch)
        assert as_lists(tokenizer.encode(texts)) == as_lists(reference.encode(texts))
        seen.append(tokenizer.accelerated)
    assert seen == accelerated
    if says is None:
        assert tokenizer.why_not is None
    else:
        assert re.search(says, tokenizer.why_not)


def test_without_fastokens_the_reference_encodes(monkeypatch, write_model):
    monkeypatch.setitem(sys.modules, "fastokens", None)
    tokenizer = load_tokenizer(write_model())
    assert not tokenizer.accelerated and "fastokens" in tokenizer.why_not
    assert len(tokenizer.encode(pa.array(["the kettle"]))[0]) > 0


def test_an_id_outside_of_the_vocabulary_is_an_error(monkeypatch, write_model):
    tokenizer = load_tokenizer(write_model(), accelerate=False)
    monkeypatch.setattr(tokenizer, "vocabulary", 10)
    with pytest.raises(EngineError, match="expected ids below 10"):
        tokenizer.encode(pa.array(["the kettle"]))


def test_a_huge_document(write_model, accelerate):
    tokenizer = load_tokenizer(write_model(), accelerate=accelerate)
    text = "The kettle sang.\n\n  雨が降っている\n" * 150_000
    ids, offsets = tokenizer.encode(pa.array(["small", text, "after"]))
    one = tokenizer._reference_ids(text[: text.index("\n", 1000) + 1] * 2)
    assert offsets[2] - offsets[1] > 5 * 150_000
    assert ids[offsets[1] : offsets[1] + 500].tolist() == one[:500].tolist()
    library = tokenizers.Tokenizer.from_str(tokenizer._reference.to_str())
    assert library.decode(ids[offsets[1] : offsets[2]].tolist()) == text


def test_huge_documents_are_cut_only_where_ids_stay(monkeypatch, write_model):
    monkeypatch.setattr("corpusclean.tokens.pieces.PIECE", 3000)
    path = write_model()
    tokenizer = load_tokenizer(path, accelerate=False)
    text = "".join(f"line {n}\n\n\n word{n}\n" + " " * (n % 5) + "more\r\n" for n in range(2000))
    pieces = list(split_huge(text, tokenizer._reference_ids))
    assert len(pieces) > 5 and "".join(pieces) == text
    together = np.concatenate([tokenizer._reference_ids(piece) for piece in pieces])
    assert together.tolist() == tokenizer._reference_ids(text).tolist()
    assert len(list(split_huge("x" * 50_000, tokenizer._reference_ids))) == 1


def test_a_tokenizer_that_marks_the_front_of_a_text_is_never_cut(monkeypatch, write_model):
    monkeypatch.setattr("corpusclean.tokens.pieces.PIECE", 3000)

    def front(model):
        model["pre_tokenizer"]["add_prefix_space"] = True

    tokenizer = load_tokenizer(write_model(front), accelerate=False)
    text = "word and word\n" * 3000
    assert list(split_huge(text, tokenizer._reference_ids)) == [text]


REAL = ["debian-reference-ja", "libreoffice-help-hi", "manpages-uk", "code", "fortunes-zh"]


def test_gpt2_on_real_documents(real_data, accelerate):
    path = str(real_data("tokenizers/gpt2.json"))
    tokenizer = load_tokenizer(path, accelerate=accelerate)
    assert (tokenizer.vocabulary, tokenizer.eod_id) == (50257, 50256)
    texts = list(TEXTS)
    for name in REAL:
        with real_data(f"corpus/{name}.jsonl.zst").open("rb") as file:
            lines = io.TextIOWrapper(zstandard.ZstdDecompressor().stream_reader(file), "utf-8")
            texts += [json.loads(line)["text"][:4000] for line, _ in zip(lines, range(30))]  # noqa: B905
    assert as_lists(tokenizer.encode(pa.array(texts, pa.large_string()))) == library_ids(
        path, texts
    )
    assert tokenizer.accelerated is accelerate, tokenizer.why_not

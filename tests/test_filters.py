"""The shipped rule sets: every rule passes, fires, and leaves its limit and the undefined alone."""

import pyarrow as pa
import pytest

from corpusclean.rules.applying import RuleEvaluator
from corpusclean.rules.loading import load_rule_set
from corpusclean.rules.rule_files import filter_folders, find_rule_sets
from corpusclean.signals import all_signals
from corpusclean.signals.document import measure_document_signals

UNDEFINED = None
# For each rule of one threshold: its signal, values that pass (the limit among them), values that
# fire.
QUALITY = {
    "too_few_words": ("words", [50, 51], [0, 49]),
    "too_many_words": ("words", [99_999, 100_000], [100_001, 10**9]),
    "mean_word_length_low": ("mean_word_length", [3.0, 3.01], [2.999, 1.0]),
    "mean_word_length_high": ("mean_word_length", [9.9, 10.0], [10.0001, 40.0]),
    "too_many_hashes": ("hash_word_ratio", [0.0, 0.1, 5 / 50], [0.1001, 6 / 50]),
    "too_many_ellipses": ("ellipsis_word_ratio", [0.0, 0.1, 7 / 70], [0.1001, 8 / 70]),
    "too_many_bullet_lines": ("bullet_line_fraction", [0.0, 0.9, 9 / 10], [0.901, 1.0]),
    "too_many_ellipsis_lines": ("ellipsis_line_fraction", [0.0, 0.3, 3 / 10], [0.301, 1.0]),
    "too_few_alphabetic_words": ("alphabetic_word_fraction", [0.8, 1.0, 4 / 5], [0.799, 0.0]),
    "too_few_stop_words": ("stop_words", [2, 8], [0, 1]),
}
REPETITION = {
    "duplicate_lines": ("duplicate_line_fraction", 0.30),
    "duplicate_paragraphs": ("duplicate_paragraph_fraction", 0.30),
    "duplicate_line_characters": ("duplicate_line_character_fraction", 0.20),
    "duplicate_paragraph_characters": ("duplicate_paragraph_character_fraction", 0.20),
    "top_2gram": ("top_2gram_character_fraction", 0.20),
    "top_3gram": ("top_3gram_character_fraction", 0.18),
    "top_4gram": ("top_4gram_character_fraction", 0.16),
    "duplicate_5gram": ("duplicate_5gram_character_fraction", 0.15),
    "duplicate_6gram": ("duplicate_6gram_character_fraction", 0.14),
    "duplicate_7gram": ("duplicate_7gram_character_fraction", 0.13),
    "duplicate_8gram": ("duplicate_8gram_character_fraction", 0.12),
    "duplicate_9gram": ("duplicate_9gram_character_fraction", 0.11),
    "duplicate_10gram": ("duplicate_10gram_character_fraction", 0.10),
}
TYPES = {
    "integer": pa.int64(),
    "fraction": pa.float64(),
    "number": pa.float64(),
    "label": pa.string(),
}


def verdicts(rule_set: str, rule: str, rows: list[dict], **options) -> list[bool | None]:
    """Return for each row of signals whether a rule fires; None where it is undefined."""
    loaded = load_rule_set(rule_set, **options)
    kinds = all_signals()
    names = sorted(loaded.signals)
    columns = {
        name: pa.array([row.get(name) for row in rows], TYPES[kinds[name].kind])
        if name in kinds
        else pa.array([row.get(name) for row in rows], pa.int64())
        for name in names
    }
    result = RuleEvaluator([loaded]).evaluate(pa.table(columns))
    column = result.reasons.index(f"{rule_set}.{rule}")
    fired, undefined = result.fired[:, column].tolist(), result.undefined[:, column].tolist()
    return [None if u else f for f, u in zip(fired, undefined, strict=True)]


def test_all_rules_are_tested():
    assert [r.name for r in load_rule_set("gopher_quality").rules] == list(QUALITY)
    assert [r.name for r in load_rule_set("gopher_repetition").rules] == list(REPETITION)
    assert {r.name for r in load_rule_set("anomalies").rules} == {rule for rule, *_ in ANOMALIES}


def test_every_shipped_rule_set_loads_and_says_where_it_is_from():
    for name in find_rule_sets(filter_folders()):
        found = load_rule_set(name)
        assert found.source and found.interpretation and found.rules


@pytest.mark.parametrize("rule", QUALITY)
def test_gopher_quality(rule):
    signal, passing, firing = QUALITY[rule]
    rows = [{signal: value} for value in [*passing, *firing, UNDEFINED]]
    expected = [False] * len(passing) + [True] * len(firing) + [None]
    assert verdicts("gopher_quality", rule, rows) == expected


@pytest.mark.parametrize("rule", REPETITION)
def test_gopher_repetition(rule):
    signal, limit = REPETITION[rule]
    exact = round(limit * 1000) / 1000
    values = [0.0, limit, exact, limit + 1e-9, 1.0, UNDEFINED]
    rows = [{signal: value} for value in values]
    expected = [False, False, False, True, True, None]
    assert verdicts("gopher_repetition", rule, rows) == expected


BASE64 = {
    "characters": 200,
    "bytes": 200,
    "letter_fraction": 0.8,
    "digit_fraction": 0.15,
    "mean_word_length": 76.0,
}
PICTURE = {"characters": 200, "bytes": 200, "letter_fraction": 0.04}
ANOMALIES = [
    ("control", {"control_characters": 3, "control_fraction": 0.006}, True),
    ("control", {"control_characters": 2, "control_fraction": 0.5}, False),
    ("control", {"control_characters": 300, "control_fraction": 0.005}, False),
    ("control", {"control_characters": 0, "control_fraction": 0.0}, False),
    ("control", {"control_characters": 0, "control_fraction": None}, False),
    ("replacement", {"replacement_characters": 3, "replacement_fraction": 0.003}, True),
    ("replacement", {"replacement_characters": 2, "replacement_fraction": 0.1}, False),
    ("replacement", {"replacement_characters": 30, "replacement_fraction": 0.002}, False),
    ("private_use", {"private_use_characters": 3, "private_use_fraction": 0.02}, True),
    ("private_use", {"private_use_characters": 2, "private_use_fraction": 0.2}, False),
    ("private_use", {"private_use_characters": 30, "private_use_fraction": 0.01}, False),
    ("unassigned", {"unassigned_characters": 3, "unassigned_fraction": 0.02}, True),
    ("unassigned", {"unassigned_characters": 2, "unassigned_fraction": 0.2}, False),
    ("unassigned", {"unassigned_characters": 30, "unassigned_fraction": 0.01}, False),
    ("digits", {"digit_fraction": 0.501}, True),
    ("digits", {"digit_fraction": 0.5}, False),
    ("digits", {"digit_fraction": None}, None),
    ("long_word", BASE64, True),
    ("long_word", BASE64 | {"characters": 199, "bytes": 199}, False),
    ("long_word", BASE64 | {"bytes": 240}, False),
    ("long_word", BASE64 | {"digit_fraction": 0.1}, False),
    ("long_word", BASE64 | {"mean_word_length": 20.0}, False),
    ("long_word", BASE64 | {"mean_word_length": None}, None),
    ("few_letters", PICTURE, True),
    ("few_letters", PICTURE | {"letter_fraction": 0.05}, False),
    ("few_letters", PICTURE | {"bytes": 201}, False),
    ("few_letters", PICTURE | {"characters": 199, "bytes": 199}, False),
    ("few_letters", PICTURE | {"letter_fraction": None}, None),
]


@pytest.mark.parametrize(("rule", "signals", "fires"), ANOMALIES)
def test_anomalies(rule, signals, fires):
    assert verdicts("anomalies", rule, [signals]) == [fires]


@pytest.mark.parametrize(
    ("language", "probability", "fired"),
    [
        ("en", 0.9, []),
        ("de", 0.65, []),
        ("en", 0.6499, ["low_probability"]),
        ("fr", 0.9, ["not_kept"]),
        ("fr", 0.2, ["not_kept", "low_probability"]),
        ("unknown", None, ["not_kept"]),
        (None, None, []),
    ],
)
def test_language(language, probability, fired):
    loaded = load_rule_set("language", parameters={"keep": ("en", "de")})
    table = pa.table(
        {
            "language": pa.array([language], pa.string()),
            "language_probability": pa.array([probability], pa.float32()),
        }
    )
    result = RuleEvaluator([loaded]).evaluate(table)
    names = [reason for reason, hit in zip(result.reasons, result.fired[0], strict=True) if hit]
    assert names == [f"language.{rule}" for rule in fired]


def test_unknown_is_kept_where_it_is_listed():
    rows = [{"language": "unknown", "language_probability": None}]
    kept = {"keep": ("en", "unknown")}
    assert verdicts("language", "not_kept", rows, parameters=kept) == [False]


@pytest.mark.parametrize(
    ("hits", "limit", "fires"),
    [(0, 0, False), (1, 0, True), (3, 3, False), (4, 3, True), (None, 0, None)],
)
def test_blocklist(hits, limit, fires):
    loaded = load_rule_set("blocklist", parameters={"max_hits": limit}, blocklist="rude")
    table = pa.table({"blocklist_rude_hits": pa.array([hits], pa.int64())})
    result = RuleEvaluator([loaded]).evaluate(table)
    assert result.reasons == ("blocklist.rude",)
    assert result.fired.tolist() == [[bool(fires)]]
    assert result.undefined.tolist() == [[fires is None]]


CODE = "\n".join(
    f"def f_{i}(x, y):\n    if x[{i}] <= y:\n        return {{'a': x, 'b': [y, 0x{i:02x}]}}\n"
    for i in range(9)
)
# What the rule set must leave alone, whatever else may be said about it.
HARMLESS = {
    "english": "A plain sentence without anything odd in it. " * 6,
    "chinese": "今天天气很好，我们去公园散步，看见许多花草树木。孩子们在湖边放风筝。" * 20,
    "japanese": "朝になると市場の人々が店を開けて、魚や野菜を並べ始める。" * 20,
    "thai": "วันนี้อากาศดีมากพวกเราไปเดินเล่นที่สวนสาธารณะและเห็นดอกไม้มากมาย" * 10,
    "hindi": "आज मौसम बहुत अच्छा है और हम बगीचे में घूमने गए। " * 10,
    "arabic": "الطقس جميل اليوم وقد ذهبنا نتمشى في الحديقة ورأينا أزهارا كثيرة. " * 8,
    "khmer": "ថ្ងៃនេះអាកាសធាតុល្អណាស់យើងទៅដើរលេងនៅសួន" * 10,
    "korean": "오늘은 날씨가 아주 좋아서 우리는 공원에 산책하러 갔다. " * 10,
    "emoji": "🎉🎉🥳 👨‍👩‍👧‍👦 ❤️ 👋🏽 🏳️‍🌈 " * 30,
    "combining": "e\u0301a\u0300o\u0302 n\u0303u\u0308 " * 60,
    "mathematics": "∀ε>0 ∃δ>0: |x−a|<δ ⇒ |f(x)−f(a)|<ε; ∑ᵢ xᵢ² = ∫₀^∞ e^(−t) dt ≠ 0\n" * 10,
    "arithmetic": "3 + 4 = 7, and 7 - 4 = 3, so addition undoes subtraction.\n" * 10,
    "code": CODE,
    "form feeds": "class A:\n    x = 1\n\n\f\n" + CODE + "\n\f\n" + CODE,
    "crlf": "A line of text here.\r\nAnd another one.\r\n" * 20,
    "tabs": "name\tage\tcity\nAnna\t37\tOslo\n" * 20,
    "german": "Der Donaudampfschifffahrtsgesellschaftskapitän braucht eine Versicherung. " * 6,
    "an address": "https://example.org/a/very/long/path/that/goes/on/and/on/and/on?x=1&y=2 " * 6,
    "one odd character": "Something went wrong here \ufffd but only once.\x07",
    "empty": "",
    "blank": " \n \t\n",
    "short": "x",
}
ODD = {
    "nul bytes": ("ab\x00\x00c\x00d " * 30, "control"),
    "terminal colours": ("\x1b[32mgreen\x1b[0m and \x1b[1mbold\x1b[0m " * 9, "control"),
    "mojibake": ("Das Ã\x9cber hÃ¤tte Ã\x9c und Ã\x96 " * 9, "control"),
    "replacement": ("Das \ufffdber h\ufffdtte keine \ufffdnderung " * 9, "replacement"),
    "icons": ("\ue001 home \ue002 search \ue003 menu " * 9, "private_use"),
    "unassigned": ("abc \U000e0fff\U000e0ffe\U000e0ffd def " * 9, "unassigned"),
    "numbers": ("".join(f"{i * 7919 % 100000:05} " for i in range(90)), "digits"),
    "arabic numbers": ("٠١٢٣٤٥٦٧٨٩ " * 30, "digits"),
    "base64": (
        "TWFuIGlzIGRpc3Rpbmd1aXNoZWQsIG5vdCBvbmx5IGJ5IGhpcyByZWFzb24sIGJ1dCBieSB0\n" * 9,
        "long_word",
    ),
    "run together": ("thequickbrownfoxjumpsoverthelazydog" * 9, "long_word"),
    "ruler": ("-----=====-----=====\n" * 30, "few_letters"),
}


def fired_anomalies(text: str) -> list[str]:
    signals = measure_document_signals(pa.array([text], pa.large_string()))
    result = RuleEvaluator([load_rule_set("anomalies")]).evaluate(signals)
    return [reason for reason, hit in zip(result.reasons, result.fired[0], strict=True) if hit]


@pytest.mark.parametrize("name", HARMLESS)
def test_anomalies_leave_text_alone(name):
    assert fired_anomalies(HARMLESS[name]) == []


@pytest.mark.parametrize("name", ODD)
def test_anomalies_find_what_is_no_text(name):
    text, rule = ODD[name]
    assert f"anomalies.{rule}" in fired_anomalies(text)


def test_an_empty_text_has_too_few_words():
    signals = measure_document_signals(pa.array(["", " ", "\n\n", None], pa.large_string()))
    sets = [load_rule_set("gopher_quality"), load_rule_set("gopher_repetition")]
    result = RuleEvaluator(sets).evaluate(signals)
    assert result.fired[:, 0].all()


@pytest.mark.parametrize(
    ("file", "most"),
    [
        ("code", 4),
        ("python3.11-doc", 0),
        ("debian-reference-ja", 0),
        ("debian-reference-zh-cn", 0),
        ("libreoffice-help-hi", 1),
        ("libreoffice-help-ko", 1),
        ("manpages-zh", 0),
        ("fortunes-ru", 0),
    ],
)
def test_false_alarms_on_real_text(real_data, file, most):
    """Few documents of real corpora are anomalies; those that are, are tables of numbers."""
    import io
    import json

    import zstandard

    path = real_data(f"corpus/{file}.jsonl.zst")
    raw = zstandard.ZstdDecompressor().stream_reader(path.open("rb"))
    texts = [json.loads(line)["text"] for line in io.TextIOWrapper(raw, encoding="utf-8")]
    signals = measure_document_signals(pa.array(texts, pa.large_string()))
    result = RuleEvaluator([load_rule_set("anomalies")]).evaluate(signals)
    assert result.fired.any(axis=1).sum() <= most

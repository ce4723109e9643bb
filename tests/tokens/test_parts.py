"""Token parts: what is written, in which order, and what is read back."""

import hashlib
from pathlib import Path

import fsspec
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpusclean.errors import ShardError
from corpusclean.tokens.keys import choose_keys, order_keys
from corpusclean.tokens.parts import TokenPart, TokenPartWriter
from corpusclean.tokens.tokenizers import load_tokenizer

TEXTS = ["the kettle", "", "雨が降っている", "Дождь", "def f():\r\n", "😀e\u0301", "", "a" * 3000]


class Letters:
    """One id a code point; a hyphen is none."""

    eod_id = 65499

    def __init__(self, dtype="<u2"):
        self.dtype = np.dtype(dtype)

    def encode(self, texts):
        ids = [[ord(c) % 65499 for c in text if c != "-"] for text in texts.to_pylist()]
        offsets = np.cumsum([0, *map(len, ids)])
        return np.array([i for each in ids for i in each], self.dtype), offsets.astype(np.int64)


def uid_of(text, number=0):
    return hashlib.md5(f"{number}:{text}".encode()).digest()


def write(base, batches, tokenizer=None, seed=17, append_eod=True):
    """Write a part of batches of (uid, text); return the writer and the masks of empty ones."""
    empty = []
    with TokenPartWriter(
        str(base), tokenizer or Letters(), seed=seed, append_eod=append_eod
    ) as writer:
        for batch in batches:
            uids = pa.array([uid for uid, _ in batch], pa.binary(16))
            texts = pa.array([text for _, text in batch], pa.large_string())
            empty.append(writer.add(uids, texts).tolist())
    return writer, empty


def documents(texts=TEXTS):
    return [(uid_of(text, number), text) for number, text in enumerate(texts)]


@pytest.mark.parametrize("append_eod", [True, False])
@pytest.mark.parametrize("dtype", ["<u2", "<i4"])
def test_what_is_written_is_read_back(tmp_path, append_eod, dtype):
    known = documents()
    letters = Letters(dtype)
    writer, empty = write(tmp_path / "p", [known[:3], [], known[3:]], letters, 5, append_eod)
    assert empty == [[False, True, False], [], [False, False, False, True, False]]
    part = TokenPart.open(str(tmp_path / "p"))
    kept = {uid: text for uid, text in known if text}
    assert len(part) == writer.documents == len(kept)
    assert part.total == writer.tokens == sum(map(len, kept.values())) + 6 * append_eod
    assert part.dtype == part.ids.dtype == np.dtype(dtype)
    uids = [bytes(row.astype(">u8").tobytes()) for row in part.uid]
    assert set(uids) == set(kept)
    assert part.key.tolist() == order_keys(uids, 5).tolist() == sorted(part.key.tolist())
    assert part.choose.tolist() == choose_keys(uids, 5).tolist()
    for row, uid in enumerate(uids):
        expected = [ord(c) % 65499 for c in kept[uid]] + [Letters.eod_id] * append_eod
        start, count = int(part.start[row]), int(part.tokens[row])
        assert part.read(start, count).tolist() == expected
        assert part.ids[start : start + count].tolist() == expected
        assert part.bytes[row] == len(kept[uid].encode())
        assert part.characters[row] == len(kept[uid])


def test_golden_bytes(tmp_path):
    uids = [bytes([n]) * 16 for n in range(3)]
    write(tmp_path / "p", [list(zip(uids, ["ab", "-", "c"], strict=True))])
    first_is_second = order_keys(uids, 17)[0] > order_keys(uids, 17)[2]
    expected = "6300dbff61006200dbff" if first_is_second else "61006200dbff6300dbff"
    assert (tmp_path / "p.tokens").read_bytes().hex() == expected


def test_files_are_told_with_their_checksums(tmp_path):
    writer, _ = write(tmp_path / "deep" / "p", [documents()])
    assert sorted(writer.files) == ["index.arrow", "tokens"]
    for name, file in writer.files.items():
        assert file.bytes == (tmp_path / "deep" / f"p.{name}").stat().st_size
    assert sorted(path.name for path in (tmp_path / "deep").iterdir()) == [
        "p.index.arrow",
        "p.tokens",
    ]


@pytest.mark.parametrize("batches", [[], [[]], [[(b"x" * 16, "")], [(b"y" * 16, "--")]]])
def test_a_part_without_documents(tmp_path, batches):
    writer, empty = write(tmp_path / "p", batches)
    assert writer.documents == writer.tokens == 0
    assert all(all(mask) for mask in empty)
    part = TokenPart.open(str(tmp_path / "p"))
    assert len(part) == part.total == len(part.ids) == len(part.uid) == 0
    assert part.read(0, 0).tolist() == []


def test_an_error_leaves_no_file(tmp_path):
    with (
        pytest.raises(RuntimeError),
        TokenPartWriter(str(tmp_path / "p"), Letters(), seed=0, append_eod=True) as writer,
    ):
        writer.add(pa.array([b"x" * 16], pa.binary(16)), pa.array(["text"]))
        raise RuntimeError
    assert list(tmp_path.iterdir()) == []


def test_documents_with_one_key_are_ordered_by_uid(tmp_path, monkeypatch):
    monkeypatch.setattr(
        "corpusclean.tokens.parts.order_keys", lambda uids, seed: np.zeros(len(uids), np.uint64)
    )
    uids = [b"\xff" * 16, b"\0" * 16, b"\0" * 8 + b"\xff" * 8, b"\x7f" + b"\0" * 15]
    write(tmp_path / "p", [[(uid, "x")] for uid in uids])
    part = TokenPart.open(str(tmp_path / "p"))
    assert [row.astype(">u8").tobytes() for row in part.uid] == sorted(uids)


@given(st.data())
@settings(max_examples=25, deadline=None)
def test_the_order_of_documents_and_batches_changes_no_byte(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("order")
    given_documents = documents(data.draw(st.lists(st.text("ab-é漢😀", max_size=6), max_size=12)))
    shuffled = data.draw(st.permutations(given_documents))
    cut = data.draw(st.integers(0, len(shuffled)))
    write(folder / "a", [given_documents])
    write(folder / "b", [shuffled[:cut], shuffled[cut:]])
    for name in ("tokens", "index.arrow"):
        assert (folder / f"a.{name}").read_bytes() == (folder / f"b.{name}").read_bytes()


def test_documents_longer_than_a_block(tmp_path, monkeypatch):
    monkeypatch.setattr("corpusclean.tokens.parts._BLOCK_TOKENS", 7)
    known = documents(["a" * n for n in (1, 6, 7, 8, 20, 3, 14)])
    write(tmp_path / "p", [known])
    part = TokenPart.open(str(tmp_path / "p"))
    texts = dict(known)
    for row, uid in enumerate(row.astype(">u8").tobytes() for row in part.uid):
        ids = part.read(int(part.start[row]), int(part.tokens[row]))
        assert ids.tolist() == [97] * len(texts[uid]) + [Letters.eod_id]


def test_a_real_tokenizer(tmp_path, write_model):
    tokenizer = load_tokenizer(write_model())
    write(tmp_path / "p", [documents()], tokenizer)
    part = TokenPart.open(str(tmp_path / "p"))
    ends = part.ids[part.start + part.tokens - 1]
    assert (ends == tokenizer.eod_id).all()
    assert np.count_nonzero(part.ids == tokenizer.eod_id) == len(part)


def test_a_part_in_an_object_store():
    folder = "memory://token-parts"
    writer, _ = write(f"{folder}/p", [documents()])
    part = TokenPart.open(f"{folder}/p")
    assert "ids" not in part.__dict__
    piece = part.read(2, 9)
    assert piece.tolist() == part.ids[2:11].tolist()
    assert len(part.ids) == writer.tokens
    fsspec.filesystem("memory").rm("/token-parts", recursive=True)


def damage(name, action):
    def apply(base):
        path = Path(f"{base}.{name}")
        content = path.read_bytes()
        path.unlink()
        changed = action(content)
        if changed is not None:
            path.write_bytes(changed)

    return apply


@pytest.mark.parametrize(
    ("apply", "says"),
    [
        (damage("index.arrow", lambda content: None), "no index of a token part"),
        (damage("index.arrow", lambda content: b""), "no index of a token part"),
        (damage("index.arrow", lambda content: content[:200]), "no index of a token part"),
        (damage("index.arrow", lambda content: content.replace(b"token part 2", b"token part 9")),
         "expected 'corpusclean token part 2'"),
        (damage("tokens", lambda content: None), "missing"),
        (damage("tokens", lambda content: content[:-1]), "bytes, expected"),
        (damage("tokens", lambda content: content + b"x"), "bytes, expected"),
    ],
)  # fmt: skip
def test_damaged_parts_are_named(tmp_path, apply, says):
    write(tmp_path / "p", [documents()])
    apply(tmp_path / "p")
    with pytest.raises(ShardError, match=says) as raised:
        _ = TokenPart.open(str(tmp_path / "p")).ids
    assert str(tmp_path / "p") in str(raised.value)


@pytest.mark.parametrize(("start", "count"), [(-1, 1), (0, -1), (0, 10**9), (10**9, 0)])
def test_ranges_outside_of_a_part(tmp_path, start, count):
    write(tmp_path / "p", [documents()])
    with pytest.raises(ShardError, match="asked for ids"):
        TokenPart.open(str(tmp_path / "p")).read(start, count)

"""The keys of documents."""

import numpy as np
import pyarrow as pa
import pytest
import xxhash

from corpusclean.tokens.keys import choose_keys, order_keys

UIDS = [bytes(range(16)), bytes(16), b"\xff" * 16, b"\0" + b"\1" * 14 + b"\0"]


@pytest.mark.parametrize("seed", [0, 1, 17, 2**64 - 1])
def test_keys_are_the_hash_of_uid_seed_and_purpose(seed):
    tail = seed.to_bytes(8, "little")
    expected = [xxhash.xxh3_64_intdigest(uid + tail + b"order") for uid in UIDS]
    assert order_keys(UIDS, seed).tolist() == expected
    expected = [xxhash.xxh3_64_intdigest(uid + tail + b"choose") for uid in UIDS]
    assert choose_keys(UIDS, seed).tolist() == expected


def test_golden_keys():
    assert [f"{key:016x}" for key in order_keys(UIDS[:2], 17)] == [
        "f1983ac4c24fcce3",
        "f15d95435d32e9ee",
    ]
    assert [f"{key:016x}" for key in choose_keys(UIDS[:2], 17)] == [
        "b5754de86da54f78",
        "8ad142a7a51a0972",
    ]


def test_every_form_of_uids_gives_the_same_keys():
    matrix = np.frombuffer(b"".join(UIDS), np.uint8).reshape(-1, 16)
    column = pa.array(UIDS, pa.binary(16))
    expected = order_keys(UIDS, 3)
    assert expected.dtype == np.uint64
    assert order_keys(matrix, 3).tolist() == expected.tolist()
    assert order_keys(matrix[::-1], 3).tolist() == expected[::-1].tolist()
    assert order_keys(column, 3).tolist() == expected.tolist()
    assert order_keys(column.slice(1, 2), 3).tolist() == expected[1:3].tolist()
    assert order_keys([], 3).tolist() == []
    assert order_keys(column.slice(0, 0), 3).tolist() == []


@pytest.mark.parametrize(
    "uids",
    [
        [b"short"],
        [b"x" * 15, b"x" * 17],
        np.zeros((2, 8), np.uint8),
        pa.array([b"1234567"], pa.binary(7)),
    ],
)
def test_a_uid_of_another_length_is_refused(uids):
    with pytest.raises(ValueError, match="16 bytes"):
        order_keys(uids, 0)


def test_a_seed_outside_of_64_bits_is_refused():
    with pytest.raises(OverflowError):
        order_keys(UIDS, -1)

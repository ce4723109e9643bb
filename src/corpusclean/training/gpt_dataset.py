"""The order in which Megatron-Core's GPTDataset reads one shard, rebuilt with numpy alone.

What Megatron calls a document here is a sequence of the .idx. The sequences of all epochs are
shuffled (the last epoch apart, if little of it is needed), laid end to end, and cut into samples
of `sequence_length` tokens that overlap by the extra token; then the samples are shuffled:

    sample k  ->  j = shuffle_index[k]  ->  tokens from sample_index[j] to sample_index[j + 1]

A row of `sample_index` is (place in `document_index`, token offset in that sequence). With the
extra token it names the *last* token of the sample before: a sequence that begins exactly where a
sample ends is therefore first read, as a label, by that sample.
"""

from dataclasses import dataclass

import numpy as np

from corpusclean.errors import ShardError

__all__ = [
    "SEPARATE_BELOW",
    "GptIndices",
    "epochs_needed",
    "gpt_dataset_order",
    "pieces_between",
    "samples_holding",
]

SEPARATE_BELOW = 0.80
"""The last epoch is shuffled apart if less than this share of its samples is needed."""


def epochs_needed(tokens: int, sequence_length: int, samples: int | None, extra: int) -> int:
    """Return how many epochs of `tokens` tokens hold so many samples; one for no number."""
    if samples is None:
        return 1
    return max(1, -(-(samples * sequence_length + extra) // tokens))


def gpt_dataset_order(
    sequence_lengths: np.ndarray,
    sequence_length: int,
    samples: int | None,
    seed: int,
    add_extra_token: bool = True,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return Megatron-Core's (document_index, sample_index, shuffle_index) of a shard.

    `sequence_lengths` int[n] are the lengths in the .idx, `samples` how many the loader asks for
    (None: one epoch; at least as many are made), `seed` its random seed. Shapes: int32[epochs·n],
    int32 or int64[made + 1, 2] (place, offset), uint32 or int64[made]. Raises ShardError for a
    shard with too few tokens for one sample in one epoch, which Megatron cannot read.
    """
    lengths = np.ascontiguousarray(sequence_lengths)
    extra = int(add_extra_token)
    tokens = int(lengths.sum(dtype=np.int64))
    if sequence_length < 1 or tokens < sequence_length + extra:
        raise ShardError(
            f"found {tokens:,} tokens, expected at least {sequence_length + extra:,} for one "
            f"sample of sequence length {sequence_length:,}"
        )
    epochs = epochs_needed(tokens, sequence_length, samples, extra)
    made = (epochs * tokens - extra) // sequence_length
    before_last = ((epochs - 1) * tokens - extra) // sequence_length
    separate = False
    if samples is not None and epochs > 1:
        an_epoch = (tokens - extra) // sequence_length
        separate = samples - before_last < int(SEPARATE_BELOW * an_epoch)
    state = np.random.RandomState(seed)
    document_index = _documents(len(lengths), epochs, separate, state)
    sample_index = _samples(lengths, document_index, sequence_length, made, extra)
    shuffle_index = _shuffled(before_last if separate else made, made, state)
    return document_index, sample_index, shuffle_index


def _documents(count: int, epochs: int, separate: bool, state: np.random.RandomState) -> np.ndarray:
    if separate:
        first = _documents(count, epochs - 1, False, state)
        return np.concatenate([first, _documents(count, 1, False, state)])
    index = np.tile(np.arange(count, dtype=np.int32), epochs)
    state.shuffle(index)
    return index


def _samples(
    lengths: np.ndarray, document_index: np.ndarray, sequence_length: int, made: int, extra: int
) -> np.ndarray:
    ends = np.cumsum(lengths[document_index], dtype=np.int64)
    widest = max(len(document_index), int(lengths.max()))
    index = np.zeros((made + 1, 2), np.int32 if widest <= np.iinfo(np.int32).max else np.int64)
    # The token that a row names by its offset; without the extra token, the one before it.
    token = np.arange(1, made + 1, dtype=np.int64) * sequence_length - (1 - extra)
    place = np.searchsorted(ends, token, side="right")
    index[1:, 0] = place
    index[1:, 1] = token - ends[place] + lengths[document_index[place]] + (1 - extra)
    return index


def _shuffled(first: int, made: int, state: np.random.RandomState) -> np.ndarray:
    """Return 0 to `made` - 1, the first `first` numbers shuffled and then the others."""
    kind = np.uint32 if made < np.iinfo(np.uint32).max - 1 else np.int64
    index = np.arange(made, dtype=kind)
    state.shuffle(index[:first])
    if first < made:
        state.shuffle(index[first:])
    return index


@dataclass(frozen=True)
class GptIndices:
    """The three indices of a shard, computed or read from Megatron's cache, and its lengths."""

    document_index: np.ndarray
    sample_index: np.ndarray
    shuffle_index: np.ndarray
    lengths: np.ndarray
    sequence_length: int
    extra: int = 1

    def pieces(self, samples: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return (of, sequence, start, stop) of the pieces of samples, int64[m] each, in order.

        `of` is the place in `samples`; `start` and `stop` are token offsets in the sequence.
        """
        at = self.shuffle_index[samples].astype(np.int64)
        first = self.sample_index[at].astype(np.int64)
        last = self.sample_index[at + 1].astype(np.int64)
        stop = last[:, 1] + self.extra
        of, place, begin, end = pieces_between(first[:, 0], first[:, 1], last[:, 0], stop)
        sequence = self.document_index[place].astype(np.int64)
        end = np.where(end < 0, self.lengths[sequence], end)
        kept = begin < end
        return of[kept], sequence[kept], begin[kept], end[kept]

    def holding(self, sequence: int, start: int, stop: int) -> np.ndarray:
        """Return the samples that hold a token of a sequence's range [start, stop), int64[n]."""
        lengths = self.lengths[self.document_index].astype(np.int64)
        begins = np.cumsum(lengths) - lengths
        made = len(self.shuffle_index)
        unshuffled = [
            samples_holding(begin + start, begin + stop, self.sequence_length, self.extra, made)
            for begin in begins[self.document_index == sequence].tolist()
        ]
        wanted = np.concatenate(unshuffled) if unshuffled else np.empty(0, np.int64)
        return np.flatnonzero(np.isin(self.shuffle_index, wanted))


def samples_holding(start: int, stop: int, length: int, extra: int, samples: int) -> np.ndarray:
    """Return the samples that hold a token of a stream's range [start, stop), int64[n].

    Sample i of `samples` holds [i · length, i · length + length + extra).
    """
    first = max(0, -(-(start + 1 - extra) // length) - 1)
    last = min(samples - 1, (stop - 1) // length)
    return np.arange(first, last + 1, dtype=np.int64)


def pieces_between(
    first: np.ndarray, start: np.ndarray, last: np.ndarray, stop: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Spread runs over rows: return (of, row, begin, end), int64[m] each.

    Run i goes from offset `start[i]` of row `first[i]` to offset `stop[i]` (not included) of row
    `last[i]`. `end` is -1 where the piece goes on to the end of its row.
    """
    count = last - first + 1
    of = np.repeat(np.arange(len(first)), count)
    row = np.arange(len(of)) - np.repeat(np.cumsum(count) - count - first, count)
    begin = np.where(row == first[of], start[of], 0)
    end = np.where(row == last[of], stop[of], -1)
    return of, row, begin, end

"""How many samples Megatron may draw before a token comes a second time.

Its builder asks each shard for `ceil(ceil(samples · weight) · 1.005)` samples. If that is more
than one epoch holds, a second epoch is made; as long as it is shuffled apart (see `gpt_dataset`)
and no more is drawn than the first epoch holds, none of it is read. A shard with a handful of
samples would bound all the others: it is left out if that lets more samples be drawn.
"""

from dataclasses import dataclass

from corpusclean.errors import RecipeError
from corpusclean.training.blend import Sizes, normalized
from corpusclean.training.data import Output, Shard
from corpusclean.training.gpt_dataset import SEPARATE_BELOW

__all__ = ["MegatronSupply", "megatron_supply"]


@dataclass(frozen=True)
class MegatronSupply:
    """What Megatron reads: the shards, each weighed by its tokens, and at most so many samples.

    `blended` is false where it reads one shard without a blend: named by its own path for
    training, beside those for validation.
    """

    shards: tuple[Shard, ...]
    left_out: tuple[Shard, ...]
    samples: int
    blended: bool


def megatron_supply(output: Output) -> MegatronSupply:
    """Return the most samples that can be drawn with no token read twice.

    Raises RecipeError if there is not one.
    """
    length = output.sequence_length
    by_size = sorted(output.shards, key=lambda shard: (-shard.tokens, shard.number))
    validated = any(shard["split"] == "validation" for shard in output.manifest["shards"])
    best = MegatronSupply((), output.shards, 0, True)
    for count in range(len(by_size), 0, -1):
        if sum(_epoch(shard, length) for shard in by_size[:count]) <= best.samples:
            break
        shards = tuple(sorted(by_size[:count], key=lambda shard: shard.number))
        blended = count > 1 or not validated
        samples = _most(shards, length) if blended else _epoch(shards[0], length)
        if samples > best.samples:
            left_out = tuple(shard for shard in output.shards if shard not in shards)
            best = MegatronSupply(shards, left_out, samples, blended)
    if best.samples == 0:
        raise RecipeError(
            f"{output.path('manifest.json')}: no shard is long enough for Megatron's loader; found "
            f"at most {by_size[0].tokens:,} tokens a shard at sequence length {length:,}; use "
            "larger shards (output.shard_tokens) or shorter sequences (output.sequence_length)"
        )
    return best


def _epoch(shard: Shard, length: int) -> int:
    return max(0, (shard.tokens - 1) // length)


def _most(shards: tuple[Shard, ...], length: int) -> int:
    """Return the largest number of samples that `_fits`; what fits more fits fewer."""
    weights = normalized([shard.tokens for shard in shards])
    epochs = [_epoch(shard, length) for shard in shards]

    def fits(samples: int) -> bool:
        sizes = Sizes(weights, samples)
        return all(
            drawn <= epoch and made - epoch < max(1, int(SEPARATE_BELOW * epoch))
            for drawn, made, epoch in zip(sizes.most_drawn, sizes.made, epochs, strict=True)
        )

    low, high = 0, sum(epochs)
    while low < high:
        middle = (low + high + 1) // 2
        if fits(middle):
            low = middle
        else:
            high = middle - 1
    return low

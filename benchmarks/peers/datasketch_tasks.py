"""MinHash as datasketch's users write it; run by the Python of its environment."""

from collections.abc import Callable, Iterator

import xxhash
from datasketch import MinHash
from serving import Job, Task, serve

_PACKAGES = ("datasketch", "numpy", "xxhash")
_PERMUTATIONS = 14 * 8
_WITHOUT_SPACES = ("zh", "ja", "th")


def shingles(text: str, language: str) -> Iterator[bytes]:
    """Yield word 5-grams of the lower-cased text, or 8-grams of characters without spaces."""
    words = text.lower().split()
    if language in _WITHOUT_SPACES:
        characters = "".join(words)
        yield from (characters[i : i + 8].encode() for i in range(len(characters) - 7))
    else:
        yield from (" ".join(words[i : i + 5]).encode() for i in range(len(words) - 4))


def tasks(texts: list[str], job: Job) -> dict[str, Task]:
    def signing(**hashing: Callable[[bytes], int]) -> Task:
        def sign() -> str:
            inputs = (list(shingles(text, job.language)) for text in texts)
            made = MinHash.generator(inputs, num_perm=_PERMUTATIONS, **hashing)
            return f"{sum(not each.is_empty() for each in made)} signed"

        return sign

    return {"minhash": signing(), "minhash, xxhash": signing(hashfunc=xxhash.xxh32_intdigest)}


if __name__ == "__main__":
    serve(_PACKAGES, tasks)

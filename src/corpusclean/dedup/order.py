"""The keep order: which of several like documents is kept."""

from collections.abc import Sequence
from difflib import get_close_matches

import numpy as np

from corpusclean.errors import RecipeError

__all__ = ["POLICIES", "keep_order"]

POLICIES = ("source_order", "longest")
"""What the recipe may list under `deduplicate.near.keep`."""


def keep_order(
    policies: Sequence[str], source_index: np.ndarray, characters: np.ndarray, uid: np.ndarray
) -> np.ndarray:
    """Return the place of every document in keep order, int64[n]: 0 for the one preferred most.

    `source_order` prefers the source listed first in the recipe (`source_index` int64[n]),
    `longest` the text with most `characters` (int64[n]); the policies decide in the order listed,
    and then the lower `uid` (uint64[n, 2], big-endian halves). The order of the input matters
    only between rows with one uid. Raises RecipeError for an unknown policy.
    """
    preferences = [_preference(policy, source_index, characters) for policy in policies]
    order = np.lexsort((uid[:, 1], uid[:, 0], *reversed(preferences)))
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    return place


def _preference(policy: str, source_index: np.ndarray, characters: np.ndarray) -> np.ndarray:
    if policy == "source_order":
        return source_index
    if policy == "longest":
        return -characters.astype(np.int64)
    nearest = get_close_matches(policy, POLICIES, 1)
    hint = f"; did you mean {nearest[0]!r}?" if nearest else ""
    raise RecipeError(
        f"deduplicate.near.keep: found {policy!r}, expected one of {', '.join(POLICIES)}{hint}"
    )

"""Where a peer's definition of a signal is ours, and where it is not.

For each signal: of which texts both must be equal, and what is different in the others. Words are
whitespace words on both sides.
"""

import itertools
import re
from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

STOP_WORDS = {"the", "be", "to", "of", "and", "that", "have", "with"}
_WORD = re.compile(r"\w")
_WORDS = re.compile(r"\S+")
_OTHER_BULLETS = "*‣⁃∙◦●○■□▪▫▶▸►·・"
_OTHER_BREAKS = re.compile("[\r\v\f\x1c-\x1e\x85\u2028\u2029]")


class Definition(NamedTuple):
    """What a peer's value of one of our signals means."""

    peer: str
    """The peer's own name for it."""
    equal: Callable[[str], bool]
    """Of which texts it must equal ours."""
    otherwise: str
    """What makes the difference in other texts; empty if there are none."""


def every(text: str) -> bool:
    return True


def has_words(text: str) -> bool:
    return bool(text.split())


def words_have_letters(text: str) -> bool:
    return has_words(text) and all(_WORD.search(word.replace("_", "")) for word in text.split())


def stop_words_are_small(text: str) -> bool:
    words = text.split()
    return all(word in STOP_WORDS for word in words if word.casefold() in STOP_WORDS)


def tidy(text: str) -> bool:
    """Tell whether lines end in no space, blank lines are empty, and no end of the text is blank.

    Such a text has the same lines and paragraphs by every definition that passes over blank lines.
    """
    lines = text.split("\n")
    return bool(text) and text == text.strip() and all(line == line.rstrip() for line in lines)


def dense(text: str) -> bool:
    """Tell whether there is no blank line either, nor a break of lines that is no newline."""
    return tidy(text) and "\n\n" not in text and not _OTHER_BREAKS.search(text)


def dense_without_other_bullets(text: str) -> bool:
    return dense(text) and not any(
        line.lstrip().startswith(tuple(_OTHER_BULLETS)) for line in text.split("\n")
    )


def top_is_plain(order: int) -> Callable[[str], bool]:
    """Tell whether the characters of the most frequent n-gram are so many by every definition.

    It occurs at least twice and no other as often, its occurrences do not overlap, and one
    character stands between its words.
    """

    def plain(text: str) -> bool:
        words = list(_WORDS.finditer(text))
        texts = [word.group() for word in words]
        grams = [tuple(texts[i : i + order]) for i in range(len(texts) - order + 1)]
        counts = Counter(grams).most_common(2)
        if not counts or counts[0][1] < 2 or (len(counts) == 2 and counts[1][1] == counts[0][1]):
            return False
        top = counts[0][0]
        places = [i for i, gram in enumerate(grams) if gram == top]
        lengths = {words[i + order - 1].end() - words[i].start() for i in places}
        apart = all(b - a >= order for a, b in itertools.pairwise(places))
        return apart and lengths == {len(" ".join(top))}

    return plain


def never(text: str) -> bool:
    return False


_BLANK = "blank lines count, and ends of lines keep their spaces"
_TOP = "one that occurs once counts; overlaps count twice; one space between words, whatever it is"
_DUPLICATE = "the first copy does not count, nor do the spaces between words"

DATATROVE = {
    "words": Definition("words", words_have_letters, "words all of punctuation are none"),
    "mean_word_length": Definition(
        "mean_word_length", words_have_letters, "words all of punctuation are none"
    ),
    "hash_word_ratio": Definition("hash_word_ratio", has_words, ""),
    "ellipsis_word_ratio": Definition("ellipsis_word_ratio", has_words, ""),
    "alphabetic_word_fraction": Definition("alphabetic_word_fraction", has_words, ""),
    "stop_words": Definition("stop_words", stop_words_are_small, "capitals make another word"),
    "bullet_line_fraction": Definition(
        "bullet_line_fraction", dense_without_other_bullets, f"{_BLANK}; bullets are • and - alone"
    ),
    "ellipsis_line_fraction": Definition("ellipsis_line_fraction", dense, _BLANK),
    "duplicate_line_fraction": Definition("duplicate_line_fraction", tidy, _BLANK),
    "duplicate_line_character_fraction": Definition(
        "duplicate_line_character_fraction", tidy, _BLANK
    ),
    "duplicate_paragraph_fraction": Definition("duplicate_paragraph_fraction", tidy, _BLANK),
    "duplicate_paragraph_character_fraction": Definition(
        "duplicate_paragraph_character_fraction", tidy, _BLANK
    ),
    **{
        f"top_{n}gram_character_fraction": Definition(
            f"top_{n}gram_character_fraction", top_is_plain(n), _TOP
        )
        for n in range(2, 5)
    },
    **{
        f"duplicate_{n}gram_character_fraction": Definition(
            f"duplicate_{n}gram_character_fraction", never, _DUPLICATE
        )
        for n in range(5, 11)
    },
}

_OF_WORDS = "a share of the characters of words, not of the text"

DOLMA = {
    "characters": Definition("character_count", every, ""),
    "words": Definition("word_count", every, ""),
    "mean_word_length": Definition("median_word_length", never, "the median"),
    "alphabetic_word_fraction": Definition("fraction_of_words_with_alpha_character", has_words, ""),
    "stop_words": Definition(
        "required_word_count", never, "counts occurrences; capitals make another word"
    ),
    "bullet_line_fraction": Definition(
        "fraction_of_lines_starting_with_bullet_point", never, "bullets are * and - at the margin"
    ),
    "ellipsis_line_fraction": Definition(
        "fraction_of_lines_ending_with_ellipsis", never, "three full stops are none"
    ),
    "duplicate_line_fraction": Definition(
        "fraction_of_duplicate_lines", never, f"the first copy counts; {_BLANK}"
    ),
    "duplicate_line_character_fraction": Definition(
        "fraction_of_characters_in_duplicate_lines", never, f"the first copy counts; {_OF_WORDS}"
    ),
    **{
        f"top_{n}gram_character_fraction": Definition(
            f"fraction_of_characters_in_most_common_{n}grams", never, f"{_OF_WORDS}; {_TOP}"
        )
        for n in range(2, 5)
    },
    **{
        f"duplicate_{n}gram_character_fraction": Definition(
            f"fraction_of_characters_in_duplicate_{n}grams",
            never,
            "a share of the characters of all n-grams, each with all its own",
        )
        for n in range(5, 11)
    },
}
"""Its `symbol_to_word_ratio` is our two ratios in one, of words that hold such a symbol."""

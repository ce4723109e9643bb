"""What datatrove's own code finds in texts; run by the Python of its environment.

Reads JSON lines `{"text"}` from standard input and writes a line for each: `values`, the numbers
that its Gopher filters compare with their limits, with whitespace words in place of spaCy's;
`words`, how many of these there are; `language` and its probability, if the path of a fastText
model is the first argument.

A filter tells no numbers. The limits given to it here note what they are compared with, and never
fire, so that all of them are reached.
"""

import json
import sys

from datatrove.data import Document
from datatrove.pipeline.filters import gopher_quality_filter, gopher_repetition_filter
from datatrove.utils.lid import FT176LID


class Limit:
    """A limit that nothing crosses and that remembers the numbers compared with it."""

    __array_priority__ = 1000

    def __init__(self) -> None:
        self.seen: list[float] = []

    def _note(self, other: float) -> bool:
        self.seen.append(float(other))
        return False

    __gt__ = __lt__ = _note
    __array_ufunc__ = None


class Gopher:
    """Both filters, their limits replaced."""

    def __init__(self) -> None:
        for module in (gopher_quality_filter, gopher_repetition_filter):
            module.split_into_words = lambda text, language: text.split()
        self.limits: dict[str, Limit] = {}
        self.quality = gopher_quality_filter.GopherQualityFilter(
            min_doc_words=self._limit("words"),
            max_doc_words=None,
            min_avg_word_length=self._limit("mean_word_length"),
            max_avg_word_length=None,
            max_symbol_word_ratio=self._limit("symbols"),
            max_bullet_lines_ratio=self._limit("bullet_line_fraction"),
            max_ellipsis_lines_ratio=self._limit("ellipsis_line_fraction"),
            max_non_alpha_words_ratio=self._limit("alphabetic_word_fraction"),
            min_stop_words=self._limit("stop_words"),
        )
        self.repetition = gopher_repetition_filter.GopherRepetitionFilter(
            dup_line_frac=self._limit("duplicate_line_fraction"),
            dup_para_frac=self._limit("duplicate_paragraph_fraction"),
            dup_line_char_frac=self._limit("duplicate_line_character_fraction"),
            dup_para_char_frac=self._limit("duplicate_paragraph_character_fraction"),
            top_n_grams=tuple(
                (n, self._limit(f"top_{n}gram_character_fraction")) for n in range(2, 5)
            ),
            dup_n_grams=tuple(
                (n, self._limit(f"duplicate_{n}gram_character_fraction")) for n in range(5, 11)
            ),
        )

    def _limit(self, name: str) -> Limit:
        return self.limits.setdefault(name, Limit())

    def values(self, text: str) -> dict[str, float]:
        """Return what each limit was compared with; none if the filter never came so far."""
        for limit in self.limits.values():
            limit.seen.clear()
        document = Document(text=text, id="")
        if text.split():
            # Without a word the quality filter divides by zero.
            self.quality.filter(document)
        if text:
            self.repetition.filter(document)
        found = {name: limit.seen[0] for name, limit in self.limits.items() if limit.seen}
        if "symbols" in found:
            del found["symbols"]
            found["hash_word_ratio"], found["ellipsis_word_ratio"] = self.limits["symbols"].seen
        return found


def main() -> None:
    gopher = Gopher()
    model = None
    if len(sys.argv) > 1:
        from fasttext.FastText import _FastText

        model = FT176LID()
        model._model = _FastText(sys.argv[1])
    for line in sys.stdin:
        text = json.loads(line)["text"]
        told = {"values": gopher.values(text), "words": len(text.split())}
        if model is not None and text:
            told["language"], told["probability"] = model.predict(Document(text=text, id=""))[0]
        print(json.dumps(told))


if __name__ == "__main__":
    main()

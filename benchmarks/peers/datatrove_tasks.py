"""datatrove's own filters, on every document; run by the Python of its environment."""

from collections.abc import Callable

from datatrove.data import Document
from datatrove.pipeline.decont.n_grams import NGramsDecontConfig, NGramsDecontFilter
from datatrove.pipeline.dedup.minhash import MinhashConfig, MinhashDedupSignature
from datatrove.pipeline.filters import gopher_quality_filter, gopher_repetition_filter
from datatrove.pipeline.filters.base_filter import get_filter_result
from datatrove.pipeline.filters.language_filter import LanguageFilter
from datatrove.utils.text import ngrams, simplify_text, split_into_words
from fasttext.FastText import _FastText
from serving import Job, Task, serve, texts_of

_NEVER = float("inf")
_WORDS_OF = {"en": "eng", "zh": "cmn"}
"""Its word tokenizers have other names for languages; by the short ones it means a general one."""

_PACKAGES = ("datatrove", "spacy", "jieba", "fasttext-numpy2-wheel", "numpy", "xxhash")

Filter = Callable[[Document], object]


class Whitespace:
    """Stands for a word tokenizer."""

    def word_tokenize(self, text: str) -> list[str]:
        return text.split()


def words_of(job: Job) -> str:
    return _WORDS_OF.get(job.language, job.language)


def kept_by(filters: list[Filter], documents: list[Document]) -> list[Document]:
    """Return the documents that all filters keep.

    A document goes through all filters before the next one does, as in datatrove's pipelines: the
    words of the last few texts are cached there.
    """
    return [
        document
        for document in documents
        if all(get_filter_result(keeps(document))[0] for keeps in filters)
    ]


def gopher_as_shipped(language: str) -> list[Filter]:
    repetition = gopher_repetition_filter.GopherRepetitionFilter(language=language)
    quality = gopher_quality_filter.GopherQualityFilter(language=language)
    return [repetition.filter, quality.filter]


def gopher_every_signal(language: str) -> list[Filter]:
    """Limits that nothing reaches: every signal of every document is computed."""
    repetition = gopher_repetition_filter.GopherRepetitionFilter(
        dup_line_frac=_NEVER,
        dup_para_frac=_NEVER,
        dup_line_char_frac=_NEVER,
        dup_para_char_frac=_NEVER,
        top_n_grams=tuple((n, _NEVER) for n in range(2, 5)),
        dup_n_grams=tuple((n, _NEVER) for n in range(5, 11)),
        language=language,
    )
    quality = gopher_quality_filter.GopherQualityFilter(
        min_doc_words=-1,
        max_doc_words=_NEVER,
        min_avg_word_length=-1,
        max_avg_word_length=_NEVER,
        max_symbol_word_ratio=_NEVER,
        max_bullet_lines_ratio=_NEVER,
        max_ellipsis_lines_ratio=_NEVER,
        max_non_alpha_words_ratio=-1,
        min_stop_words=-1,
        language=language,
    )
    return [repetition.filter, quality.filter]


class Words:
    """The steps with one kind of words: spaCy's, as shipped, or whitespace words."""

    def __init__(self, job: Job, whitespace: bool) -> None:
        self.split = (lambda text, language: text.split()) if whitespace else split_into_words
        self.minhash = MinhashDedupSignature(
            "unused", MinhashConfig(n_grams=5), language=words_of(job)
        )
        config = NGramsDecontConfig(n_grams=job.ngram)
        self.decontamination = NGramsDecontFilter("unused", config, language=words_of(job))
        if whitespace:
            self.minhash.word_tokenizer = Whitespace()
            self.decontamination.tokenizer = Whitespace()
        self.decontamination._index_hashes = dict.fromkeys(self._grams(job), "benchmark")

    def _grams(self, job: Job) -> set[int]:
        step = self.decontamination
        found = set()
        for text in texts_of(job.benchmark):
            words = step.tokenizer.word_tokenize(simplify_text(text, step.config.norm_config))
            found |= {step.hash_func(" ".join(gram)) for gram in ngrams(words, job.ngram)}
        return found

    def filter(self, filters: list[Filter], documents: list[Document]) -> list[Document]:
        gopher_quality_filter.split_into_words = self.split
        gopher_repetition_filter.split_into_words = self.split
        return kept_by(filters, documents)

    def sign(self, documents: list[Document]) -> int:
        signed = 0
        for document in documents:
            shingles = self.minhash.get_shingles(document.text)
            if shingles.size:
                self.minhash.get_signature(shingles)
                signed += 1
        return signed


def tasks(texts: list[str], job: Job) -> dict[str, Task]:
    documents = [Document(text=text, id=str(number)) for number, text in enumerate(texts)]
    language = LanguageFilter(languages=[job.language], language_threshold=0.65)
    language.model._model = _FastText(job.model)
    kinds = {"": Words(job, whitespace=False), ", whitespace words": Words(job, whitespace=True)}

    def filtering(words: Words, filters: list[Filter]) -> Task:
        return lambda: f"{len(words.filter(filters, documents))} kept"

    def chain() -> str:
        words = kinds[""]
        filters = [language.filter, *gopher_as_shipped(words_of(job))]
        left = words.filter(filters, documents)
        words.sign(left)
        left = kept_by([words.decontamination.filter], left)
        return f"{len(left)} kept"

    made: dict[str, Task] = {"language": filtering(kinds[""], [language.filter])}
    made["gopher, stops at the first rule"] = filtering(kinds[""], gopher_as_shipped(words_of(job)))
    for name, words in kinds.items():
        signals = gopher_every_signal(words_of(job))
        looked_up = [words.decontamination.filter]
        made[f"gopher{name}"] = filtering(words, signals)
        made[f"minhash{name}"] = lambda words=words: f"{words.sign(documents)} signed"
        made[f"decontamination{name}"] = filtering(words, looked_up)
    made["chain"] = chain
    return made


if __name__ == "__main__":
    serve(_PACKAGES, tasks)

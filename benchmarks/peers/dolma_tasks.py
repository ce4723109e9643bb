"""Dolma's own taggers, on every document; run by the Python of its environment."""

from dolma.core.data_types import Document
from dolma.core.taggers import BaseTagger
from dolma.taggers.gopher import GopherTagger
from dolma.taggers.language import FastTextAllLanguagesDocumentTagger
from serving import Job, Task, serve

_PACKAGES = ("dolma", "fasttext-wheel", "numpy")


def tasks(texts: list[str], job: Job) -> dict[str, Task]:
    documents = [Document("bench", str(number), text) for number, text in enumerate(texts)]
    # The model is named by an attribute of the class, and fetched if that is no local file.
    FastTextAllLanguagesDocumentTagger.MODEL_PATH = job.model

    def tagging(tagger: BaseTagger) -> Task:
        return lambda: f"{sum(len(tagger.predict(each).spans) for each in documents)} spans"

    return {
        "gopher": tagging(GopherTagger()),
        "language": tagging(FastTextAllLanguagesDocumentTagger()),
    }


if __name__ == "__main__":
    serve(_PACKAGES, tasks)

"""The files that a recipe names: whether they are there and can be what they are taken for."""

from collections.abc import Iterator

from corpusclean import files
from corpusclean.errors import CorpuscleanError
from corpusclean.recipe.models import Recipe
from corpusclean.recipe.problems import Keys, Problem, expected_one_of

__all__ = ["input_problems"]


def input_problems(recipe: Recipe) -> list[str]:
    """Return what is wrong with the files that a recipe names, a message each."""
    return [str(problem) for problem in _problems(recipe)]


def _problems(recipe: Recipe) -> Iterator[Problem]:
    for name, source in recipe.sources.items():
        yield from _inputs(source.inputs, recipe, ("sources", name, "input"))
    if recipe.decontaminate is not None:
        for name, benchmark in recipe.decontaminate.benchmarks.items():
            keys = ("decontaminate", "benchmarks", name, "input")
            yield from _inputs(benchmark.inputs, recipe, keys)
    for name, blocklist in recipe.blocklists.items():
        yield from _terms(recipe.resolve(blocklist.terms), ("blocklists", name, "terms"))
    yield from _file(recipe.resolve(recipe.tokenizer.file), ("tokenizer", "file"))
    yield from _languages(recipe)


def _inputs(patterns: list[str], recipe: Recipe, keys: Keys) -> Iterator[Problem]:
    from corpusclean.sources.formats import format_of

    for pattern in patterns:
        try:
            for path in files.expand(pattern, recipe.folder):
                format_of(path)
        except (CorpuscleanError, OSError, ValueError, ImportError) as error:
            yield Problem(str(error), keys)


def _file(path: str, keys: Keys) -> Iterator[Problem]:
    try:
        files.size_and_mtime(path)
        with files.open_read(path) as file:
            file.read(1)
    except FileNotFoundError:
        yield Problem(f"there is no file {path}", keys)
    except (OSError, ValueError, ImportError) as error:
        yield Problem(f"{path} cannot be read: {error}", keys)


def _terms(path: str, keys: Keys) -> Iterator[Problem]:
    from corpusclean.signals.blocklists import read_terms

    found = list(_file(path, keys))
    yield from found
    if found:
        return
    try:
        read_terms(path)
    except (CorpuscleanError, ValueError) as error:
        yield Problem(str(error), keys)


def _languages(recipe: Recipe) -> Iterator[Problem]:
    """Find language codes that the model never gives."""
    named: list[tuple[Keys, tuple[str, ...]]] = []
    for name, source in recipe.sources.items():
        if source.languages is not None:
            named.append((("sources", name, "languages", "keep"), source.languages.keep))
    for name, blocklist in recipe.blocklists.items():
        named.append((("blocklists", name, "languages"), blocklist.languages or ()))
    if not any(codes for _, codes in named):
        return
    from corpusclean.signals.language import UNKNOWN, LanguageModel

    known = {*LanguageModel.load().labels, UNKNOWN}
    for keys, codes in named:
        for code in codes:
            if code not in known:
                said = f"the language model has no {code!r}; {expected_one_of(code, sorted(known))}"
                yield Problem(said, keys)

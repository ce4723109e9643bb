"""Rule sets as files: where they are found, and what one may hold.

A rule set's name is its path under a `filters` folder without `.yaml`. The folders are, in this
order, the one beside the recipe and the one that the package ships; the first that has a name
gives the rule set.
"""

import glob
import re
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field

import corpusclean
from corpusclean import files
from corpusclean.errors import CorpuscleanError
from corpusclean.recipe.models import Overrides, Section
from corpusclean.recipe.problems import Problem, RecipeProblems, expected_one_of, shown
from corpusclean.recipe.shape import fit
from corpusclean.recipe.values import language_code, text_value
from corpusclean.recipe.yaml_file import Document, read_yaml

__all__ = ["RuleSetFile", "Scope", "filter_folders", "find_rule_sets", "read_rule_set"]

Scope = Literal["document", "paragraph", "sentence", "line"]
"""What goes when a rule fires."""

_NAME = re.compile(r"[a-z][a-z0-9_]*", re.ASCII)
_SUFFIX = ".yaml"


def _name(value: str) -> str:
    if not _NAME.fullmatch(value):
        raise ValueError(f"found the name {shown(value)}, expected a-z 0-9 _ and a letter in front")
    return value


def _prose(value: Any) -> Any:
    return text_value(" ".join(value.split())) if isinstance(value, str) else value


def _parameter(value: Any) -> Any:
    items = value if isinstance(value, tuple | list) else (value,)
    if not items or any(not isinstance(item, str | int | float) for item in items):
        raise ValueError(f"found {shown(value)}, expected a text, a number or a list of them")
    return value


Prose = Annotated[str, BeforeValidator(_prose)]
Name = Annotated[str, AfterValidator(_name)]


class RuleSetFile(Section):
    """What a rule set's file may hold."""

    source: Prose
    scope: Scope = "document"
    language: Annotated[str, AfterValidator(language_code)] | None = None
    """The one language that the rules are made for."""
    interpretation: Prose | None = None
    """What was chosen where the source leaves a choice."""
    each: Literal["blocklist"] | None = None
    """The rule set stands once for each blocklist of the recipe, and has one rule."""
    parameters: dict[Name, Annotated[Any, BeforeValidator(_parameter)]] = Field({})
    """What a predicate may name as `$name`, and its value where the recipe gives none."""
    drop: Annotated[Overrides, Field(min_length=1)]
    """A predicate for each rule."""


def filter_folders(recipe_folder: str | None = None) -> tuple[str, ...]:
    """Return the folders in which rule sets are looked for, the first one first."""
    package = Path(corpusclean.__file__).parent
    # A wheel has the folder inside the package; a checkout beside src.
    shipped = package / "filters"
    own = str(shipped if shipped.is_dir() else package.parents[1] / "filters")
    if recipe_folder is None:
        return (own,)
    beside = files.join(recipe_folder, "filters")
    return tuple(dict.fromkeys((beside, own)))


def find_rule_sets(search: tuple[str, ...]) -> dict[str, str]:
    """Return the paths of all rule sets by their names."""
    found: dict[str, str] = {}
    for folder in search:
        for path in sorted(_files_below(folder)):
            name = path[len(folder) :].strip("/\\").replace("\\", "/").removesuffix(_SUFFIX)
            found.setdefault(name, path)
    return found


def _files_below(folder: str) -> list[str]:
    if files.is_url(folder):
        try:
            return files.expand(f"**/*{_SUFFIX}", folder)
        except (CorpuscleanError, OSError, ImportError):
            return []  # a folder beside the recipe is a choice
    return glob.glob(f"{glob.escape(folder)}/**/*{_SUFFIX}", recursive=True)


def read_rule_set(name: str, search: tuple[str, ...]) -> tuple[RuleSetFile, Document]:
    """Return a rule set's file and where its entries stand; RecipeProblems if it is not right."""
    found = find_rule_sets(search)
    if name not in found:
        said = f"unknown rule set {shown(name)}; {expected_one_of(name, sorted(found))}"
        raise RecipeProblems([Problem(said)])
    document = read_yaml(found[name])
    file, problems = fit(RuleSetFile, document.data)
    if file is not None:
        problems = _own_problems(file)
    if problems:
        raise RecipeProblems([document.locate(problem) for problem in problems])
    return file, document


def _own_problems(file: RuleSetFile) -> list[Problem]:
    problems = [
        Problem(
            f"found the name {shown(rule)}, expected a-z 0-9 _ and a letter in front",
            ("drop", rule),
        )
        for rule in file.drop
        if not _NAME.fullmatch(rule)
    ]
    if file.each and len(file.drop) != 1:
        said = f"found {len(file.drop)} rules, expected one, since it stands for each {file.each}"
        problems.append(Problem(said, ("drop",)))
    return problems

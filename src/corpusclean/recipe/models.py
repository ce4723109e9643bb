"""The recipe: a user's YAML as frozen models.

The models say what each entry may hold; `load_recipe` reads a file into them. Defaults stand
here and nowhere else. Paths stay as they were written; `Recipe.resolve` makes them absolute.
"""

import hashlib
import json
import os
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PrivateAttr,
    model_validator,
)

from corpusclean import files
from corpusclean.errors import RecipeError
from corpusclean.mixture.budget import budget_tokens
from corpusclean.recipe.values import (
    OFF,
    blocklist_name,
    file_name,
    filter_entry,
    language_code,
    listed,
    off_is_none,
    predicate,
    quantity,
    switch,
    text_value,
    unique,
)

__all__ = [
    "OFF",
    "AfterCuts",
    "Benchmark",
    "Blocklist",
    "Budget",
    "Decontaminate",
    "Deduplicate",
    "Filters",
    "Languages",
    "Mixture",
    "Near",
    "Output",
    "Overrides",
    "Recipe",
    "Section",
    "Source",
    "Tokenizer",
    "check_recipe",
    "load_recipe",
]

_Listed = BeforeValidator(listed)
_Unique = AfterValidator(unique)
_NotEmpty = Field(min_length=1)

Text = Annotated[str, AfterValidator(text_value)]
Name = Annotated[str, AfterValidator(file_name)]
Code = Annotated[str, AfterValidator(language_code)]
Quantity = Annotated[int, BeforeValidator(quantity)]
Switch = Annotated[bool, BeforeValidator(switch)]
Share = Annotated[float, Field(ge=0, le=1)]
Texts = Annotated[tuple[Text, ...], _Listed, _NotEmpty, _Unique]
Codes = Annotated[tuple[Code, ...], _Listed, _NotEmpty, _Unique]
Overrides = dict[str, Annotated[str, BeforeValidator(predicate)]]
"""For rules of one rule set another predicate, or `off`."""
Filters = Annotated[
    tuple[Annotated[dict[str, Overrides], BeforeValidator(filter_entry)], ...], _Listed
]
"""Rule sets in the order of decisions: each {name: overrides}, most with none."""


class Section(BaseModel):
    """A part of a YAML file, with known keys and exact types."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


class Languages(Section):
    """Which languages of a source are kept."""

    keep: Codes
    min_probability: Share | None = None
    """None leaves it to the rule set `language`."""


class Source(Section):
    """A named corpus: its files, what is read of them, its filters and its share."""

    input: Texts
    text: Text = "text"
    id: Text | None = None
    url: Text | None = None
    metadata: Annotated[tuple[Text, ...], _Listed, _Unique] = ()
    ratio: Share
    languages: Languages | None = None
    filters: Filters = ()
    max_quarantined: Share = 0.01

    @property
    def inputs(self) -> list[str]:
        """The paths and patterns of the source's files."""
        return list(self.input)

    @property
    def rule_sets(self) -> dict[str, Overrides]:
        """The overrides that the source itself has for each of its rule sets."""
        return {name: rules for entry in self.filters for name, rules in entry.items()}

    @model_validator(mode="after")
    def _each_filter_once(self) -> "Source":
        unique(tuple(name for entry in self.filters for name in entry))
        return self


class Blocklist(Section):
    """A list of terms, and how many of them a document may hold."""

    terms: Text
    languages: Codes | None = None
    """The languages in whose documents terms are looked for; None for all."""
    scope: Literal["document"] = "document"
    max_hits: Annotated[int, Field(ge=0)] = 0


class Near(Section):
    """Near duplicates: shingles of words, signatures of bands times rows values."""

    shingle: Annotated[int, Field(ge=1, le=100)] = 5
    bands: Annotated[int, Field(ge=1, le=1000)] = 14
    rows: Annotated[int, Field(ge=1, le=1000)] = 8
    similarity: Annotated[float, Field(gt=0, le=1)] = 0.75
    keep: Annotated[tuple[Literal["source_order", "longest"], ...], _Listed, _NotEmpty, _Unique] = (
        "source_order",
        "longest",
    )


class Deduplicate(Section):
    """Which duplicates are dropped."""

    exact: Switch = True
    near: Annotated[Near | None, BeforeValidator(off_is_none)] = None


class Benchmark(Section):
    """An evaluation set: its files, and the fields of which an item's text consists."""

    input: Texts
    fields: Texts

    @property
    def inputs(self) -> list[str]:
        """The paths and patterns of the benchmark's files."""
        return list(self.input)


class Decontaminate(Section):
    """Which benchmarks are looked for in training text, how, and what is done about it."""

    benchmarks: Annotated[dict[Name, Benchmark], _NotEmpty]
    method: Literal["gpt3"] = "gpt3"
    ngram: Annotated[int, Field(ge=1, le=100)] = 13
    action: Literal["cut", "drop", "report"] = "cut"


class AfterCuts(Section):
    """What must be left of a document after its cuts."""

    min_characters: Annotated[int, Field(ge=0)] = 0
    max_cut_share: Share = 1.0


class Mixture(Section):
    """What gives way if a source is too small for its ratio, and how often it may be repeated."""

    shortfall: Literal["fail", "shrink", "waterfill"] = "fail"
    max_epochs: Annotated[float, Field(gt=0)] = 4.0


class Budget(Section):
    """The tokens to emit: as such, or by a model's parameters, or by training compute."""

    tokens: Quantity | None = None
    parameters: Quantity | None = None
    tokens_per_parameter: Annotated[float, Field(gt=0)] | None = None
    flops: Quantity | None = None

    @property
    def total(self) -> int:
        """The tokens to emit."""
        return budget_tokens(self.model_dump())

    @model_validator(mode="after")
    def _one_of_them(self) -> "Budget":
        if self.tokens is not None and self.tokens_per_parameter is not None:
            raise ValueError(
                "found tokens_per_parameter beside tokens, expected it beside parameters or flops"
            )
        try:
            budget_tokens(self.model_dump())
        except RecipeError as error:
            raise ValueError(str(error).removeprefix("budget: ")) from None
        return self


class Tokenizer(Section):
    """A tokenizer file, and the token that ends a document."""

    file: Text
    eod: Annotated[str, Field(min_length=1)] | None = None
    """None finds it by the usual names in the vocabulary."""


class Output(Section):
    """Where shards go, and their shape."""

    directory: Text
    format: Literal["megatron", "mds", "nanotron", "olmo", "parquet", "arrow"] = "megatron"
    sequence_length: Quantity = 2048
    shard_tokens: Quantity = 100_000_000
    append_eod: Switch = True


class Recipe(Section):
    """All that a run is asked to do."""

    name: Name
    seed: Annotated[int, Field(ge=0, lt=1 << 64)] = 0
    sources: Annotated[dict[Name, Source], _NotEmpty]
    """In the order of the file, which the keep policy `source_order` means."""
    filters: dict[str, Overrides] = {}
    """Overrides of rule sets, for all sources; those of a source itself come before them."""
    blocklists: dict[Annotated[str, AfterValidator(blocklist_name)], Blocklist] = {}
    deduplicate: Annotated[Deduplicate | None, BeforeValidator(off_is_none)] = None
    decontaminate: Decontaminate | None = None
    after_cuts: AfterCuts = AfterCuts()
    mixture: Mixture = Mixture()
    budget: Budget
    tokenizer: Tokenizer
    output: Output

    _path: str = PrivateAttr("")

    @property
    def path(self) -> str:
        """The absolute path of the recipe's file, or its URL; empty if it was made in memory."""
        return self._path

    @property
    def folder(self) -> str:
        """The folder that relative paths are relative to."""
        if files.is_url(self._path):
            return self._path.rpartition("/")[0]
        return str(Path(self._path).parent) if self._path else str(Path.cwd())

    def resolve(self, path: str) -> str:
        """Return a path of the recipe as an absolute one; a URL is left alone."""
        if files.is_url(path):
            return path
        home = Path(path).expanduser()
        if not home.is_absolute() and files.is_url(self.folder):
            return files.join(self.folder, path)
        return os.path.normpath(Path(self.folder, home))

    @property
    def output_directory(self) -> str:
        """The absolute output directory."""
        return self.resolve(self.output.directory)

    @property
    def sha256(self) -> str:
        """The hex SHA-256 of what the recipe says, defaults included.

        Comments, the order of keys and the form of numbers do not change it; the order of
        sources, filters and blocklists does, since decisions depend on it.
        """
        return hashlib.sha256(_canonical(self.model_dump(mode="json"))).hexdigest()


def _canonical(said: dict[str, Any]) -> bytes:
    ordered = {"sources": list(said["sources"].items()), "blocklists": list(said["blocklists"])}
    text = json.dumps([said, ordered["sources"], ordered["blocklists"]], sort_keys=True)
    return text.encode()


def load_recipe(path: str | Path) -> Recipe:
    """Read a recipe; RecipeProblems names everything that is wrong with it.

    Rule sets and their predicates are checked too. The files that the recipe names are not
    opened: `check_recipe` does that.
    """
    from corpusclean.recipe.reading import read_recipe

    return read_recipe(str(path))


def check_recipe(recipe: Recipe) -> list[str]:
    """Return what is wrong with the files that a recipe names; nothing if all is well."""
    from corpusclean.recipe.inputs import input_problems

    return input_problems(recipe)

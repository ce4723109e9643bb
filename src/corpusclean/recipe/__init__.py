"""The recipe: a user's YAML as frozen models, and everything that can be wrong with it.

`models` says what each entry may hold and its defaults; `load_recipe` reads a file into them;
`check_recipe` looks at the files that a recipe names.
"""

from corpusclean.recipe.models import Recipe, check_recipe, load_recipe

__all__ = ["Recipe", "check_recipe", "load_recipe"]

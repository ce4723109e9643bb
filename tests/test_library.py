"""The names that `import corpusclean` offers."""

import pytest

import corpusclean


@pytest.mark.parametrize("name", corpusclean.__all__)
def test_every_public_name_is_there_and_documented(name):
    assert getattr(corpusclean, name).__doc__


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="nothing"):
        _ = corpusclean.nothing


def test_dir_lists_the_public_names():
    assert dir(corpusclean) == corpusclean.__all__

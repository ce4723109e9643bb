# Every target sets up what it needs in .venv; nothing else is installed or opened.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test lint bench clean

demo: .venv/installed
	$(BIN)/corpusclean run pipelines/quickstart.yaml
	$(BIN)/corpusclean verify out/quickstart

test: .venv/installed-dev
	$(BIN)/ruff check src tests tools benchmarks sample_data
	$(BIN)/ruff format --check src tests tools benchmarks sample_data
	$(BIN)/mypy
	$(BIN)/python -m pytest -n 2

bench: .venv/installed-dev
	$(BIN)/python benchmarks/bench_pipeline.py

clean:
	rm -rf .venv out

.venv/bin/python:
	$(PYTHON) -c 'import sys; assert (3, 11) <= sys.version_info < (3, 14), "Python 3.11 to 3.13 is needed; name one with make PYTHON=python3.12"'
	$(PYTHON) -m venv .venv

.venv/installed: .venv/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	touch $@

.venv/installed-dev: .venv/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	touch $@ .venv/installed

# Two commands do everything on a fresh machine: `make demo` and `make test`.
# They need python3.11 or newer with venv, and make; the rest they fetch themselves.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check -qq

.PHONY: help setup demo test check docs bench fuzz lock clean

help:            ## this list
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## */\t/' | expand -t 10

setup: $(VENV)/.all  ## .venv with everything: all extras, tests, linters, peers

demo: $(VENV)/.core  ## set up what undust needs, then find the duplicates of the shipped sample
	@$(BIN)/undust demo

test: $(VENV)/.all $(VENV)/.pywb   ## set up everything, then run all tests
	@tests/system-parts.sh
	$(BIN)/python -m pytest --numprocesses auto --dist worksteal

check: $(VENV)/.all  ## ruff, mypy --strict, import contracts
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

docs: $(VENV)/.all   ## the pages of docs/ as a site, in site/
	$(BIN)/python -m docs.generate
	$(BIN)/sphinx-build --fail-on-warning --keep-going -q docs site

bench: $(VENV)/.all  ## undust beside its peers, as ratios
	$(BIN)/python -m benchmarks

fuzz: $(VENV)/.all   ## coverage-guided fuzzing, ten minutes (SECONDS=600)
	$(BIN)/python -m tests.fuzz --seconds $(or $(SECONDS),600)

lock:                ## write the lock files anew (needs uv)
	requirements/lock.sh

clean:               ## forget the set-up and the caches
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis undust-demo

# A stamp file tells make that an install is done and still fits its lock file, so a second run costs nothing.
$(VENV)/.python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "undust needs Python 3.11 or newer; try make PYTHON=python3.12")'
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.core: $(VENV)/.python requirements/core.txt requirements/build.txt pyproject.toml
	@echo "Installing undust into $(VENV) ..."
	$(PIP) install --require-hashes -r requirements/build.txt -r requirements/core.txt
	$(PIP) install --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/.all: $(VENV)/.core requirements/all.txt
	@echo "Installing the extras, tests and peers into $(VENV) ..."
	$(PIP) install --require-hashes -r requirements/all.txt
	@touch $@

# pywb wants older packages than the rest can live with, so it lives alone; only the test of its export needs it.
$(VENV)/.pywb: $(VENV)/.python requirements/pywb.txt
	@echo "Installing pywb into $(VENV)/pywb ..."
	@$(PYTHON) -m venv $(VENV)/pywb \
	    && $(VENV)/pywb/bin/python -m pip --disable-pip-version-check -qq install --require-hashes -r requirements/pywb.txt \
	    && touch $@ || echo "pywb could not be installed: the test that needs it will be skipped."

# Everything runs in .venv, which is made from PyPI: no root, no Docker, no Maven.
VENV := .venv
BIN := $(VENV)/bin
# Images of Python often forbid it to keep what it compiled. Here some thousand processes start.
unexport PYTHONDONTWRITEBYTECODE
INSTALLED := $(VENV)/.installed

# The first Python that is recent enough. An old `python3` in front of a newer one is common.
PYTHON ?= $(shell for python in python3 python3.13 python3.12 python3.11; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	&& { echo $$python; break; }; done)

WORKERS ?= 2
PYTEST := $(BIN)/python -m pytest
# Tests that start brokers, and clients with threads of their own beside the tests.
# They wait more than they work: two cores carry five clusters at once. A file's tests share one,
# so a file stays on one worker.
WITH_PROCESSES := tests/compat tests/system tests/chaos/plugin
CLUSTERS ?= 5
ROOMS := wire seams storage zk controller client node planted cluster chaos pipeline

.PHONY: help rehearsal demo test check format docs bench clean

help: ## Show what can be made
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 10

# What Spark's starts share, made once.
rehearsal: $(INSTALLED)
	$(BIN)/python -m logquake.pipeline.rehearsal

demo: rehearsal ## Lose a leader under a million lines, prove what survived (FILE=... for your own)
	$(BIN)/python -m logquake.chaos.demo $(FILE)

test: rehearsal ## Run all tests
	$(PYTEST) -n $(WORKERS) tests $(WITH_PROCESSES:%=--ignore %)
	$(PYTEST) -n $(CLUSTERS) --dist loadfile --no-loadscope-reorder $(WITH_PROCESSES)

check: $(INSTALLED) ## Lint, format, types, import layers, names in the documents
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	MYPYPATH=src:. $(BIN)/mypy $(ROOMS:%=-p logquake.%) -p benchmarks -p tests
	$(BIN)/lint-imports
	$(BIN)/python -m tests.docs

format: $(INSTALLED) ## Put the code into its format
	$(BIN)/ruff check --fix-only .
	$(BIN)/ruff format .

docs: $(INSTALLED) ## Write the page of journal events from the code
	$(BIN)/python -m tests.docs --write

bench: $(INSTALLED) ## Measure
	$(BIN)/python -m benchmarks

clean: ## Remove what was made here
	rm -rf $(VENV) build dist src/*.egg-info
	rm -rf .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -prune -exec rm -rf {} +

# The stamp is newer than pyproject.toml when the last installation went through.
$(INSTALLED): pyproject.toml
	@test -n "$(PYTHON)" || { echo "logquake needs Python 3.11 or later: set PYTHON=..." >&2; exit 2; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[spark,test]'
	@touch $@

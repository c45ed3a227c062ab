# Everything a newcomer needs: `make demo`, then `make test`. Python 3.11+, pip and make suffice.
# UPPER-CASE variables may be overridden: `make test PYTHON=python3.12 ARGS="-k ledger"`.

PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.ready
# Tests wait for programs as much as they compute: two more than there are processors.
JOBS   ?= $(shell $(PYTHON) -c "import os; print((os.cpu_count() or 1) + 2)")
ARGS   ?=

.PHONY: help setup demo test quick test-machines test-agents check bench bench-loss docs clean

help:
	@echo "make setup   a virtual environment in $(VENV) with everything pinned"
	@echo "make demo    see the product work: moot demo"
	@echo "make test    lint, types and the whole test-suite"
	@echo "make quick   lint, types and the fast tests: about a minute"
	@echo "make test-machines   the contract, stories and faults on PostgreSQL and on joined machines"
	@echo "make test-agents   drive the real coding tools from npm (1.1 GB) against a loopback model"
	@echo "make check   lint and types only"
	@echo "make docs    the pages as a site in build/site, with a search that needs no network"
	@echo "make bench   measure, each figure beside the raw limit of this machine"
	@echo "make bench-loss   simulate agents and a person, and look whose work is lost"

# The stamp is newer than what it was made from, so an unchanged set-up costs nothing.
$(STAMP): pyproject.toml constraints.txt
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "setting up $(VENV) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@$(BIN)/python -m compileall -q src $(VENV)/lib || true
	@touch $(STAMP)

setup: $(STAMP)

demo: $(STAMP)
	@$(BIN)/moot demo $(ARGS)

check: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

test: check
	$(BIN)/python -m pytest -n $(JOBS) $(ARGS)

# For the loop of someone who edits: what is pure, the shape of the tree, and the goldens.
QUICK := tests/core tests/example tests/presence tests/mail tests/decision tests/path tests/tidy \
         tests/requirements tests/golden

quick: check
	$(BIN)/python -m pytest -n $(JOBS) -q $(QUICK) $(ARGS)

# What several machines and PostgreSQL add: every store's contract, every story on a joined machine, on
# a ledger in PostgreSQL and joined to that, faults and attacks. It starts what it needs by itself.
test-machines: $(STAMP)
	MOOT_TEST_MACHINES=1 $(BIN)/python -m pytest -n $(JOBS) tests/keeper tests/store $(ARGS)

# Not in CI. MOOT_AGENT_TOOLS names the folder the tools are installed in.
test-agents: $(STAMP)
	MOOT_TEST_AGENTS=1 $(BIN)/python -m pytest tests/agents $(ARGS)

bench: $(STAMP)
	$(BIN)/python -m bench $(ARGS)

# An hour for all 10,000 steps: ARGS="--steps 500" is a try.
bench-loss: $(STAMP)
	$(BIN)/python -m bench.loss $(ARGS)

docs: $(STAMP)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[docs]'
	$(BIN)/python -m tools.reference
	$(BIN)/mkdocs build --quiet --strict
	@echo "open build/site/index.html, or: $(BIN)/mkdocs serve"

clean:
	rm -rf $(VENV) build dist src/*.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis

# Everything a newcomer needs: `make demo`, then `make test`. Python 3.11+, pip and make suffice.
# UPPER-CASE variables may be overridden: `make test PYTHON=python3.12 ARGS="-k ledger"`.

PYTHON ?= python3
# Each Python that is named has an environment of its own.
VENV   ?= .venv$(if $(filter-out python3,$(PYTHON)),-$(notdir $(PYTHON)))
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.ready
# Tests wait for programs as much as they compute: two more than there are processors.
JOBS   ?= $(shell $(PYTHON) -c "import os; print((os.cpu_count() or 1) + 2)")
ARGS   ?=

.PHONY: help setup demo test test-all quick newest newest-part test-machines test-agents check bench bench-loss \
        bench-collisions bench-peers model mutants soak reference docs clean collected suite suite-all

help:
	@echo "make setup   a virtual environment in $(VENV) with everything pinned"
	@echo "make demo    see the product work: moot demo"
	@echo "make test    lint, types and the test-suite, without what is marked thorough"
	@echo "make test-all   the same and what is marked thorough: what CI and releases run"
	@echo "make quick   lint, types and the fast tests: about two minutes"
	@echo "make newest  a quick part of it on the newest Python that starts here"
	@echo "make test-machines   PostgreSQL, joined machines, a standby, simulation: five minutes"
	@echo "make test-agents   drive the real coding tools from npm (1.1 GB) against a loopback model"
	@echo "make check   lint and types only"
	@echo "make reference   write the generated pages in docs/reference, also those that git does not have"
	@echo "make docs    the pages as a site in build/site, with a search that needs no network"
	@echo "make bench   measure, each figure beside the raw limit of this machine"
	@echo "make model   explore 100,000 states of every machine, or all that there are"
	@echo "make mutants change one thing at a time in what differs from main: a test must notice"
	@echo "make soak    half an hour of everything at once, then what the record says about it"
	@echo "make bench-loss   eight agents and a person at once: is work lost, is anybody blamed wrongly?"
	@echo "make bench-collisions   the same work under five ways to share a repository"
	@echo "make bench-peers   the same work beside what people use instead, each installed by pip"

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

test: $(STAMP)
	@$(MAKE) --no-print-directory -j 2 check suite

# Everything: stories on a joined machine and on PostgreSQL too, every point at which a write may be
# killed, of which `make test` takes one in four, and all examples (tests/sampling.py).
test-all: $(STAMP)
	@$(MAKE) --no-print-directory -j 2 check suite-all

suite: collected
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal -m "not thorough" $(ARGS)

suite-all: collected
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal $(ARGS)

# Tests are compiled once, and not by each process that runs them.
collected: $(STAMP)
	@PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest --collect-only -qq -p no:xdist > /dev/null || true

# For the loop of someone who edits: what is pure, the shape of the tree, and the goldens.
QUICK := tests/core tests/example tests/presence tests/mail tests/decision tests/path tests/tidy \
         tests/requirements tests/golden

quick: check
	$(BIN)/python -m pytest -n $(JOBS) -q $(QUICK) $(ARGS)

# A quick part on the newest Python that we claim and that starts here, with what that part needs and
# no more; a machine without one says so. The other environment's pip does it: no second one is made.
NEWEST_VENV  = $(VENV)-quick-$(notdir $(NEWEST))
NEWEST_NEEDS := apsw hypothesis pytest pytest-xdist rfc8785
NEWEST_PART  := tests/example tests/plan tests/mail/test_deltas.py tests/mail/test_codec.py \
                tests/core/test_sha256.py tests/store/test_reader.py tests/workspace/test_file_versions.py

newest: $(STAMP)
	@newest=$$($(BIN)/python -m tools.newest_python) && if test -n "$$newest"; then \
	    $(MAKE) --no-print-directory newest-part NEWEST="$$newest"; fi

newest-part: $(NEWEST_VENV)/.ready
	@$(NEWEST_VENV)/bin/python -m compileall -q src || true
	PYTHONDONTWRITEBYTECODE= $(NEWEST_VENV)/bin/python -m pytest -n auto -q $(NEWEST_PART) $(ARGS)

$(NEWEST_VENV)/.ready: pyproject.toml constraints.txt
	@test -x $(NEWEST_VENV)/bin/python || $(NEWEST) -m venv --without-pip $(NEWEST_VENV)
	@echo "setting up $(NEWEST_VENV) ..."
	@$(BIN)/python -m pip --python $(NEWEST_VENV)/bin/python install --quiet \
	    --no-compile --disable-pip-version-check -c constraints.txt -e . $(NEWEST_NEEDS)
	@touch $@

# What several machines and PostgreSQL add: every store's contract, every story on a joined machine, on
# a ledger in PostgreSQL and joined to that, faults and attacks; then, not in the suite: a standby
# that is promoted, the simulation on every store, and the protocols' command lines, word for word,
# on each kind of ledger. It starts what it needs by itself.
COMMAND_LINES := tests/cli/test_mail.py tests/cli/test_presence.py tests/cli/test_heartbeat.py \
                 tests/cli/test_killed_holders.py tests/cli/test_parliament.py \
                 tests/cli/test_parliament_files.py tests/cli/test_trace.py tests/cli/test_receipt.py \
                 tests/cli/test_story.py tests/cli/test_agenda_and_status.py \
                 tests/debate/test_debate_commands.py

test-machines: $(STAMP)
	MOOT_TEST_MACHINES=1 $(BIN)/python -m pytest -n $(JOBS) tests/hosts tests/store tests/simulation \
	    tests/machines $(ARGS)
	@for place in postgres joined joined-postgres; do \
	    $(BIN)/python -m pytest -n $(JOBS) -p tests.machines.ledger_location --ledger $$place \
	        $(COMMAND_LINES) $(ARGS) || exit 1; done

# Not in CI. MOOT_AGENT_TOOLS names the folder the tools are installed in.
test-agents: $(STAMP)
	MOOT_TEST_AGENTS=1 $(BIN)/python -m pytest tests/real_tools $(ARGS)

bench: $(STAMP)
	$(BIN)/python -m bench $(ARGS)

# ARGS="--steps 500" is a try.
bench-loss: $(STAMP)
	$(BIN)/python -m bench.loss $(ARGS)

# The suite explores the first few thousand; this takes about half an hour.
model: $(STAMP)
	$(BIN)/python -m tests.model $(ARGS)

# ARGS="protocols/mail core" names packages; a run that was stopped goes on where it was.
mutants: $(STAMP)
	$(BIN)/python -m tools.mutants $(ARGS)

# ARGS="--minutes 1" is a try; --picture draws docs/pictures/soak.svg.
soak: $(STAMP)
	$(BIN)/python -m bench.soak $(ARGS)

# About a quarter of an hour: ARGS="--seeds 1 --agents 4 --overlap 0.5" is a try.
bench-collisions: $(STAMP)
	$(BIN)/python -m bench.collisions $(ARGS)

# Installs each into build/peers/environments; ARGS="--peer signet-auth --measure append" is a try.
bench-peers: $(STAMP)
	$(BIN)/python -m bench.peers $(ARGS)

reference: $(STAMP)
	$(BIN)/python -m tools.reference

docs: reference
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[docs]'
	$(BIN)/mkdocs build --quiet --strict
	@echo "open build/site/index.html, or: $(BIN)/mkdocs serve"

clean:
	rm -rf $(VENV) .venv-* build dist src/*.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis

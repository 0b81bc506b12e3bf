# Sets up its own virtual environment and runs the project in it. `make help` lists what there is.
# Override on the command line: PYTHON (3.11 or newer), WORKERS (test processes), ARGS (to pytest,
# to the benchmarks or to a study), NAME (of a study) and RESULTS (the folder it writes into).

PYTHON ?= python3
WORKERS ?= 2
ARGS ?=
RESULTS ?= results

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet

# What is installed is recorded in stamps, and repeated only when pyproject.toml changes.
DEMO_STAMP := $(VENV)/.installed-demo
DEV_STAMP := $(VENV)/.installed-dev
DOCS_STAMP := $(VENV)/.installed-docs
BENCH_STAMP := $(VENV)/.installed-bench
MINIMUM := .venv-minimum
PEERS := .venv-peers

.DEFAULT_GOAL := help
.PHONY: help demo test numerics mutants coverage minimum package lint format bench peers study docs \
	clean distclean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(DEMO_STAMP) ## set up, and make the report of the embedded example
	@$(BIN)/precall report

test: $(DEV_STAMP) ## set up, and run every test (ARGS="-k name -x" goes to pytest)
	@scripts/install_chromium.sh
	@scripts/install_postgres.sh
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadgroup $(ARGS)

numerics: $(DEV_STAMP) ## run the tests that could depend on rounding under other processors' arithmetic
	$(BIN)/python scripts/numerics.py $(ARGS)

mutants: $(DEV_STAMP) ## change one operator at a time, see that a test fails (ARGS="--sample 50 --quick")
	$(BIN)/python -m scripts.mutants $(ARGS)

coverage: $(DEV_STAMP) ## print which share of lines and branches the tests reach, and where least
	$(BIN)/python -m scripts.measure_coverage -q -n $(WORKERS) --dist loadgroup $(ARGS)

minimum: $(MINIMUM)/.installed ## run the tests with the oldest releases that pyproject.toml allows
	$(MINIMUM)/bin/python -m pytest -n $(WORKERS) --dist loadgroup -m "not spark" \
		-p no:cacheprovider tests/unit tests/properties tests/cli tests/engines $(ARGS)

package: $(DEV_STAMP) ## build wheel and source distribution, install and use each where nothing else is
	@scripts/check_package.sh

lint: $(DEV_STAMP) ## check style (ruff) and types (mypy)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(DEV_STAMP) ## let ruff rewrite what it can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(BENCH_STAMP) ## time this library against its peers (ARGS="--page docs/benchmarks.md")
	$(BIN)/python -m benchmarks $(ARGS)

peers: $(PEERS)/.installed ## compare numbers with every tool that is there, and write docs/peers.md
	$(PEERS)/bin/python -m scripts.peers $(ARGS)

study: $(DEV_STAMP) ## run a simulation study into RESULTS (NAME=bias ARGS=--quick)
	$(BIN)/python -m studies $(if $(NAME),$(NAME) -o $(RESULTS) $(ARGS),--help)

docs: $(DOCS_STAMP) ## build the documentation into docs/_build/html
	$(BIN)/python -m sphinx -W --keep-going -b html docs docs/_build/html

clean: ## remove what was built and cached, keep .venv
	rm -rf build dist docs/_build .mutants .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find src tests benchmarks studies scripts docs -name __pycache__ -type d -prune -exec rm -rf {} +

distclean: clean ## remove .venv too
	rm -rf $(VENV) $(MINIMUM) $(PEERS)

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "precall needs Python 3.11 or newer: make PYTHON=python3.12 ..." >&2; exit 1; }
	@echo "Creating $(VENV)"
	@$(PYTHON) -m venv $(VENV)

$(DEMO_STAMP): pyproject.toml | $(VENV)/bin/python
	@echo "Installing precall with its command line and report into $(VENV)"
	@$(PIP) -e ".[cli,plot,report]"
	@touch $@

$(DEV_STAMP): pyproject.toml | $(VENV)/bin/python
	@echo "Installing precall, its extras and the development tools into $(VENV) (minutes, once)"
	@$(PIP) -e ".[all,dev]"
	@touch $@ $(DEMO_STAMP)

# confidenceinterval asks for a setuptools older than torch allows, and runs without any. Where it
# cannot be had, the benchmarks go on and name it as missing.
$(BENCH_STAMP): pyproject.toml | $(VENV)/bin/python
	@echo "Installing precall, its extras and the peers into $(VENV) (minutes, once)"
	@$(PIP) -e ".[all,dev,bench]"
	@$(PIP) --no-deps confidenceinterval || echo "confidenceinterval could not be installed" >&2
	@touch $@ $(DEV_STAMP) $(DEMO_STAMP)

# A peer that cannot be had is named as missing, and the others are compared. What
# confidenceinterval needs is there, but for the old setuptools that it asks for.
$(PEERS)/.installed: pyproject.toml | $(VENV)/bin/python
	@echo "Installing precall and its peers into $(PEERS) (minutes, once)"
	@$(BIN)/python -m venv $(PEERS)
	@$(PEERS)/bin/python -m pip --disable-pip-version-check install --quiet -e ".[peers]"
	@$(PEERS)/bin/python -m pip --disable-pip-version-check install --quiet --no-deps \
		confidenceinterval || echo "confidenceinterval could not be installed" >&2
	@touch $@

# Without Spark, which is half a gigabyte. The tools that test are the newest; pyparsing is no
# dependency of ours, but the oldest Matplotlib calls functions of it that newer ones warn of.
$(MINIMUM)/.installed: pyproject.toml scripts/minimum_versions.py | $(VENV)/bin/python
	@echo "Installing the oldest releases that pyproject.toml allows into $(MINIMUM)"
	@$(BIN)/python -m venv $(MINIMUM)
	@$(BIN)/python scripts/minimum_versions.py >$(MINIMUM)/constraints.txt
	@$(MINIMUM)/bin/python -m pip --disable-pip-version-check install --quiet \
		--constraint $(MINIMUM)/constraints.txt \
		-e ".[arrow,cli,dask,plot,privacy,report,sklearn]" \
		hypothesis mpmath pandas polars "pyparsing<3.2" pytest pytest-xdist
	@touch $@

$(DOCS_STAMP): pyproject.toml | $(VENV)/bin/python
	@echo "Installing precall, its extras and Sphinx into $(VENV)"
	@$(PIP) -e ".[all,docs]"
	@touch $@ $(DEMO_STAMP)

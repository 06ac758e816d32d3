# Two commands for a fresh machine: `make demo` and `make test`. `make help` lists the rest.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# The install is repeated only when pyproject.toml changes or the environment is gone.
INSTALLED := $(VENV)/.installed

.DEFAULT_GOAL := help
.PHONY: help demo reproduce test test-databases test-large check lint types slow browser bench bench-guard bench-scale spark screenshots format clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(VENV)/.created:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "polyfold needs Python 3.11 or newer; try: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	$(PYTHON) -m venv --clear $(VENV)
	@touch $@

$(INSTALLED)-%: pyproject.toml $(VENV)/.created
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[$*]'
	@touch $@

demo: $(INSTALLED)-plot ## unroll the Swiss roll, with every graph too, map digits, read and keep the map, from the shell too
	$(BIN)/python examples/demo.py
	@echo
	$(BIN)/python examples/family.py
	@echo
	$(BIN)/python examples/real_data.py
	@echo
	$(BIN)/python examples/artefact.py
	@echo
	$(BIN)/python examples/command_line.py
	@echo
	@echo 'Next, the experiments of the paper with a report: make reproduce ARGS=--quick (two minutes), or make reproduce'

reproduce: $(INSTALLED)-plot ## every experiment of the paper, with a report; ARGS=--quick takes two minutes, all a quarter of an hour
	$(BIN)/polyfold reproduce --force --out reproduce_output $(ARGS)

test: $(INSTALLED)-test ## the whole test suite
	$(BIN)/python -m pytest -n 2 --dist loadgroup

test-databases: $(INSTALLED)-test $(INSTALLED)-databases ## the SQL of maps in PostgreSQL and Spark, where they are installed
	$(BIN)/python -m pytest -m databases -rs

test-large: $(INSTALLED)-test ## 2 GB of text and of parquet placed in less than 500 MB of memory; needs 5 GB of disk
	$(BIN)/python -m pytest -m large -s

check: lint types slow browser ## lint, types, the slower gates, and the explorer in a browser

lint: $(INSTALLED)-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(INSTALLED)-dev
	$(BIN)/mypy

slow: $(INSTALLED)-test
	$(BIN)/python -m pytest -m slow -s

# Debian's Chromium is installed where none is found and it can be; elsewhere the tests say what they miss.
CHROMIUM = $(or $(POLYFOLD_CHROMIUM),$(shell command -v chromium || command -v chromium-browser || command -v google-chrome))

browser: $(INSTALLED)-test $(INSTALLED)-browser ## the explorer in a real Chromium, which is installed on Debian if need be
	@if [ -z "$(CHROMIUM)" ] && command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ]; then \
	  apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y chromium >/dev/null; fi
	$(BIN)/python -m pytest -m browser -s

bench: $(INSTALLED)-bench ## speed and memory beside every peer, a quarter of an hour; leave the machine alone
	$(BIN)/polyfold bench --force --out bench_output

bench-guard: $(INSTALLED)-bench ## fail where a main figure of speed has gone backwards
	$(BIN)/python -m pytest benchmarks/test_ratios.py --benchmark-columns=min,median -o addopts=""

bench-scale: $(INSTALLED)-test ## fits of 10⁷ × 3 and 2·10⁶ × 64 from disk, three quarters of an hour; needs 4 GB of disk; PARTS="sizes workers convergence costs"
	$(BIN)/python benchmarks/scale.py $(PARTS)

spark: $(INSTALLED)-databases ## place the rows of a Spark DataFrame by SQL; needs Java
	$(BIN)/python examples/spark.py

screenshots: $(INSTALLED)-plot $(INSTALLED)-browser ## the pictures of the terminal and of the explorer in the documents; needs Chromium
	$(BIN)/python examples/screenshots.py --out docs/images

format: $(INSTALLED)-dev ## apply the formatter
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean: ## remove the environment and everything built
	rm -rf $(VENV) build dist demo_output bench_output browser_output reproduce_output .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find src tests examples benchmarks -name __pycache__ -type d -exec rm -rf {} +

# Two commands for a fresh machine: `make demo` and `make test`. `make help` lists the rest.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# The install is repeated only when pyproject.toml changes or the environment is gone.
INSTALLED := $(VENV)/.installed

.DEFAULT_GOAL := help
.PHONY: help demo test check lint types slow format clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(VENV)/.created:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "polyfold needs Python 3.11 or newer; try: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	$(PYTHON) -m venv --clear $(VENV)
	@touch $@

$(INSTALLED)-%: pyproject.toml $(VENV)/.created
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[$*]'
	@touch $@

demo: $(INSTALLED)-plot ## unroll the Swiss roll, with every graph too, map handwritten digits, draw all
	$(BIN)/python examples/demo.py
	@echo
	$(BIN)/python examples/family.py
	@echo
	$(BIN)/python examples/real_data.py

test: $(INSTALLED)-test ## the whole test suite
	$(BIN)/python -m pytest -n 2

check: lint types slow ## lint, types and the slower gates

lint: $(INSTALLED)-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(INSTALLED)-dev
	$(BIN)/mypy

slow: $(INSTALLED)-test
	$(BIN)/python -m pytest -m slow -s

format: $(INSTALLED)-dev ## apply the formatter
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean: ## remove the environment and everything built
	rm -rf $(VENV) build dist demo_output .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find src tests examples benchmarks -name __pycache__ -type d -exec rm -rf {} +

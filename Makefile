# Two commands for a fresh machine: `make demo` and `make test`. `make help` lists the rest.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# The install is repeated only when pyproject.toml changes or the environment is gone.
INSTALLED := $(VENV)/.installed
# Beside it, one with the oldest versions that pyproject.toml allows.
OLDEST := .venv-oldest

.DEFAULT_GOAL := help
.PHONY: help demo docs spelling newcomer chromium site reproduce test test-deep trials coverage mutants guarantees test-databases test-large check lint types slow browser bench bench-guard bench-scale spark screenshots oldest package audit licences format clean

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

# What the trials below measured, which `make guarantees` writes into docs/guarantees.md.
MEASURED := guarantees_output

test-deep: $(INSTALLED)-test ## every property on 10,000 examples, an hour; EXAMPLES=100000 for more; ONLY=name tries one again
	POLYFOLD_EXAMPLES=$(or $(EXAMPLES),10000) $(BIN)/python -m pytest -m property -n 2 $(if $(ONLY),-k "$(ONLY)") \
	  --junitxml $(MEASURED)/deep$(if $(ONLY),-$(shell date +%s)).xml

trials: $(INSTALLED)-test ## the promises of docs/guarantees.md tried at length, a quarter of an hour; ONLY=name tries one again
	$(BIN)/python -m pytest -m "slow or not slow" $(if $(ONLY),-k "$(ONLY)") \
	  --junitxml $(MEASURED)/trials$(if $(ONLY),-$(shell date +%s)).xml \
	  tests/test_determinism.py tests/test_faults.py tests/test_hard_outcomes.py tests/test_hostile_files.py \
	  tests/test_hostile_names.py tests/test_model_fuzz.py tests/test_threads.py

# Compiled loops are seen by coverage only where they are not compiled, the experiments and workers only in slow tests.
COVERED := --cov --cov-branch --cov-append --cov-report=
coverage: $(INSTALLED)-test $(INSTALLED)-guarantees ## the share of lines and branches that the tests reach; fails below 95 %
	$(BIN)/coverage erase
	$(BIN)/python -m pytest -n 2 --dist loadgroup $(COVERED)
	$(BIN)/python -m pytest -m slow -n 2 --dist loadgroup $(COVERED) tests/test_reproduce.py tests/test_dask.py
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest $(COVERED) -W ignore::RuntimeWarning \
	  tests/test_loops.py tests/test_polymap.py tests/test_jacobian.py tests/test_graphs.py tests/test_isomap.py
	mkdir -p $(MEASURED)
	$(BIN)/coverage json --quiet -o $(MEASURED)/coverage.json
	$(BIN)/coverage report --skip-covered
	$(BIN)/python tools/covered.py $(MEASURED)/coverage.json

mutants: $(INSTALLED)-test $(INSTALLED)-guarantees ## change the code in thousands of places and see whether tests notice; half an hour; AGAIN=1 tries what changed since or lived without a reason
	$(if $(AGAIN),rm -f mutants/mutmut-stats.json && $(BIN)/python tools/mutants.py --again,rm -rf mutants)
	NUMBA_DISABLE_JIT=1 $(BIN)/mutmut run --max-children 2
	mkdir -p $(MEASURED)
	$(BIN)/python tools/mutants.py --measured $(MEASURED)/mutants.json

guarantees: $(INSTALLED)-test ## write what trials, test-deep, coverage, mutants and audit measured into docs/guarantees.md
	$(BIN)/python tools/guarantees.py

test-databases: $(INSTALLED)-test $(INSTALLED)-databases ## the SQL of maps in PostgreSQL and Spark, where they are installed
	$(BIN)/python -m pytest -m databases -rs

test-large: $(INSTALLED)-test ## 2 GB of text and of parquet placed in less than 500 MB of memory; needs 5 GB of disk
	$(BIN)/python -m pytest -m large -s

# Spark, where there is Java for it.
check: test lint types spelling slow browser site newcomer demo oldest $(if $(shell command -v java),spark) ## all tests, lint, types, spelling, explorer and documentation in a browser, README, demo, oldest dependencies

lint: $(INSTALLED)-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-cache

types: $(INSTALLED)-dev
	$(BIN)/mypy

# GNU Octave runs the lines of MATLAB that a how-to page shows; without it their test says that it was left out.
slow: $(INSTALLED)-test
	@if ! command -v octave >/dev/null && command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ]; then \
	  apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y octave >/dev/null || true; fi
	$(BIN)/python -m pytest -m slow -n 2 --dist loadgroup

SITE := docs_output
NODE := tools/npm/node_modules
# What the documentation is made into, within docs/, on the way to the site.
MADE := docs/how-to docs/tutorial docs/reference/generated

$(NODE)/.installed: tools/npm/package.json
	@node -e 'process.exit(+(parseInt(process.versions.node) < 20))' 2>/dev/null && command -v npm >/dev/null || \
	  { echo "MathJax and the spelling checker are taken from npm: install Node.js 20 or newer with npm first"; exit 1; }
	npm install --prefix tools/npm --no-package-lock --no-audit --no-fund --silent
	@touch $@

# A page is run again where it changed; where the library did, all are.
$(SITE)/.library: $(shell find src examples -name '*.py' -o -name '*.js')
	@rm -rf $(MADE)
	@mkdir -p $(SITE) && touch $@

# Warnings are errors, and come again until they are mended.
docs: $(INSTALLED)-docs $(NODE)/.installed $(SITE)/.library ## these pages as a site, docs_output/html, with tutorial and how-to pages run; needs npm, and no network to read
	$(BIN)/sphinx-build -W --keep-going -q -d $(SITE)/doctrees docs $(SITE)/html || { rm -rf $(SITE)/doctrees; exit 1; }
	@echo "The site: $(SITE)/html/index.html"

spelling: $(NODE)/.installed ## words that are in no dictionary, nor in docs/words.txt
	node $(NODE)/.bin/cspell --no-progress --config tools/npm/cspell.json

newcomer: $(INSTALLED)-test ## what the README tells a newcomer, in a fresh clone: seconds to the first map
	$(BIN)/python tools/newcomer.py

# Debian's Chromium is installed where none is found and it can be; elsewhere the tests say what they miss.
CHROMIUM = $(or $(POLYFOLD_CHROMIUM),$(shell command -v chromium || command -v chromium-browser || command -v google-chrome))

chromium:
	@if [ -z "$(CHROMIUM)" ] && command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ]; then \
	  apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y chromium >/dev/null; fi

browser: $(INSTALLED)-test $(INSTALLED)-browser chromium ## the explorer in a real Chromium, which is installed on Debian if need be
	$(BIN)/python -m pytest -m browser -s

site: $(INSTALLED)-browser chromium ## the documentation built anew and tried in Chromium: links, pictures, formulas, search, on a phone
	rm -rf $(SITE) $(MADE)
	$(MAKE) docs
	$(BIN)/python -m pytest -m site

bench: $(INSTALLED)-bench ## speed and memory beside every peer, a quarter of an hour, written into docs/speed.md; leave the machine alone
	$(BIN)/polyfold bench --force --out bench_output
	$(BIN)/python tools/write_speed.py

bench-guard: $(INSTALLED)-bench ## fail where a main figure of speed has gone backwards
	$(BIN)/python -m pytest benchmarks/test_ratios.py --benchmark-columns=min,median -o addopts=""

bench-scale: $(INSTALLED)-test ## fits of 10⁷ × 3 and 2·10⁶ × 64 from disk, three quarters of an hour; needs 4 GB of disk; PARTS="sizes workers convergence costs"
	$(BIN)/python benchmarks/scale.py $(PARTS)

spark: $(INSTALLED)-databases ## place the rows of a Spark DataFrame by SQL; needs Java
	$(BIN)/python examples/spark.py

screenshots: $(INSTALLED)-plot $(INSTALLED)-browser ## the pictures of the terminal and of the explorer in the documents; needs Chromium
	$(BIN)/python examples/screenshots.py --out docs/images

$(OLDEST)/.installed: pyproject.toml tools/oldest.py | $(INSTALLED)-test
	$(PYTHON) -m venv --clear $(OLDEST)
	$(BIN)/python tools/oldest.py > $(OLDEST)/constraints.txt
	$(OLDEST)/bin/python -m pip install --quiet --disable-pip-version-check --constraint $(OLDEST)/constraints.txt --editable '.[test]'
	@touch $@

# Loops compiled by another numba are kept apart.
oldest: $(OLDEST)/.installed ## the test suite on the oldest versions allowed of every dependency
	$(OLDEST)/bin/python tools/oldest.py --check
	NUMBA_CACHE_DIR=$(CURDIR)/$(OLDEST)/compiled $(OLDEST)/bin/python -m pytest -n 2 --dist loadgroup

package: $(INSTALLED)-guarantees ## the wheel of the last commit, installed alone, under the tests of its sdist
	$(BIN)/python tools/package.py

# What venv brings is as old as this Python.
audit: $(INSTALLED)-test $(INSTALLED)-guarantees ## known vulnerabilities of what is installed; exit code 3 of the script: could not ask
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip setuptools
	mkdir -p $(MEASURED)
	$(BIN)/python tools/audit.py --measured $(MEASURED)/audit.json

licences: $(INSTALLED)-test ## write the licences of all dependencies to docs/licences.md; fail on one not allowed
	$(BIN)/python tools/licences.py

format: $(INSTALLED)-dev ## apply the formatter
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean: ## remove the environment and everything built
	rm -rf $(VENV) $(OLDEST) $(SITE) $(NODE) build dist demo_output bench_output browser_output reproduce_output $(MEASURED) mutants $(MADE) .coverage .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find src tests examples benchmarks tools docs -name __pycache__ -type d -exec rm -rf {} +

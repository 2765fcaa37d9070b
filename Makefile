# On a machine with Python 3.11-3.13 and make, two commands do everything:
#   make run     reproduce the paper in its quick form, into out/quick
#   make test    lint, types, tests
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: run paper test lint types tests browser bench bench-quick clean

run: $(STAMP)
	$(BIN)/sharpe-bandits reproduce --quick --out out/quick

paper: $(STAMP)
	$(BIN)/sharpe-bandits reproduce --out out/paper

test: lint types browser tests

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMP)
	$(BIN)/mypy

tests: $(STAMP)
	$(BIN)/pytest -n 2 --dist loadfile

# The report is tested in a real browser: Debian's Chromium, installed where that is possible.
browser:
	@command -v chromium chromium-browser google-chrome >/dev/null \
	|| { test "$$(id -u)" = 0 && command -v apt-get >/dev/null \
	     && apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium >/dev/null; } \
	|| echo "no Chromium here: the browser tests will be skipped"

bench: $(STAMP)
	$(BIN)/python -m benchmarks

bench-quick: $(STAMP)
	$(BIN)/python -m benchmarks --quick

$(STAMP): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	touch $(STAMP)

clean:
	rm -rf $(VENV) out

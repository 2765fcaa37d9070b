# On a machine with Python 3.11-3.13 and make, two commands do everything:
#   make run     reproduce the paper in its quick form, into out/quick
#   make test    lint, types, tests
# and to see campaigns at work:
#   make demo    three simulated campaigns and the dashboard on them
# and, for those who change something:
#   make test-long           the tests with other and more random examples each time
#   make fuzz MINUTES=5      hostile input against everything that reads input
#   make torture             campaigns: many processes, kill -9, a million decisions (half an hour)
#   make load                the service under load, killed at random moments
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: run demo paper test lint types tests bare test-long fuzz torture load browser bench bench-quick bench-executors same-bits clean

run: $(STAMP)
	$(BIN)/sharpe-bandits reproduce --quick --out out/quick

paper: $(STAMP)
	$(BIN)/sharpe-bandits reproduce --out out/paper

# Three simulated campaigns, workers that keep asking and telling, and the dashboard on them.
demo: $(STAMP)
	$(BIN)/python -m demo

test: lint types browser tests bare

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMP)
	$(BIN)/mypy

tests: $(STAMP)
	$(BIN)/pytest -n 2 --dist loadfile

# The package as a user without extras has it, in an environment of its own.
bare: pyproject.toml
	$(PYTHON) -m venv --clear $(VENV)-bare
	$(VENV)-bare/bin/python -m pip install --quiet --disable-pip-version-check .
	$(VENV)-bare/bin/python tests/bare_install.py

test-long: $(STAMP)
	$(BIN)/pytest -n 2 --dist loadfile --hypothesis-profile long

MINUTES ?= 2
fuzz: $(STAMP)
	$(BIN)/python -m fuzz --minutes $(MINUTES)

torture: $(STAMP)
	$(BIN)/python -m torture

# The service under load, killed 50 times, and watched over a million requests.
load: $(STAMP)
	$(BIN)/python -m torture.service --requests 1000000

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

# Threads, processes and Dask side by side, and whether other processors give the same bits: minutes each.
bench-executors: $(STAMP)
	$(BIN)/python -m benchmarks.executors

same-bits: $(STAMP)
	$(BIN)/python -m benchmarks.same_bits

$(STAMP): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	touch $(STAMP)

clean:
	rm -rf $(VENV) $(VENV)-bare out

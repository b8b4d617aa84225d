# The commands of the README: `make demo`, `make demo-go` and `make test`. Each makes .venv on first use.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# The constraints hold for what builds a package, too: chess comes as a source archive. pip reads the one variable up to
# 25.2 and the other from then on.
PIP := PIP_CONSTRAINT=constraints.txt PIP_BUILD_CONSTRAINT=constraints.txt $(BIN)/python -m pip --quiet --disable-pip-version-check
READY := $(VENV)/.ready
PAGE := src/kibitz/web/page/index.html
FRONTEND := $(shell find frontend -name node_modules -prune -o -type f -print)

.PHONY: demo demo-go test test-page test-process test-browser test-slow test-all test-times runs soak pictures docs-pictures lint lint-release install page docs clean

install: $(READY) $(PAGE)

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "kibitz needs Python 3.11 or newer; name one: make PYTHON=python3.11 ..." >&2; exit 1; }
	@sh tools/make_venv.sh "$(PYTHON)" "$(VENV)"
	$(PIP) install --editable '.[dev]'
	@touch $@

# The page of `kibitz board`. The install has built it; this builds it again where frontend/ has changed since.
page: $(PAGE)

$(PAGE): hatch_build.py $(FRONTEND) | $(READY)
	@$(BIN)/python hatch_build.py

# From games to a network that answers, in a few minutes; every step is a command you can use on your own games.
demo: $(READY)
	@sh tools/demo.sh $(BIN)/kibitz demo

# The same with games of Go.
demo-go: $(READY)
	@sh tools/demo_go.sh $(BIN)/kibitz demo

# Two processes with one thread each: networks of tests are so small that two threads mostly wait for each other.
# tests/conftest.py orders the files: those that took longest in the table of docs/dev/testing.md come first.
# Whatever the shell says, Python keeps what it has compiled: else each process compiles all tests anew, for 13 seconds.
# With COSTS=FOLDER each tier writes there what its tests cost, for tools/write_test_times.py.
PYTEST = env -u PYTHONDONTWRITEBYTECODE OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder $(if $(COSTS),--costs=$(COSTS)/$@.json)

# The tiers of docs/dev/testing.md. `make test` needs no browser, no other process and no training.
test: $(READY)
	$(PYTEST) -m fast

# The page's logic, in Node: seconds. `make test-process` does this too.
test-page: $(READY)
	@$(BIN)/python tools/test_page.py

test-process: $(READY) $(PAGE)
	$(PYTEST) -m process

test-browser: $(READY) $(PAGE)
	$(PYTEST) -m browser tests/browser

# Installs, kills trainings again and again, trains whole recipes, compares all that is recorded.
test-slow: $(READY) $(PAGE)
	$(PYTEST) -m slow

# All tests in one call, as .ci/run needs it: one collection, and both processes are busy to the end.
test-all: $(READY) $(PAGE)
	$(PYTEST)

# All tests, and what each file of them costs: the table of docs/dev/testing.md.
test-times: $(READY) $(PAGE)
	$(PYTEST) --costs .costs.json; status=$$?; $(BIN)/python tools/write_test_times.py .costs.json; exit $$status

# Trains again, and records, the small runs that fixtures copy.
runs: $(READY)
	rm -rf tests/recorded/trained
	KIBITZ_NEW_RUNS=1 OMP_NUM_THREADS=1 $(BIN)/python -m pytest -p no:xdist $$(grep -rlE "trained\(|recorded\(" tests --include='test_*.py') \
		tests/personal/test_evaluation.py tests/evaluation tests/engines/test_sessions.py tests/web/test_app.py

# Fuzzing, kills, a board under attack, long sessions: MINUTES in all, and the next call goes on (docs/dev/reliability.md).
# Guided by coverage where atheris is installed (pip install atheris), else by chance.
MINUTES ?= 60
soak: $(READY) $(PAGE)
	PYTHONPATH=tests OMP_NUM_THREADS=1 $(BIN)/python -m soak --minutes $(MINUTES)

# The reference pictures of the page that tests/browser/test_looks.py compares with. Look at them before they are committed.
pictures: $(READY) $(PAGE)
	KIBITZ_NEW_PICTURES=1 $(BIN)/python -m pytest -q -p no:xdist tests/browser/test_looks.py

# The pictures of the README and the docs: boards, the page, and programs in windows that are installed.
docs-pictures: $(READY) $(PAGE)
	$(BIN)/python tools/docs_pictures.py
	$(BIN)/python tools/docs_pictures.py --page
	$(BIN)/python tools/gui_pictures.py

lint: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

# What a release consists of: metadata, workflows, forms for issues, container files (docs/dev/release.md).
lint-release: $(READY)
	$(BIN)/python tools/lint_release.py

# The documentation as a site in site/; a broken link or a name that is not there fails.
docs: $(READY)
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs --quiet build --strict
	@echo "site/index.html"

clean:
	rm -rf $(VENV) .costs.json demo site src/kibitz/web/page frontend/node_modules .pytest_cache .mypy_cache .ruff_cache .hypothesis

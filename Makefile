# Everything sets itself up: a machine with Python 3.11+ and make is enough. A second `make` is instant.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PRODUCT := $(VENV)/.product
READY := $(VENV)/.ready
PYTEST := $(BIN)/python -m pytest -n 3 --dist loadfile --max-worker-restart 0  # a crash ends the run; xdist would wait for ever
export OMP_WAIT_POLICY = PASSIVE
export PYTHONDONTWRITEBYTECODE =  # the many processes of the tests need not compile the same files again
export PIP_DISABLE_PIP_VERSION_CHECK = 1

.PHONY: demo test product-tests test-lab test-slow properties fuzz kills flips lint docs clean

demo: $(PRODUCT)
	@$(BIN)/python examples/demo.py

test: $(READY)  # of the product: linters and types beside the tests, which leave a core idle where they wait
	@$(MAKE) --no-print-directory -j 2 lint product-tests

product-tests: $(READY)
	$(PYTEST) -m "not slow" tests src --ignore=tests/lab --ignore=src/longmatch/lab

test-lab: $(READY)  # of the laboratory: training, evaluation, the papers' systems and baselines
	$(PYTEST) -m "not slow" tests/lab src/longmatch/lab

test-slow: $(READY)  # kill tests at length, soak, notebooks, long trainings, fuzzing
	EXAMPLES_TIMES=2 $(PYTEST) -m "slow or fuzz"

properties: $(READY)  # every property on twelve times as many examples as `make test` tries
	EXAMPLES_TIMES=5 $(PYTEST) -m hypothesis

MINUTES ?= 10
fuzz: $(READY)  # damaged files of every format; what goes wrong is kept in out/fuzz
	$(BIN)/python -m tests.fuzz --minutes $(MINUTES)

KILLS ?= 100
kills: $(READY)  # commands that change a library, killed at random moments; what they leave must answer as a fresh one
	$(BIN)/python -m tests.safety.kills --kills $(KILLS)

FLIPS ?= 5
flips: $(READY)  # so many flipped bits in every file of a library: the same answers, or a sentence
	$(BIN)/python -m tests.safety.flips --flips $(FLIPS)

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

docs: $(READY)  # the site in out/site; a warning is an error
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	@echo "Open out/site/index.html; with search: $(PYTHON) -m http.server -d out/site"

clean:  # out/ stays: measurements took hours
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache

$(PRODUCT): pyproject.toml constraints.txt
	@echo "Setting up $(VENV) (a minute the first time) ..."
	@$(PYTHON) -c 'import sys; assert sys.version_info >= (3, 11), "longmatch needs Python 3.11 or newer"'
	@test -d $(VENV) || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q --no-compile -c constraints.txt -e '.[web]'
	@touch $@

$(READY): $(PRODUCT)
	@echo "Adding what the tests need (a few minutes the first time) ..."
	$(BIN)/python -m pip install -q --no-compile -c constraints.txt -e '.[dev]'
	@$(BIN)/python -m compileall -q -j 0 $(VENV)/lib >/dev/null 2>&1 || true  # on all cores; pip would take one
	@touch $@

# One command each; every target sets up what it needs. Only Python 3.11+ and make must be there.
#   make run                         the main job: the smoke suite on one device, as a table and as Parquet
#   make run ARGS="device=mi300a"    the same with your own overrides
#   make test                        the tests; `make quick` leaves out the slow ones
#   make nightly                     the tests, and the model against every measured launch (half an hour)
#   make check                       lint, format and types
#   make readme                      put the main job's output of today into the README
#   make kinds                       write the page of each kind of part (docs/parts/)
#   make accuracy                    the tables of docs/accuracy.md, from runs that are given (ARGS="h200=RUN ...") or from new ones
#   make reports                     run the presets that ask a question and renew the tables of their answers (results/reports/)
#   make speed                       wave-instructions a second on five launches, compile time (benchmarks/speed.py)
#   make sweep-speed                 points a second of a sweep on one worker and on two (benchmarks/sweep.py); ARGS="points=100" for fewer
#   make docs                        the documentation as a site in site/

PYTHON ?= $(shell command -v python3.11 || command -v python3.12 || command -v python3.13 || command -v python3)
VENV   := .venv
BIN    := $(VENV)/bin
ARGS   ?= device=h200 suite=smoke
# Two workers; a file's tests stay together, so that each compiled function is built in one place.
PYTEST ?= -n 2 --dist loadfile --no-loadscope-reorder

# Tests start processes by the hundred: each would read every source anew where this is set.
test quick nightly: export PYTHONDONTWRITEBYTECODE :=

.PHONY: run test quick nightly check format docs readme kinds accuracy reports speed sweep-speed clean
.DEFAULT_GOAL := run

run: $(VENV)/.run
	$(BIN)/archex run $(ARGS)

test: $(VENV)/.dev
	$(BIN)/python -m pytest -m "not nightly" $(PYTEST)

quick: $(VENV)/.dev
	$(BIN)/python -m pytest -m "not slow and not nightly" $(PYTEST)

nightly: $(VENV)/.dev
	$(BIN)/python -m pytest $(PYTEST)

check: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(VENV)/.docs
	$(BIN)/mkdocs build --strict

readme: $(VENV)/.dev
	$(BIN)/python tests/docs/refresh.py

kinds: $(VENV)/.dev
	$(BIN)/python tests/docs/kinds.py

accuracy: ARGS =
accuracy: $(VENV)/.dev
	$(BIN)/python tests/docs/accuracy.py $(ARGS)

reports: $(VENV)/.dev
	$(BIN)/python tests/docs/reports.py
	$(BIN)/python tests/docs/layers.py

speed: $(VENV)/.dev
	$(BIN)/python -m benchmarks.speed

sweep-speed: ARGS = points=1000
sweep-speed: $(VENV)/.dev
	$(BIN)/python -m benchmarks.sweep $(ARGS)

clean:
	rm -rf $(VENV) site build dist .pytest_cache .mypy_cache .ruff_cache

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "archex needs Python 3.11 or newer, not " + sys.version.split()[0] + ": make PYTHON=/path/to/python3.11")'
	$(PYTHON) -m venv $(VENV)

# A stamp is older than pyproject.toml when the dependencies may have changed.
$(VENV)/.run: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	@touch $@

$(VENV)/.dev: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $@ $(VENV)/.run

$(VENV)/.docs: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[docs]'
	@touch $@

# Each target sets up .venv by itself from Python 3.11 or newer; nothing else is needed.
PYTHON ?= python3
PHOTOS ?= ../shared/photos
OUT ?= out
BIN := .venv/bin
READY := .venv/.ready
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 NUMBA_NUM_THREADS=1

.PHONY: demo test test-exact lint lock bench bench-inference clean

demo: $(READY)
	$(ONE_THREAD) $(BIN)/belvedere demo --output $(OUT)/demo

test: $(READY)
	$(ONE_THREAD) $(BIN)/python -m pytest -q -n 2

test-exact: $(READY)
	$(ONE_THREAD) $(BIN)/python -m pytest -q -n 2 -m slow tests/core/context

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	MYPYPATH=.venv/typing $(BIN)/mypy -p belvedere.core -p belvedere.transforms -p belvedere.pipelines

bench: bench-inference

bench-inference: $(READY)
	$(ONE_THREAD) $(BIN)/python benchmarks/inference.py --output $(OUT)/bench-inference.json

lock: $(READY)
	$(BIN)/uv pip compile -q --generate-hashes --no-header --no-emit-index-url \
	  --extra train --extra dev pyproject.toml -o requirements.lock

$(READY): requirements.lock pyproject.toml
	@echo "Setting up .venv: downloads about 3 GB (mostly torch), takes 7 GB on disk."
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install -q --disable-pip-version-check uv
	VIRTUAL_ENV=.venv $(BIN)/uv pip install -q --require-hashes -r requirements.lock
	VIRTUAL_ENV=.venv $(BIN)/uv pip install -q --no-deps -e .
	mkdir -p .venv/typing/belvedere
	ln -sfn ../../../core .venv/typing/belvedere/core
	ln -sfn ../../../transforms .venv/typing/belvedere/transforms
	ln -sfn ../../../pipelines .venv/typing/belvedere/pipelines
	touch $(READY)

clean:
	rm -rf .venv $(OUT)

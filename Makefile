# Each target sets up .venv by itself from Python 3.11 or newer; nothing else is needed.
PYTHON ?= python3
PHOTOS ?= ../shared/photos
OUT ?= out
BIN := .venv/bin
READY := .venv/.ready
# numba does not notice edits in a module that another compiled one calls.
COMPILED := $(shell cat core/*/*compiled.py benchmarks/*compiled.py | sha256sum | cut -c1-16)
ENV := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 NUMBA_NUM_THREADS=1 \
  NUMBA_CACHE_DIR=$(CURDIR)/.venv/numba/$(COMPILED)

.PHONY: demo test test-exact test-faults test-stores emulators test-deploy \
  test-airflow test-flink test-flink-cluster prism test-prism lint lock clean \
  bench bench-inference bench-features bench-windows bench-photos bench-pipeline \
  bench-scale

demo: $(READY)
	$(ENV) $(BIN)/belvedere demo --output $(OUT)/demo

test: $(READY)
	$(ENV) $(BIN)/python -m pytest -q -n 2

test-exact: $(READY)
	$(ENV) $(BIN)/python -m pytest -q -n 2 -m slow tests/core/context

test-faults: $(READY)
	$(ENV) $(BIN)/python -m pytest -q -n 2 -m slow tests/pipelines

emulators:
	GOBIN=$${XDG_CACHE_HOME:-$$HOME/.cache}/belvedere/bin go install \
	  github.com/fsouza/fake-gcs-server@v1.56.1

test-stores: $(READY) emulators
	$(ENV) $(BIN)/python -m pytest -q -m "slow or not slow" tests/stores

prism:
	GOBIN=$${XDG_CACHE_HOME:-$$HOME/.cache}/belvedere/bin go install \
	  github.com/apache/beam/sdks/v2/go/cmd/prism@v2.77.0

test-prism: $(READY) prism
	$(ENV) $(BIN)/python -m pytest -q -m slow tests/prism

test-deploy: $(READY)
	$(ENV) $(BIN)/python -m pytest -q -m slow tests/deploy

AIRFLOW ?= $(HOME)/.cache/belvedere/airflow
test-airflow: $(READY)
	test -x $(AIRFLOW)/bin/python || $(BIN)/uv venv -q --python $(BIN)/python $(AIRFLOW)
	VIRTUAL_ENV=$(AIRFLOW) $(BIN)/uv pip install -q apache-airflow==3.3.2 \
	  apache-airflow-providers-google apache-airflow-providers-cncf-kubernetes
	VIRTUAL_ENV=$(AIRFLOW) $(BIN)/uv pip install -q --no-deps apache-airflow-providers-apache-beam
	AIRFLOW_PYTHON=$(AIRFLOW)/bin/python $(BIN)/python -m pytest -q tests/deploy/test_schedule.py

test-flink: $(READY)
	$(BIN)/python deploy/flink/fetch.py job-server
	$(ENV) $(BIN)/python -m pytest -q -m slow tests/flink/test_embedded.py

test-flink-cluster: $(READY)
	$(BIN)/python deploy/flink/fetch.py job-server
	$(BIN)/python deploy/flink/fetch.py flink
	$(ENV) $(BIN)/python -m pytest -q -m slow tests/flink/test_cluster.py

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	MYPYPATH=.venv/typing $(BIN)/mypy -p belvedere.core -p belvedere.transforms -p belvedere.pipelines

bench: bench-inference bench-features

bench-inference: $(READY)
	$(ENV) $(BIN)/python benchmarks/inference.py --output $(OUT)/bench-inference.json

bench-features: $(READY)
	$(ENV) $(BIN)/python benchmarks/features.py --output $(OUT)/bench-features.json

bench-windows: $(READY) photos
	$(ENV) $(BIN)/python benchmarks/windows.py --photos $(PHOTOS) --output $(OUT)/bench-windows.json

bench-photos: $(READY) photos
	$(ENV) $(BIN)/python benchmarks/photos.py --photos $(PHOTOS) --output $(OUT)/bench-photos

bench-pipeline: $(READY)
	$(ENV) $(BIN)/python benchmarks/pipeline.py --output $(OUT)/bench-pipeline.json

bench-scale: $(READY)
	$(ENV) $(BIN)/python benchmarks/scale.py --output $(OUT)/bench-scale.json

.PHONY: photos
photos:
	@test -f $(PHOTOS)/annotations.csv || \
	  { echo "no photographs at $(PHOTOS): say PHOTOS=DIR, a folder with annotations.csv"; exit 2; }

lock: $(READY)
	$(BIN)/uv pip compile -q --generate-hashes --no-header --no-emit-index-url \
	  --extra train --extra dev pyproject.toml -o requirements.lock
	$(BIN)/uv pip compile -q --generate-hashes --no-header --no-emit-index-url --no-annotate \
	  -c requirements.lock --extra cloud --extra build pyproject.toml -o deploy/image/worker.lock
	$(BIN)/uv pip compile -q --generate-hashes --no-header --no-emit-index-url --no-annotate \
	  -c requirements.lock --extra cloud --extra build --extra train pyproject.toml -o deploy/image/trainer.lock

$(READY): requirements.lock pyproject.toml
	@echo "Setting up .venv: downloads about 3 GB (mostly torch), takes 7 GB on disk."
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install -q --disable-pip-version-check uv
	VIRTUAL_ENV=.venv $(BIN)/uv pip install -q --compile-bytecode --require-hashes -r requirements.lock
	VIRTUAL_ENV=.venv $(BIN)/uv pip install -q --no-deps -e .
	mkdir -p .venv/typing/belvedere
	for room in core transforms pipelines; do \
	  ln -sfn ../../../$$room .venv/typing/belvedere/$$room; done
	touch $(READY)

clean:
	rm -rf .venv $(OUT)

# Targets are for people who develop Kerata, but for `make demo`, which is for anyone. Each makes what it needs: `.venv`
# with Python 3.11 or newer, and in it the pinned packages; a second call installs nothing unless a pin changed.

SHELL := /bin/bash
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
# The first Python that is new enough; say PYTHON=… for another.
PYTHON ?= $(shell for p in python3 python3.11 python3.12 python3.13 python; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
# Folder with the benchmarks, the conformance runner and the newcomer's scripts.
SHARED ?= ../shared
WORKERS ?= 2
# Arguments for pytest: make test ARGS='tests/compat -k patch'.
ARGS ?=

# Tests and benchmarks run on the CPU, one thread a process: workers would fight over cores otherwise.
QUIET := TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES= JAX_PLATFORMS=cpu
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1 TF_NUM_INTRAOP_THREADS=1 \
	TF_NUM_INTEROP_THREADS=1 XLA_FLAGS=--xla_cpu_multi_thread_eigen=false
PYTEST := env $(QUIET) $(ONE_THREAD) $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal

.PHONY: help demo test test-all lint format bench conformance newcomer docs clean

help:
	@echo "make demo         train on digits with JAX, run the saved model on every other installed framework"
	@echo "make test         all tests but the slow ones, on every framework (installs them)"
	@echo "make test-all     the slow ones too"
	@echo "make lint         ruff, and the floors of the house (import-linter)"
	@echo "make format       let ruff reformat"
	@echo "make bench        speed against Keras and against hand-written code"
	@echo "make conformance  Keras's own tests against Kerata: BACKEND=jax SELECT='layers/core/*'"
	@echo "make newcomer     the scripts of a new user: IMPL=kerata"
	@echo "make docs         the documentation, into site/"

# ---------------------------------------------------------------- environments

$(VENV)/made:
	@test -n "$(PYTHON)" || { echo "Kerata needs Python 3.11 or newer; none was found. Say PYTHON=/path/to/python."; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) install -qq 'pip>=25.1'
	@touch $@

$(VENV)/demo-ready: pyproject.toml constraints.txt | $(VENV)/made
	$(PIP) install -qq -c constraints.txt -e '.[jax]' scikit-learn
	@touch $@

# torch by itself and first: asked for along with others, pip may take a build with CUDA.
$(VENV)/test-ready: pyproject.toml constraints.txt | $(VENV)/made
	$(PIP) install -qq torch==2.13.0
	$(PIP) install -qq -c constraints.txt -e . --group dev
	@touch $@ $(VENV)/demo-ready

$(VENV)/conformance-ready: $(VENV)/test-ready
	$(PIP) install -qq -c constraints.txt --group conformance
	@touch $@

$(VENV)/bench-ready: $(VENV)/test-ready
	$(PIP) install -qq -c constraints.txt --group bench
	@touch $@

$(VENV)/docs-ready: pyproject.toml constraints.txt | $(VENV)/made
	$(PIP) install -qq -c constraints.txt -e . --group docs
	@touch $@

# ---------------------------------------------------------------- what one calls

demo: $(VENV)/demo-ready
	$(BIN)/kerata demo

test: $(VENV)/test-ready
	$(PYTEST) -m 'not slow' $(ARGS)

test-all: $(VENV)/test-ready
	$(PYTEST) $(ARGS)

CHECKED := $(wildcard src tests examples benchmarks)

lint: $(VENV)/test-ready
	$(BIN)/ruff check $(CHECKED)
	$(BIN)/lint-imports

format: $(VENV)/test-ready
	$(BIN)/ruff check --fix --select I $(CHECKED)
	$(BIN)/ruff format $(CHECKED)

bench: $(VENV)/bench-ready
	env $(QUIET) $(ONE_THREAD) $(BIN)/python benchmarks/run.py --shared $(SHARED)/bench $(ARGS)

BACKEND ?= jax
SELECT ?= *
conformance: $(VENV)/conformance-ready
	@mkdir -p results
	# TensorFlow mustn't import Keras before the tests can be given Kerata.
	env $(QUIET) $(ONE_THREAD) JAX_DISABLE_MOST_OPTIMIZATIONS=1 TF_USE_LEGACY_KERAS=1 $(BIN)/python $(SHARED)/conformance/run.py \
		--impl kerata --backend $(BACKEND) --select '$(SELECT)' -n $(WORKERS) \
		--tests "$$($(BIN)/python -c 'import importlib.util as u; print(u.find_spec("keras").submodule_search_locations[0])')/src" \
		--against $(SHARED)/conformance/calibration-$(BACKEND).json \
		--out results/conformance-$(BACKEND).json $(ARGS)

newcomer: $(VENV)/test-ready
	env $(QUIET) IMPL=$${IMPL:-kerata} $(BIN)/python $(SHARED)/newcomer/run_all.py $(ARGS)

docs: $(VENV)/docs-ready
	$(BIN)/mkdocs build --strict

clean:
	rm -rf site results .pytest_cache .ruff_cache .import_linter_cache

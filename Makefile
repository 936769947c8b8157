# Kina from a clean clone on Debian 12: `make demo` and `make check` do all set-up themselves.

PRESET ?= dev
BUILD  := build/$(PRESET)
VENV   := .venv
PYTHON := $(VENV)/bin/python3
PROGRAMS ?= 20000
SEED ?= 1
SECONDS := 300

.DEFAULT_GOAL := help
.PHONY: help setup venv configure build demo check grid fuzz fuzz-source fuzz-solver fuzz-ownership bench clean
.NOTPARALLEL:

help:  ## list the targets
	@sed -n 's/^\([a-z][a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | sort | expand -t 12

setup:  ## install the Debian packages that are missing
	@utils/setup-debian.sh

venv: setup $(VENV)/.complete  ## make the Python environment of the tests and the demo (.venv)

$(VENV)/.complete: test/requirements.txt
	@echo "Making $(VENV) (numpy, scikit-learn, jax: about 0.8 GB)"
	@rm -rf $(VENV)
	@python3 -m venv $(VENV)
	@$(VENV)/bin/pip install --quiet --disable-pip-version-check --no-input -r test/requirements.txt
	@touch $@

configure: venv
	@test -f $(BUILD)/build.ninja || cmake --preset $(PRESET) -DKINA_LIT="$(CURDIR)/$(VENV)/bin/lit"

build: configure  ## configure and build (PRESET=dev, release or asan)
	@cmake --build --preset $(PRESET)

demo: build  ## train a network written in Kina on the handwritten digits
	@$(PYTHON) examples/digits/run.py --build $(BUILD) --out build/demo

check: build  ## run every test: unit tests, lit by stage, oracles, documentation
	@$(PYTHON) utils/run-tests.py $(BUILD)

grid: build  ## every operation and derivative in every float type and class of shapes; writes the table
	@$(PYTHON) utils/run-tests.py $(BUILD) --param grid=1 $(BUILD)/test/Grid

fuzz: build  ## differentiate random programs with loops and branches (PROGRAMS=20000 SEED=1)
	@$(PYTHON) utils/fuzz-ad.py --build $(BUILD) --programs $(PROGRAMS) --seed $(SEED)
	@$(PYTHON) utils/fuzz-ad.py --build $(BUILD) --size small --programs 40 --seed $(SEED) --plant
	@PATH="$(CURDIR)/$(BUILD)/bin:$$PATH" $(PYTHON) test/ControlFlow/Inputs/control_flow.py --forms each --work $(BUILD)/control-flow

fuzz-source: build  ## wrong programs and random ones, with libFuzzer and without (SECONDS=300 SEED=1)
	@test -f build/fuzz/build.ninja || cmake --preset fuzz
	@cmake --build --preset fuzz --target kina-fuzz-source
	@$(PYTHON) utils/fuzz-source.py --build build/fuzz --libfuzzer $(SECONDS)
	@$(PYTHON) utils/fuzz-source.py --build $(BUILD) --seed $(SEED) --growth 50

fuzz-solver: build  ## random questions to the solver: its stages, Z3 alone and brute force agree (SEED=1)
	@KINA_SOAK_LINEAR=3000 KINA_SOAK_PRODUCT=1500 KINA_SOAK_SEED=$(SEED) $(BUILD)/bin/KinaSolverTests --gtest_brief=1 --gtest_filter='SoakTest.*:WrongStageTest.*'

fuzz-ownership: build  ## random functions: a model of the rules agrees, and values are what is computed (SEED=1)
	@$(PYTHON) utils/fuzz-ownership.py --build $(BUILD) --programs 5000 --seed $(SEED)

bench: build  ## time compiled programs against JAX on this machine
	@$(PYTHON) benchmarks/digits.py --build $(BUILD)
	@$(PYTHON) benchmarks/transformer.py --build $(BUILD)

clean:  ## remove what was built (the Python environment stays)
	@rm -rf build

# The front door. Every target sets up what it needs, so on a fresh Debian 12 machine two commands do
# everything: `make demo` and `make test`.
SHELL := /bin/bash
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

JOBS ?= $(shell nproc)
DIR ?= tests/reference
SECONDS ?= 60
PREFIX ?= /usr/local

.PHONY: help setup build demo install test reference docs lint format sanitize fuzz bench bench-quick wheel python-newest clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-13s %s\n", $$1, $$2}' Makefile

setup: ## Install the Debian packages that are missing (needs root or sudo only then)
	@tools/setup $(if $(filter setup,$(MAKECMDGOALS)),,--quiet)

# CMake itself notices changed lists and new files; only the presets are ours to watch.
build/build.ninja: CMakePresets.json | setup
	cmake --preset release
	@touch $@
build-asan/build.ninja: CMakePresets.json | setup
	cmake --preset asan-ubsan
	@touch $@
build-bench/build.ninja: CMakePresets.json | setup
	cmake --preset bench
	@touch $@
build-tsan/build.ninja: CMakePresets.json | setup
	cmake --preset tsan
	@touch $@

build: build/build.ninja ## Build the library, the program build/fathom and the tests
	@cmake --build build -j $(JOBS)

demo: build/build.ninja ## Build the program, then fit and predict on examples that need no data of yours
	@cmake --build build -j $(JOBS) --target fathom_cli
	build/fathom demo

test: build ## Build, then run all tests and checks
	@if ctest --test-dir build --output-on-failure -j $(JOBS) $(CTEST_FLAGS); then \
	   echo "make test: everything passed"; \
	 else \
	   echo "make test: FAILED; the tests above say where" >&2; exit 1; \
	 fi

install: build/build.ninja ## Install the program and the library under PREFIX=/usr/local
	@cmake --build build -j $(JOBS) --target fathom_cli fathom_shared
	@cmake --install build --prefix '$(PREFIX)' > /dev/null
	@echo "make install: $(PREFIX)/bin/fathom"

reference: build/build.ninja ## Compare the engine with the reference numbers in DIR=folder
	@if [ ! -d '$(DIR)' ]; then echo "make reference: there is no folder '$(DIR)'; give one with DIR=folder" >&2; exit 2; fi
	@cmake --build build -j $(JOBS) --target fathom_reference
	@FATHOM_REFERENCE_DIR='$(DIR)' build/fathom_reference

docs: ## Build the documentation as a site, build/site/index.html; warnings are errors
	@tools/setup --quiet --docs
	@tools/check_links
	@mkdocs build --quiet --strict
	@echo "make docs: open build/site/index.html"

lint: setup ## Check format, folder dependencies, equations, links and (changed files) clang-tidy
	@tools/lint

format: setup ## Format all C++ files in place
	@tools/lint --fix-format

sanitize: build-asan/build.ninja build-tsan/build.ninja ## Run all tests under the address, undefined-behaviour and thread sanitizers
	@cmake --build build-asan -j $(JOBS)
	@ctest --test-dir build-asan --output-on-failure -j $(JOBS)
	@cmake --build build-tsan -j $(JOBS)
	@ctest --test-dir build-tsan --output-on-failure -j $(JOBS)

fuzz: ## Fuzz every target for SECONDS=60 each; a finding is left in build-fuzz/findings
	@tools/setup --quiet --fuzz
	@tools/fuzz --seconds $(SECONDS)

bench: build-bench/build.ninja ## Measure all shapes and write bench/results.md (about ten minutes)
	@cmake --build build-bench -j $(JOBS) --target fathom_bench fathom_bench_shape fathom_bench_read fathom_cli
	@bench/run --build build-bench --output bench/results.md

bench-quick: build-bench/build.ninja ## Measure the main pieces in under two minutes: one line of JSON each
	@cmake --build build-bench -j $(JOBS) --target fathom_bench >&2
	@build-bench/fathom_bench

wheel: setup ## Build a wheel of the Python package into dist/ that carries what it links, and try it alone
	@tools/python_wheel wheel

python-newest: setup ## Install the Python package with the newest NumPy, pandas and scikit-learn, and test it there
	@tools/python_wheel newest

clean: ## Remove everything that was built
	rm -rf build build-dev build-asan build-tsan build-bench build-lint build-fuzz build-ci-* build-cp* dist

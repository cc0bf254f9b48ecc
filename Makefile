# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
#
# Short names for what scripts/ and CMake do. CMakePresets.json has the builds themselves.

PREFIX ?= /usr/local
DESTDIR ?=
export DESTDIR

.DEFAULT_GOAL := help
.PHONY: help setup build demo test check test-tools test-long test-matrix test-real bench lint format docs verified wheel install deb image clean

help: ## Show this list
	@echo "ttmem: what occupies the memory of my Tenstorrent devices, who put it there, what is left?"
	@echo
	@sed -nE 's/^([a-z-]+):[^#]*## (.*)/  make \1\t\2/p' Makefile | expand -t 20

setup: ## Install the Debian packages that are missing (as root or through sudo)
	@scripts/setup

build: ## Build build/bin/ttmem, build/lib/libttmem.so and the CMake package
	@scripts/setup build
	@cmake --preset release >/dev/null
	@cmake --build --preset product

demo: build ## Show ttmem on a built-in workload and on a stock TT-Metal; needs no device
	@scripts/setup demo || echo "demo: without these packages part B is left out"
	@scripts/demo

test: ## Run every functional test, on what ships
	@command -v python3 >/dev/null || scripts/setup build
	@scripts/test release

check: ## Run what CI runs: the tests, lint with clang-tidy, many cases, sanitizers and fuzz targets
	@command -v python3 >/dev/null || scripts/setup build
	@scripts/test --unless-passed release lint cases asan tsan

test-tools: ## Try the outputs in foreign tools, which are fetched first
	@scripts/test tools

test-long: ## Run the tests that take too long for every day
	@scripts/test long

test-matrix: ## Compare with other releases of ttnn, which are fetched first
	@scripts/test matrix

test-real: build ## Run tests of a checkout of tt-metal (TT_METAL_HOME) without and with ttmem, and compare
	@scripts/real

bench: ## Run the benchmarks, print the table, write build/bench.json
	@command -v python3 >/dev/null || scripts/setup build
	@scripts/bench

lint: ## Check formatting, clang-tidy, the rooms' includes, licences and lengths
	@scripts/setup build test check
	@cmake --preset release >/dev/null
	@scripts/lint

format: ## Format all C and C++ sources
	@scripts/format

verified: ## Write docs/verified.md: what the last runs of tests and benchmarks came to
	@scripts/verified

docs: ## Build the documents as a site into build/site, and check every link
	@scripts/setup docs
	@scripts/docs

wheel: ## Build dist/*.whl, for every CPython from 3.8 on, and the source archive
	@scripts/setup build
	@scripts/wheel

install: build ## Install into PREFIX (default /usr/local; DESTDIR is honoured)
	@cmake --install build --prefix "$(PREFIX)"

deb: ## Build the Debian packages into dist/, judged by lintian
	@scripts/setup build ship
	@scripts/deb

image: ## Build dist/ttmem-image.tar, a container image of the Debian packages (as root)
	@scripts/setup build ship
	@scripts/image

clean: ## Remove everything that was built
	@cmake -E rm -rf build build-debug build-asan build-tsan

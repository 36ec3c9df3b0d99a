# Every target sets up what it needs in .venv. Assumed: Python 3.11 or newer, make and g++.
PYTHON ?= python3
PYTEST_ARGS ?= -n 2
BENCH_ARGS ?=
WHEEL_ARGS ?=

VENV := .venv
PY := $(VENV)/bin/python
PIP := $(PY) -m pip --disable-pip-version-check -q
EDITABLE := $(PIP) install --no-build-isolation -e
NATIVE := $(shell find native -name '*.?pp')
SANITIZED := build/sanitize
# Byte code is kept: half of the time of starting a worker or a subprocess.
unexport PYTHONDONTWRITEBYTECODE
export PATH := $(CURDIR)/$(VENV)/bin:$(PATH)

.DEFAULT_GOAL := help
.PHONY: help demo test test-all browser chromium lint format docs docs-serve sanitize bench build werror wheel clean

help: ## show this list
	@sed -n 's/^\([a-z-]*\):.*## /  make \1\t/p' Makefile | expand -t 18

demo: $(VENV)/.built $(VENV)/.demo ## from a CSV file to a model and a report, and what wrong labels do
	$(PY) -m radboost.demo

test: lint ## lint, then every test but those marked slow or browser
	$(PY) -m pytest -m "not slow and not browser" $(PYTEST_ARGS)

test-all: lint $(VENV)/.heavy $(VENV)/.browser chromium ## lint, then every test, with Flower, Ray, PyTorch and the site
	$(PY) -m pytest --hypothesis-profile=anew $(PYTEST_ARGS)

browser: $(VENV)/.built $(VENV)/.dev $(VENV)/.browser chromium ## open reports in Chromium: the tests marked browser
	$(PY) -m pytest -m browser $(PYTEST_ARGS)

# Debian's, or the one that RADBOOST_CHROMIUM names; installing it needs root, by sudo where somebody else runs make.
SUDO = $(shell test "$$(id -u)" = 0 || echo sudo)
chromium:
	@test -n "$$RADBOOST_CHROMIUM" || command -v chromium >/dev/null || \
		{ $(SUDO) apt-get update -qq && $(SUDO) apt-get install -y -qq --no-install-recommends chromium; } || \
		{ echo 'Chromium could not be installed: install it, or set RADBOOST_CHROMIUM to the path of one.' >&2; exit 1; }

lint: $(VENV)/.built $(VENV)/.dev werror ## ruff, mypy, and the C++ code with warnings as errors
	ruff check --no-cache .
	ruff format --no-cache --check .
	mypy

format: $(VENV)/.dev ## let ruff rewrite what it can
	ruff check --fix .
	ruff format .

docs: $(VENV)/.docs ## the documentation as a site, in build/site; a warning is an error
	NO_MKDOCS_2_WARNING=1 mkdocs build --quiet
	@echo "open build/site/index.html"

docs-serve: $(VENV)/.docs ## the same on a port of this machine, made anew after every change
	NO_MKDOCS_2_WARNING=1 mkdocs serve --no-strict

bench: $(VENV)/.built $(VENV)/.bench ## the table of ratios against other libraries (on an idle machine)
	$(PY) -m benchmarks $(BENCH_ARGS)

build: $(VENV)/.built ## rebuild the native module after a change (seconds)

# On a fresh machine the module is compiled once, with warnings as errors; after `make demo` it is compiled again.
test test-all lint werror: export SKBUILD_CMAKE_DEFINE = RADBOOST_WERROR=ON
werror: $(VENV)/.built
	@cmake -S . -B build/editable --log-level=WARNING -DRADBOOST_WERROR=ON >/dev/null
	@cmake --build build/editable -- --quiet

# The sanitized module gets an interpreter of its own, which borrows the packages of .venv by a path file. The one of
# .venv would not do: its import hook prefers the ordinary build. Leaks are not looked for: Python keeps memory on exit.
# Capturing is left to Python, because what a dying process writes must not be held back.
sanitize: $(VENV)/.built $(VENV)/.dev ## the tests that run native code, under ASan and UBSan
	@cmake -S . -B $(SANITIZED)/cmake -G Ninja --log-level=WARNING -DRADBOOST_SANITIZE=ON -DCMAKE_BUILD_TYPE=RelWithDebInfo \
		-DPython_EXECUTABLE=$(CURDIR)/$(PY) >/dev/null
	@cmake --build $(SANITIZED)/cmake -- --quiet
	@test -x $(SANITIZED)/venv/bin/python || $(PY) -m venv --without-pip $(SANITIZED)/venv
	@site=$$($(SANITIZED)/venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))'); \
		$(PY) -c 'import sysconfig; print(sysconfig.get_path("purelib"))' > $$site/borrowed.pth; \
		rm -rf $$site/radboost && cp -r src/radboost $$site/radboost; \
		cmake --install $(SANITIZED)/cmake --prefix $$site >/dev/null
	LD_PRELOAD="$$(g++ -print-file-name=libasan.so) $$(g++ -print-file-name=libubsan.so)" \
		ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1 \
		$(SANITIZED)/venv/bin/python -m pytest -m "native and not slow and not browser" --capture=sys $(PYTEST_ARGS)

wheel: $(VENV)/.release ## a source archive and a wheel for old Linux systems, in dist/, tried in a fresh environment
	$(PY) release/wheel.py $(WHEEL_ARGS)

clean: ## remove everything the other targets made
	rm -rf $(VENV) build dist demo-output bench-output .mypy_cache .pytest_cache .ruff_cache .hypothesis
	rm -f src/radboost/_native.pyi
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The stamps below, from the bottom up: tools to build with, the package, its native module, packages for each purpose.

$(VENV)/.tools: pyproject.toml
	@$(PYTHON) -c 'import sys; v = sys.version_info; v >= (3, 11) or sys.exit( \
		f"RadBoost needs Python 3.11 or newer, $(PYTHON) is {v[0]}.{v[1]}: try make PYTHON=python3.12")'
	@test -x $(PY) || $(PYTHON) -m venv $(VENV)
	@# setuptools and wheel: some packages of `make bench` come as source, and nothing is built in isolation
	@$(PY) -c 'import tomllib; \
		print(*tomllib.load(open("pyproject.toml", "rb"))["build-system"]["requires"], "cmake", "ninja", "setuptools", "wheel", sep="\n")' \
		> $(VENV)/build-requires.txt
	$(PIP) install -r $(VENV)/build-requires.txt
	@touch $@

# An editable install knows the modules of its day: it is made anew when their list changes.
$(VENV)/modules.txt: $(VENV)/.tools FORCE
	@find src -name '*.py' | sort | cmp -s - $@ || find src -name '*.py' | sort > $@

FORCE:

$(VENV)/.package: $(VENV)/.tools $(VENV)/modules.txt pyproject.toml
	$(EDITABLE) .
	@touch $@

# Moved into place, not copied over: a process that has the old module loaded keeps it.
$(VENV)/.built: $(VENV)/.package CMakeLists.txt $(NATIVE)
	@cmake --build build/editable -- --quiet
	@cmake --install build/editable --prefix build/stage >/dev/null
	@cp build/stage/radboost/_native.pyi src/radboost/
	@mv build/stage/radboost/* $$($(PY) -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/radboost/
	@touch $@

$(VENV)/.demo $(VENV)/.dev $(VENV)/.docs $(VENV)/.heavy $(VENV)/.browser $(VENV)/.bench $(VENV)/.release: pyproject.toml | $(VENV)/.built
	$(EDITABLE) '.[$(EXTRAS)]' -c tests/constraints.txt
	@touch $@
$(VENV)/.demo: EXTRAS := cli,plot,progress
$(VENV)/.dev: EXTRAS := test,lint
$(VENV)/.docs: EXTRAS := docs
$(VENV)/.heavy: EXTRAS := test,lint,docs,flower,torch,mpi
$(VENV)/.browser: EXTRAS := browser
$(VENV)/.bench: EXTRAS := bench,progress
$(VENV)/.release: EXTRAS := release

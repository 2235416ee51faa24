# Two commands set everything up on a machine with Python 3.11+, git and make: `make index`, `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
WORKERS ?= 4  # two more than cores: tests also wait, for runners that linger and for disks

unexport PYTHONDONTWRITEBYTECODE  # where it is set, every process compiles everything again

SECONDS ?= 600
SEED ?=

.PHONY: index test suite quick unit lint programs pages pictures docs macos bench torture torture-full release dist tag clean

SOURCES := pyproject.toml hatch_build.py $(wildcard native/*)
PIP := $(BIN)/python -m pip install --disable-pip-version-check

$(VENV)/.product: $(SOURCES)  # what the product needs
	$(PYTHON) -m venv $(VENV)
	$(PIP) --upgrade pip  # 23's scripts import re
	$(PIP) --progress-bar on --editable .
	touch $@

$(VENV)/.installed: $(SOURCES) | $(VENV)/.product  # and what its tests need
	$(PIP) --progress-bar on --editable '.[dev]'
	touch $@

index: $(VENV)/.product  ## index this very repository, with hooks
	$(BIN)/gitindex install
	$(BIN)/gitindex index
	$(BIN)/gitindex status
	$(BIN)/gitindex search "completion proof validation" --limit 3

lint: $(VENV)/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

quick: $(VENV)/.installed  ## lint and the unit ring, side by side
	$(MAKE) --no-print-directory --output-sync=target --jobs 2 lint unit

unit: $(VENV)/.installed
	$(BIN)/pytest -n 2 -m "not torture and not slow" tests/unit

programs: $(VENV)/.installed  ## what tests need besides Python and git
	$(BIN)/python -m tests.bring

pages: $(VENV)/.installed  ## everything in pages that programs write: reference, promises, benchmarks, manual
	$(BIN)/python -m tests.pages
	$(BIN)/python -m tests.mcp_docs

pictures: $(VENV)/.installed  ## the pictures of the terminal and of the page, from real runs
	$(BIN)/python -m tests.picture

docs: $(VENV)/.installed  ## the book as a site in build/site, links and anchors checked
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	$(BIN)/python -m tests.pages.site build/site

test: programs  ## everything CI runs: lint, and all tests beside it
	$(MAKE) --no-print-directory --jobs 2 lint suite

suite: $(VENV)/.installed
	$(BIN)/pytest -n $(WORKERS) --dist worksteal --durations=25 -rs

macos: $(VENV)/.installed  ## rings of tests without /proc, with bash as sh (as root)
	$(BIN)/python -m tests.macos bash

bench: $(VENV)/.installed  ## the benchmark table, and docs/benchmarks.md from it
	$(BIN)/python -m bench --save

torture: $(VENV)/.installed programs  ## every fault suite for its share of SECONDS
	$(BIN)/python -m tests.torture --seconds $(SECONDS) $(if $(SEED),--seed $(SEED))

torture-full: $(VENV)/.installed programs  ## the fault suites of a fixed, full size: hours
	$(BIN)/pytest -n $(WORKERS) -m torture --timeout 14400

PLATFORMS ?= manylinux_2_17_x86_64 manylinux_2_17_aarch64 musllinux_1_2_x86_64 musllinux_1_2_aarch64
VERSION = $(shell $(BIN)/python -c 'import gitindex; print(gitindex.__version__)')

release: dist  ## wheels, sdist, notes and checksums in dist/, and the tag
	@$(MAKE) --no-print-directory tag

dist: $(VENV)/.installed
	rm -rf dist
	GITINDEX_PURE=1 $(BIN)/python -m build --no-isolation --outdir dist  # the fallback of every other platform
	for platform in $(PLATFORMS); do GITINDEX_PLATFORM=$$platform $(BIN)/python -m build --no-isolation --wheel --outdir dist || exit 1; done
	$(BIN)/abi3audit --strict dist/*-abi3-*.whl
	$(BIN)/twine check --strict dist/*.whl dist/*.tar.gz
	awk -v wanted='## $(VERSION)' 'index($$0, "## ") == 1 { on = $$0 == wanted || index($$0, wanted " ") == 1 } on' CHANGELOG.md > dist/NOTES.md
	test -s dist/NOTES.md || { echo "CHANGELOG.md has no section $(VERSION)" >&2; exit 1; }
	cd dist && sha256sum *.whl *.tar.gz > SHA256SUMS

tag:  # headings of the notes begin with the mark of git's comments
	@if ! git diff --quiet HEAD; then echo "not tagged: there are uncommitted changes"; \
	elif git rev-parse --quiet --verify refs/tags/v$(VERSION) >/dev/null; then echo "v$(VERSION) is tagged already"; \
	else git tag -a v$(VERSION) --cleanup=whitespace -F dist/NOTES.md && echo "tagged v$(VERSION); now: git push origin v$(VERSION)"; fi

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .hypothesis

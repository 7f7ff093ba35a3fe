# Every target sets itself up: a virtual environment in .venv, with the pinned packages of requirements.lock.
# MKG_PYTHON=/path/to/python chooses the interpreter; ARGS="-k gate -x" reaches pytest or `mkg demo`.

PY := .venv/bin/python
PYTEST := $(PY) -m pytest -q
# The tests of the shared server go one after the other; all others run beside them.
BESIDE := .venv/beside.log
define in_two
	@$(PYTEST) tests -m "not clients and not soak and not shared" $(ARGS) >$(BESIDE) 2>&1 & beside=$$!; \
	$(PYTEST) tests -m "not clients and not soak and shared" $(ARGS); shared=$$?; \
	wait $$beside; other=$$?; echo "==> the tests beside the shared server"; cat $(BESIDE); \
	test $$shared -eq 0 && test $$other -eq 0
endef

# The type checker is a Node program in a Python package.
define lint
$(PY) -m ruff check . && $(PY) -m ruff format --check --quiet . && \
  if command -v node >/dev/null; then $(PY) -m pyright; else echo "types not checked: there is no Node here"; fi
endef

.PHONY: help setup demo test test-all soak check bench format-cypher catalog lock-bundle lock lock-server ledger clean release

help:
	@echo "make demo      start a store, replay a session, show what was learned and what comes back"
	@echo "make test      every test except the real clients (needs the package registries only)"
	@echo "make test-all  make test and the real client programs"
	@echo "make soak      what takes long: each test says of what it is the long form"
	@echo "make check     the fast loop: lint, the offline contract, tests without a server"
	@echo "make format-cypher  lay out cypher/ and gds/ as Neo4j's formatter does (needs Node)"
	@echo "make catalog   write tests/server_catalog.json from the server of the settings"
	@echo "make bench     time what matters against a yardstick in the same run; renews README's tables"
	@echo "make lock-bundle  write cypher/bundle.lock again and tell which version the changes demand"
	@echo "make release   builds wheel and sdist and looks into them; publishes nothing"
	@echo "make ledger    bring tests/requirements.toml and the generated part of README.md up to date"
	@echo "make lock-server   read the server's jars again into python/mkg/localdb/server.lock (needs Maven); ARGS=\"--server V --out F\""
	@echo "make lock      resolve requirements.lock again from pyproject.toml"

setup: .venv/.ready

demo: .venv/.ready
	@.venv/bin/mkg demo $(ARGS)

test: .venv/.ready
	$(in_two)

test-all: test
	@$(lint)
	@echo "==> the real clients"
	@$(PYTEST) tests/clients -m clients $(ARGS)

soak: .venv/.ready
	@MKG_KEEP_FAULTS=1 $(PYTEST) tests -m soak $(ARGS)

check: .venv/.ready
	@$(lint)
	@.venv/bin/mkg check --offline
	@$(PYTEST) tests -m "not live and not clients and not soak" $(ARGS)

# A finding of another rule is not this target's business.
format-cypher: .venv/.ready
	@.venv/bin/mkg check --offline --fix || true

catalog: .venv/.ready
	@.venv/bin/mkg catalog --write tests/server_catalog.json

bench: .venv/.ready
	@$(PY) -m tests.bench $(ARGS)

lock-bundle: .venv/.ready
	@.venv/bin/mkg lock $(ARGS)

# A dry run: nothing is published.
release: .venv/.ready
	@$(PY) -m tests.support.release

ledger: .venv/.ready
	@$(PY) -m tests.support.requirements_tool sync

lock-server: .venv/.ready
	@$(PY) -m mkg.localdb.lock $(ARGS)

lock: .venv/.ready
	@$(PY) -m uv pip compile pyproject.toml --extra local --extra llm --extra gds --extra dev --universal \
	  --python-version 3.11 --generate-hashes --no-header --no-annotate --no-emit-index-url --no-emit-find-links \
	  --system-certs --quiet --output-file requirements.lock $(ARGS) >/dev/null

clean:
	@rm -rf .venv .pytest_cache .ruff_cache .hypothesis

# A name on the PATH may be a shim for a version that is not there, or a system Python without venv: each
# candidate is run, and the first that can make an environment wins.
.venv/.ready: requirements.lock pyproject.toml
	@set -e; \
	able='import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))'; \
	if ! $(PY) -c "$$able" >/dev/null 2>&1; then \
	  found='$(MKG_PYTHON)'; \
	  if [ -z "$$found" ]; then \
	    found=$$(IFS=:; for name in python3.11 python3.12 python3.13 python3.14 python3 python; do for dir in $$PATH; do \
	      if "$$dir/$$name" -c "$$able" >/dev/null 2>&1; then echo "$$dir/$$name"; exit; fi; done; done); \
	  fi; \
	  if ! "$$found" -c "$$able" >/dev/null 2>&1; then \
	    echo "mkg needs Python 3.11 or newer with the venv module; $${found:-nothing on the PATH} does not do." >&2; \
	    echo "Install one (Debian, Ubuntu: apt install python3 python3-venv) or run: make MKG_PYTHON=/path/to/python3 ..." >&2; \
	    exit 1; \
	  fi; \
	  echo "==> making .venv with $$("$$found" -V)"; \
	  rm -rf .venv; "$$found" -m venv .venv; \
	fi; \
	echo "==> installing the pinned packages (a minute or more the first time)"; \
	$(PY) -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock; \
	echo "==> installing mkg itself"; \
	$(PY) -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .; \
	touch .venv/.ready

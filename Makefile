# The front door. CMake does the work (CMakePresets.json); docs/HACKING.md tells more.
#
# SETUP=true skips the installation of packages. A build folder remembers how it was configured: after
# demo or test it compiles sources together, as CI does, until 'cmake --preset release
# -D OURO_UNITY=OFF -D OURO_PRECOMPILE=OFF' or 'make clean'.

SETUP ?= scripts/setup
PREFIX ?= /usr/local
SECONDS_PER_TARGET ?= 30
BENCH_ARGS ?=
TABLE_ARGS ?=
EVALUATION_ARGS ?=

.DEFAULT_GOAL := help
.PHONY: help demo test test-servers test-drivers test-plain test-fresh test-python test-clients \
        test-go test-java test-jepsen test-spark test-tap-drivers test-exec-drivers test-kafka test-web \
        test-tidb test-dolt \
        build static deb wheel bench bench-table evaluation format site web zoo \
        install asan tsan fuzz clean

help: ## list what make can do
	@echo 'Ouro decides whether a database kept its isolation level.'
	@echo
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' Makefile | \
	  while IFS='|' read -r name what; do printf '%-19s %s\n' "$$name" "$$what"; done

demo: ## build build/ouro, test RocksDB with it, check a few bundled histories
	@$(SETUP) build
	@cmake --preset ci >/dev/null
	@cmake --build --preset ci --target ouro
	@scripts/demo

test: ## all tests: release, address+undefined sanitizers, brief fuzzing
	@$(SETUP) build test fuzz servers
	@scripts/test

test-servers: ## only what real PostgreSQL, MariaDB and Galera do, and what shows there by luck
	@$(SETUP) build test servers
	@cmake --preset release -D OURO_TESTS=ON >/dev/null
	@cmake --build --preset release --target ouro ouro_tests
	@build/tests/ouro_tests --gtest_filter='Live*'

test-drivers: ## builds without some or all database drivers
	@$(SETUP) build test
	@scripts/test-drivers

test-plain: ## every source compiles by itself (make test compiles several together)
	@$(SETUP) build test
	@cmake --preset debug -B build/plain -D OURO_TESTS=ON -D CMAKE_CXX_FLAGS_DEBUG=-O0 >/dev/null
	@cmake --build build/plain

test-fresh: ## make demo and make test in a bare Debian 12 (as root; takes long)
	@$(SETUP) fresh
	@scripts/fresh

build: ## build build/ouro
	@$(SETUP) build
	@cmake --preset release >/dev/null
	@cmake --build --preset release --target ouro

static: ## build/static/ouro: one file without shared libraries, databases and network
	@$(SETUP) build
	@scripts/static

deb: ## a Debian package of the program, in build/
	@$(SETUP) build package
	@cmake --preset release -D OURO_DOCUMENTS=/usr/share/doc/ouro/docs >/dev/null
	@cmake --build --preset release --target ouro ouro_c
	cd build && cpack

wheel: ## a wheel of the Python package for Linux with this glibc or newer, in build/wheel/ (needs PyPI)
	@$(SETUP) build python
	@scripts/wheel

test-python: ## the Python package as pip installs it, with pandas, pyarrow and SQLAlchemy (needs PyPI)
	@$(SETUP) build python
	@scripts/wheel test

test-clients: test-go test-java test-jepsen test-spark test-tap-drivers ## all client libraries but Python's (each needs its language and its registry)

test-go: ## the Go module, on SQLite
test-java: ## the Java library, on H2
test-jepsen: ## the checker for Jepsen
test-spark: ## the Spark job, on a local Spark from PyPI
test-tap-drivers: ## ouro tap with JDBC, pgx and psycopg, on a private PostgreSQL
test-exec-drivers: ## the drivers to copy, by 'ouro driver-test' (each needs its language and its registry)
test-go test-java test-jepsen test-spark test-tap-drivers test-exec-drivers:
	@$(SETUP) build
	@cmake --preset release >/dev/null
	@cmake --build --preset release --target ouro
	@scripts/test-clients $(@:test-%=%)

test-kafka: ## 'ouro serve --kafka' with a real broker that is killed (needs Java and Maven Central)
	@$(SETUP) build
	@cmake --preset release >/dev/null
	@cmake --build --preset release --target ouro
	@scripts/test-kafka

test-tidb: ## 'ouro run' and 'ouro hermitage' on a TiDB built from Go's proxy (half an hour of processor time)
test-dolt: ## the same on a Dolt
test-tidb test-dolt:
	@$(SETUP) build
	@cmake --preset release >/dev/null
	@cmake --build --preset release --target ouro
	@scripts/test-go-servers $(@:test-%=%)

bench: ## build and run the benchmarks; BENCH_ARGS='--benchmark_filter=...'
	@$(SETUP) build bench
	@cmake --preset release -D OURO_BENCH=ON >/dev/null
	@cmake --build --preset release --target ouro ouro_bench ouro_bench_history
	build/bench/ouro_bench $(BENCH_ARGS)
	bench/table --runs 1 --frontier-seeds 3
	@build/clingo/bin/python -c 'import clingo' 2>/dev/null || { python3 -m venv build/clingo && \
	  build/clingo/bin/pip install -q clingo; } || true
	bench/frontier/compare
	bench/table --twins

bench-table: ## the table of docs/benchmarks.md, with memory; TABLE_ARGS='10k gsib-2k'
	@$(SETUP) build bench
	@cmake --preset release -D OURO_BENCH=ON >/dev/null
	@cmake --build --preset release --target ouro ouro_bench_history
	bench/table $(TABLE_ARGS)

evaluation: ## the experiments of four papers, docs/evaluation.md; EVALUATION_ARGS='viper-8' (up to an hour)
	@$(SETUP) build bench
	@cmake --preset release -D OURO_BENCH=ON >/dev/null
	@cmake --build --preset release --target ouro ouro_bench ouro_bench_history ouro_bench_stream
	@[ -e build/plots/bin/python ] || { python3 -m venv build/plots && \
	  build/plots/bin/pip install -q matplotlib; } || true
	@bench/evaluation/install-rivals build/rivals
	@python=build/plots/bin/python; [ -x $$python ] || python=python3; \
	  $$python bench/evaluation/run $(EVALUATION_ARGS)

format: ## format the C++ sources in place
	@$(SETUP) format
	git ls-files -z '*.h' '*.cc' | xargs -0 clang-format-14 -i

web: ## build/web/index.html: a page that checks histories in the browser
	@$(SETUP) build web
	@scripts/web

test-web: ## whether that page says what the program says, in Node and in a browser
	@$(SETUP) build test web
	@cmake --preset release -D OURO_TESTS=ON >/dev/null
	@cmake --build --preset release --target ouro ouro_tests
	@scripts/web --test

site: ## the documents as a searchable static site, build/site/index.html (needs PyPI)
	@$(SETUP) build site
	@cmake --preset release >/dev/null
	@cmake --build --preset release --target ouro
	@[ -x build/site-tools/bin/mkdocs ] || { python3 -m venv build/site-tools && \
	  build/site-tools/bin/pip install -q mkdocs-material==9.5.49; }
	@scripts/site build/site-tools/bin/mkdocs build/ouro

zoo: ## databases that break a promise, and controls (docs/zoo.md); ZOO='badger h2' (needs registries)
	@$(SETUP) build servers
	@cmake --preset release >/dev/null
	@cmake --build --preset release --target ouro
	@clients/zoo/zoo.py --ouro build/ouro --work build/zoo $(ZOO_ARGS) $(ZOO)

install: ## install program, documents, libraries and headers under $(DESTDIR)$(PREFIX) [/usr/local]
	@$(SETUP) build
	@cmake --preset release -D OURO_DOCUMENTS='$(PREFIX)/share/doc/ouro/docs' >/dev/null
	@cmake --build --preset release --target ouro ouro_c
	DESTDIR='$(DESTDIR)' cmake --install build --prefix '$(PREFIX)'

asan: ## build with address and undefined sanitizers in build/asan, run the tests there
	@$(SETUP) build test fuzz servers
	@scripts/test asan

tsan: ## build with the thread sanitizer in build/tsan, run the tests there
	@$(SETUP) build test servers
	@scripts/test tsan

fuzz: ## fuzz every parser for SECONDS_PER_TARGET seconds [30]
	@$(SETUP) build fuzz
	@scripts/fuzz $(SECONDS_PER_TARGET)

clean: ## remove everything that was built
	rm -rf build

# Thin over CMake: each target sets up what it needs (scripts/bootstrap) and calls a preset.
#
#   make run       builds the release and shows the tool at work
#   make check     the quick tests, without sanitizers: about three minutes, for daily work
#   make test      builds and runs all tests: gcc, address + undefined, thread sanitizer
#   make test-busy the same tests while two loops keep two cores busy
#   make test-long hours: what make test has in small, in large (KERNELS=5000, SEED=1, FUZZ_SECONDS=600)
#   make build     the release: build/release/bin/vyre, build/release/lib/
#   make bench     runs the benchmarks
#   make install   PREFIX=/usr/local by default, DESTDIR honoured
#   make docs      the API reference, HTML and man pages, in build/docs; writes docs/errors.md and docs/tool-errors.md
#   make format, make lint

PREFIX ?= /usr/local
FUZZ_SECONDS ?= 600
KERNELS ?= 5000
SEED ?= 1

.PHONY: run build check test test-busy test-long bench install docs format lint fuzz clean

run:
	@scripts/bootstrap run
	@scripts/build release
	@scripts/demo build/release/bin/vyre

build:
	@scripts/bootstrap build
	@scripts/build release

check:
	@scripts/bootstrap test
	@scripts/build dev
	ctest --preset check

# Without sanitizers first: the drivers' compilers are several times slower inside a process with one, and keep what
# they have compiled.
test:
	@scripts/bootstrap test
	@scripts/build dev asan tsan
	ctest --preset dev
	ctest --preset asan
	ctest --preset tsan

# What other programs on the machine do to the tests: nothing.
test-busy:
	@scripts/bootstrap test
	@scripts/build dev asan tsan
	scripts/busy 2 ctest --preset dev
	scripts/busy 2 ctest --preset asan
	scripts/busy 2 ctest --preset tsan

# More of the drivers under sanitizers, random kernels and batches in large, soaks, traps of real drivers, long fuzzing,
# threads again and again, and the quick tests on a machine whose cores are taken.
test-long:
	@scripts/bootstrap test
	@scripts/build dev asan tsan fuzz
	ctest --preset asan-long
	ctest --preset tsan-long --repeat until-fail:5
	VYRE_TEST_SEED=$(SEED) ctest --preset long
	POCL_DEVICES="pthread basic" build/dev/tests/kernels/vyre_kernels --device pthread --complete \
	    --programs $(KERNELS) --seed $(SEED) --jobs 2 --keep-going --shown 10
	POCL_DEVICES="pthread basic" build/dev/tests/kernels/vyre_kernels --device basic \
	    --programs $$(( $(KERNELS) / 10 + 1 )) --seed $(SEED) --jobs 2 --keep-going --shown 10
	@scripts/run-fuzzers build/fuzz/bin $(FUZZ_SECONDS)
	ctest --preset tsan --repeat until-fail:5 -R 'threads|gate|in-flight|losses|differential'
	scripts/busy 2 ctest --preset check --repeat until-fail:3

bench:
	@scripts/bootstrap bench
	@scripts/build bench
	@scripts/run-benches build/bench/bin

# The man pages of functions and types (section 3) are made anew, so that they are those of the headers installed.
install: build
	@rm -rf build/docs/man
	@if ! command -v doxygen >/dev/null || ! command -v python3 >/dev/null; then \
	    echo "install: without man pages of functions, which need doxygen and python3"; \
	elif ! docs/reference/build build/docs; then \
	    echo "install: without man pages of functions: see above"; \
	fi
	cmake --install build/release --prefix "$(PREFIX)"

docs:
	@scripts/bootstrap test
	docs/reference/build build/docs
	@scripts/build dev
	build/dev/bin/vyre_errors_page library >docs/errors.md
	build/dev/bin/vyre_errors_page tool >docs/tool-errors.md

format:
	@scripts/bootstrap lint
	git ls-files -z -co --exclude-standard '*.c' '*.h' | xargs -0 clang-format -i

lint:
	@scripts/bootstrap lint
	git ls-files -z -co --exclude-standard '*.c' '*.h' | xargs -0 clang-format --dry-run -Werror
	@scripts/build tsan
	git ls-files -z -co --exclude-standard 'src/*.c' 'cli/*.c' | xargs -0 -n 1 -P 2 clang-tidy --quiet -p build/tsan

fuzz:
	@scripts/bootstrap test
	@scripts/build fuzz
	@scripts/run-fuzzers build/fuzz/bin $(FUZZ_SECONDS)

clean:
	rm -rf build

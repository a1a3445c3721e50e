# Thin over CMake: each target sets up what it needs (scripts/bootstrap) and calls a preset.
#
#   make run       builds the release and shows the tool at work
#   make test      builds and runs all tests: gcc, address + undefined, thread sanitizer
#   make test-long thousands of random kernels (KERNELS=5000, SEED=1)
#   make build     the release: build/release/bin/vyre, build/release/lib/
#   make bench     runs the benchmarks
#   make install   PREFIX=/usr/local by default, DESTDIR honoured
#   make docs      writes the generated pages again (docs/errors.md)
#   make format, make lint

PREFIX ?= /usr/local
FUZZ_SECONDS ?= 600
KERNELS ?= 5000
SEED ?= 1

.PHONY: run build test test-long bench install docs format lint fuzz clean

run: build
	@scripts/demo build/release/bin/vyre

build:
	@scripts/bootstrap run
	@scripts/build release

test:
	@scripts/bootstrap test
	@scripts/build dev asan tsan release
	ctest --preset asan
	ctest --preset tsan
	ctest --preset dev

test-long:
	@scripts/bootstrap test
	@scripts/build dev
	POCL_DEVICES="pthread basic" build/dev/tests/kernels/vyre_kernels --device pthread --complete \
	    --programs $(KERNELS) --seed $(SEED) --jobs 2 --keep-going --shown 10
	POCL_DEVICES="pthread basic" build/dev/tests/kernels/vyre_kernels --device basic \
	    --programs $$(( $(KERNELS) / 10 + 1 )) --seed $(SEED) --jobs 2 --keep-going --shown 10

bench:
	@scripts/bootstrap bench
	@scripts/build bench
	@scripts/run-benches build/bench/bin

install: build
	cmake --install build/release --prefix "$(PREFIX)"

docs:
	@scripts/bootstrap test
	docs/reference/build build/docs
	@scripts/build dev
	build/dev/bin/vyre_errors_page >docs/errors.md

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

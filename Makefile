# What people do with the repository; CMakeLists.txt says how. `make help` lists the targets.

.DEFAULT_GOAL := build
.PHONY: build demo test test-long soak mutate format format-check trees clean help

CTEST := ctest --test-dir build --output-on-failure --no-tests=error --parallel $(shell nproc)
SOURCES = $(shell git ls-files --cached --others --exclude-standard '*.c' '*.h')

build: ## build the release into build/; the tool is build/limber
	@tools/setup build
	@tools/build release limber limber_cli

demo: build ## simulate the default scene and leave something to look at in build/demo
	build/limber run crowd --frames 300 --out build/demo
	@echo
	@echo "The last state is in build/demo: surfaces as OBJ (open them in Blender or MeshLab), a snapshot, the summary."

test: trees ## everything that must hold: unit, oracle, invariants, sanitizers, short fuzzing (at most 10 minutes)
	$(CTEST) -LE 'long|soak'

test-long: trees ## long fuzzing, every scene on every instruction set, failing allocations everywhere
	LIMBER_FUZZ_SECONDS=600 $(CTEST) -LE soak

soak: trees ## simulated hours
	$(CTEST) -L soak

mutate: ## small wrong edits to the sources, each of which must turn a test red
	@tools/setup test
	tools/mutate

format: ## format all C sources
	@tools/setup test
	clang-format -i $(SOURCES)

format-check: ## complain about sources that are not formatted
	@tools/setup test
	test/repository/check_format

# Every build that the tests use.
trees:
	@tools/setup test
	@tools/build release
	@tools/build sanitize
	@tools/build tsan
	@tools/build clang
	@tools/build fuzz

clean: ## remove build/
	rm -rf build

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1	\2/p' Makefile | expand -t 20

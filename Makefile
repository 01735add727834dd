# What people do with the repository; CMakeLists.txt says how. `make help` lists the targets.

.DEFAULT_GOAL := build
.PHONY: build demo pictures reference python blender web serve test test-long test-arm test-wasm test-windows test-x86-32 packages amalgamation soak mutate golden validation format format-check trees clean help

# The scene that `make demo` shows.
DEMO := penguins

CTEST := ctest --test-dir build --output-on-failure --no-tests=error --parallel $(shell nproc)
SOURCES = $(shell git ls-files --cached --others --exclude-standard '*.c' '*.h' '*.cpp')

build: ## build the release into build/; the tool is build/limber
	@tools/setup build
	@tools/build release src/all limber_tools

demo: build ## simulate and draw the default scene: a video and a sheet of pictures in build/demo (under three minutes)
	@mkdir -p build/demo
	build/limber render $(DEMO) --sheet 4x3 --out build/demo/$(DEMO).png
	build/limber render $(DEMO) --size 960x540 --fps 30 --out build/demo/$(DEMO).mp4
	@echo
	@echo "Look at build/demo/$(DEMO).mp4 (video) and build/demo/$(DEMO).png (the same as a sheet of pictures)."

pictures: build python ## draw the pictures of README.md and docs/ again (docs/pictures)
	@tools/setup pictures
	tools/pictures build/limber docs/pictures

reference: ## the public headers as a page with links and search, in build/reference
	tools/reference build/reference

python: ## the Python package as a wheel in build/wheel (docs/python.md)
	@tools/setup python
	@tools/build release limber_python limber_cli
	@tools/wheel

blender: python ## the add-on for Blender as a zip in build/blender (docs/blender.md)
	@tools/blender-zip

web: ## the package for JavaScript (npm) and the page to play with, in build/web (docs/web.md)
	@tools/setup web
	@tools/build web-simd
	@tools/build web-threads
	@tools/build web-scalar
	node web/build.mjs

serve: ## serve the page of `make web` at http://localhost:8080
	node web/serve.mjs build/web 8080

test: trees ## everything that must hold: unit, oracle, invariants, sanitizers, short fuzzing (about 17 minutes on two cores)
	$(CTEST) -LE 'long|soak'

# Programs for other machines, run here by an emulator; `short`: the lanes, and golden hashes of ten scenes.
test-arm: ## all that can be tested of a build for 64-bit ARM, with qemu: the very hashes of x86
	@tools/test-platform arm

test-wasm: ## the same for web assembly, with node
	@tools/test-platform wasm

test-windows: ## the same for Windows, with wine
	@tools/test-platform windows

test-x86-32: ## the same for 32-bit x86
	@tools/test-platform x86-32

test-long: trees ## all of `make test`, and: long runs and fuzzing, every scene everywhere, slow tests sanitized and with clang, exports in other programs
	@tools/setup readers
	@tools/setup plain
	LIMBER_FUZZ_SECONDS=120 $(CTEST) -LE soak

packages: build ## a tar and a Debian package in build/packages, and a zip for Windows
	cpack --config build/CPackConfig.cmake -G "TGZ;DEB" -B build/packages
	@tools/setup windows
	@tools/build windows src/all limber_cli
	cpack --config build/windows/CPackConfig.cmake -G ZIP -B build/packages
	@rm -rf build/packages/_CPack_Packages
	@ls -l build/packages

amalgamation: ## the core library as limber.c and limber.h in build/amalgamation
	tools/amalgamate build/amalgamation

soak: ## simulated hours (about ten minutes)
	@tools/setup test
	@tools/build release
	$(CTEST) -L soak

mutate: ## small wrong edits to the sources, each of which must turn a test red
	@tools/setup test
	tools/mutate

golden: ## record the results as they are now, when a change of them is meant (test/golden/hashes.txt)
	@tools/setup test
	@tools/build release limber_cli golden_busy
	test/golden/hashes build/limber build/test/golden_busy >build/hashes.txt
	@mv build/hashes.txt test/golden/hashes.txt
	@git diff --stat -- test/golden/hashes.txt

validation: build ## measure materials against theory again: docs/validation.md and its plots (about five minutes of one core)
	build/limber validate --out docs

format: ## format all C sources
	@tools/setup test
	clang-format -i $(SOURCES)

format-check: ## complain about sources that are not formatted
	@tools/setup test
	test/repository/check_format

# Every build that `make test` uses, each with what its tests need.
trees:
	@tools/setup test
	@tools/build release
	@tools/build sanitize
	@tools/build tsan

clean: ## remove build/
	rm -rf build

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1	\2/p' Makefile | expand -t 20

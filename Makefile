# Builds, runs, tests and installs Selene; `make help` lists what it can do.
#
# What ships is compiled and linked here, in Embedded Swift and C, so that libselene.so and libselene.a are the same object
# code, export exactly what Sources/SeleneABI/symbols.txt lists, and need nothing but libc and LIBS. SwiftPM
# (Package.swift) makes the ordinary build of the same sources, for tests and sanitizers.

PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
BINDIR ?= $(PREFIX)/bin
MANDIR ?= $(PREFIX)/share/man
DOCDIR ?= $(PREFIX)/share/doc/selene
UNITDIR ?= $(PREFIX)/lib/systemd/system
DESTDIR ?=
# As CMake and Meson say it, too: LIBDIR=lib/x86_64-linux-gnu is a folder of PREFIX.
$(if $(PREFIX),$(if $(filter /%,$(PREFIX)),,$(error PREFIX must begin with /: $(PREFIX))))
override LIBDIR := $(if $(filter /%,$(LIBDIR)),$(LIBDIR),$(PREFIX)/$(LIBDIR))
override INCLUDEDIR := $(if $(filter /%,$(INCLUDEDIR)),$(INCLUDEDIR),$(PREFIX)/$(INCLUDEDIR))

CFLAGS ?= -O2 -g
WARNINGS = -std=c11 -D_GNU_SOURCE -Wall -Wextra -pedantic -Werror

VERSION := $(shell sed -n 's/^\#define SELENE_VERSION_STRING "\(.*\)"/\1/p' include/selene.h)
MAJOR := $(firstword $(subst ., ,$(VERSION)))
MINOR := $(word 2,$(subst ., ,$(VERSION)))

# What the library stands on, and what linking with the archive needs besides it.
# make SQLITE=-l:libsqlite3.a puts SQLite into the library.
SQLITE = -lsqlite3
LIBS = $(SQLITE) -lm
STATIC_LIBS = $(LIBS) -lpthread

SWIFT_SOURCES := $(sort $(shell find Sources -name '*.swift'))
C_SOURCES := $(sort $(wildcard Sources/CPlatform/*.c))
C_HEADERS := $(wildcard Sources/CPlatform/*.h Sources/CPlatform/include/*.h)
SYMBOLS = Sources/SeleneABI/symbols.txt
# OUT: where the libraries are put; everything else stays in build/.
OUT = build
SHARED = $(OUT)/libselene.so.$(VERSION)
ARCHIVE = $(OUT)/libselene.a
SONAME = libselene.so.$(MAJOR)
EXAMPLES := $(patsubst bindings/c/examples/%.c,build/examples/%,$(wildcard bindings/c/examples/*.c))
RUNNER_SOURCES := $(wildcard bindings/c/examples/selene-run/*.[ch])

export SWIFT_BACKTRACE ?= enable=no
# Fails when a tool prints a warning: what the compilers treat as errors, and what linkers only say.
QUIETLY = .ci/quietly

.DEFAULT_GOAL = all
.DELETE_ON_ERROR:
.PHONY: all libraries program examples run run-c run-python test check torture mutants bench install uninstall clean format format-check interface examples deps deps-test deps-bench benchmarks help

## all            the libraries in build/ (the default)
all: deps libraries program
libraries: $(SHARED) $(ARCHIVE)

## run            builds everything and runs the example workload for a few short windows; HOST=python: from Python
HOST = c
run: run-$(HOST)
run-c: all build/selene-run
	@bindings/c/examples/run.sh build/selene-run
run-python: deps-test all
	@bindings/python/run.sh

## test           all tests; the last line says how many passed and failed
test: deps-test
	@.ci/test

## check          the quick part of the tests, in under two minutes once they are built; before each commit
check: deps-test
	@.ci/test "python check" "c check" swift "store check" interface format

## torture        kills, losses of power, faults, damage, random choices by the thousand, mutants; an hour or more
torture: deps-test all mutants
	@.ci/suites/swift long && .ci/suites/store long && .ci/suites/reproducible && bindings/python/test.sh long

## mutants        mistakes made one at a time, which tests must notice (Tests/mutants): some minutes
mutants: deps-test
	@.ci/suites/mutants

## bench          what things cost, beside other ways, as tables and a picture: some minutes; FORM=long: half an hour
FORM = short
BENCH_PYTHON = build/bench/venv/bin/python
bench: deps-bench all benchmarks
	@bindings/python/environment.sh build/bench/venv bench || echo "what is missing is left out"
	@PYTHONPATH=bindings/python/src PYSELENE_LIBRARY=build/libselene.so $(BENCH_PYTHON) -B Benchmarks/python/bench.py $(FORM)

# ---- the libraries ----------------------------------------------------------

# For both compilers: each function in a section of its own, so that the linker drops what nothing uses; no frame
# pointers, since debuggers have the .debug file; and the same bytes in whatever folder this is built.
COMPILED = build/compiled
HERE = $(CURDIR)=.
FOR_C = -fPIC -g -gdwarf-4 -ffunction-sections -fdata-sections -fomit-frame-pointer -fblocks \
	-ffile-prefix-map=$(HERE)

# All Swift as one module: smaller and faster than the layers one by one, which Package.swift keeps apart. Small; the
# functions that runs and registrations pass through are marked for speed. Exclusivity is checked while compiling and in
# the ordinary build.
SWIFT_FLAGS = -swift-version 6 -warnings-as-errors -parse-as-library -whole-module-optimization -Osize -g \
	-enable-experimental-feature Embedded -enforce-exclusivity=unchecked -Xfrontend -function-sections -Xfrontend -no-clang-module-breadcrumbs \
	-file-prefix-map $(HERE) -module-name SeleneABI -package-name selene -module-cache-path $(COMPILED)/modules \
	-Xcc -fmodule-map-file=include/module.modulemap -Xcc -fmodule-map-file=Sources/module.modulemap \
	$(addprefix -Xcc ,$(FOR_C))

$(COMPILED)/swift.o: $(SWIFT_SOURCES) $(C_HEADERS) include/selene.h include/module.modulemap Sources/module.modulemap \
	Makefile
	@echo "compiling Sources"
	@mkdir -p $(COMPILED)
	@$(QUIETLY) swiftc $(SWIFT_FLAGS) -c $(SWIFT_SOURCES) -o $@

$(COMPILED)/%.o: Sources/CPlatform/%.c $(C_HEADERS) Makefile
	@mkdir -p $(COMPILED)
	@$(QUIETLY) clang -std=gnu17 -Os -Wall -Wextra -Werror $(FOR_C) -ISources/CPlatform/include -c $< -o $@

OBJECTS = $(COMPILED)/swift.o $(C_SOURCES:Sources/CPlatform/%.c=$(COMPILED)/%.o)

# One object in which everything but the exports is local, even where two hosts' libraries meet in one program.
build/selene.o: $(OBJECTS) $(SYMBOLS)
	@ld -r --force-group-allocation --gc-sections $(addprefix -u ,$(shell cat $(SYMBOLS)) platform_memalign) \
	  --defsym=posix_memalign=platform_memalign -o $@ $(OBJECTS)
	@objcopy --keep-global-symbols=$(SYMBOLS) -R .swift1_autolink_entries -R .swift_modhash -R .comment $@

build/selene.map: .ci/nodes include/selene.h
	@mkdir -p build
	@.ci/nodes map >$@

# Stripped as it is installed; what debuggers and valgrind want lies beside it.
$(SHARED): build/selene.o build/selene.map
	@mkdir -p $(OUT)
	@$(QUIETLY) $(CC) -shared -o $@ build/selene.o -Wl,-soname,$(SONAME) -Wl,--version-script=build/selene.map \
	  -Wl,-z,nodelete,-z,relro,-z,now,-z,defs,-z,noseparate-code,--gc-sections,--as-needed,--build-id $(LIBS)
	@objcopy --only-keep-debug $@ $@.debug
	@strip $@
	@cd $(OUT) && objcopy --add-gnu-debuglink=$(notdir $@).debug $(notdir $@)
	@ln -sf $(notdir $@) $(OUT)/$(SONAME)
	@ln -sf $(SONAME) $(OUT)/libselene.so
	@echo "$@"

$(ARCHIVE): build/selene.o
	@mkdir -p $(OUT)
	@strip --strip-debug -o build/selene-archive.o build/selene.o
	@rm -f $@
	@ar rcsD $@ build/selene-archive.o
	@echo "$@"

## interface      rewrites what is derived from the header: the list of exports and the witness for abidiff
interface: deps-test
	@.ci/symbols >$(SYMBOLS)
	@mkdir -p build/test
	@.ci/witness >build/test/witness.c
	@$(CC) -g -gdwarf-4 -w -shared -fPIC -Iinclude build/test/witness.c -o build/test/witness.so
	@abidw --no-corpus-path --no-comp-dir-path --no-show-locs --no-elf-needed --no-parameter-names \
	  --no-write-default-sizes build/test/witness.so >Tests/C/selene.abi

# ---- programs that use them -------------------------------------------------

USE = -Iinclude -Lbuild -Wl,-rpath,'$$ORIGIN'

## examples       the small C programs and selene-run, in build/
examples: all $(EXAMPLES) build/selene-run

build/examples/%: bindings/c/examples/%.c $(SHARED)
	@mkdir -p $(@D)
	@$(CC) $(CFLAGS) $(WARNINGS) $< -o $@ $(USE)/.. -lselene -lpthread

build/selene-run: $(RUNNER_SOURCES) $(SHARED)
	@$(CC) $(CFLAGS) $(WARNINGS) $(filter %.c,$^) -o $@ $(USE) -lselene -lpthread

# What is installed of it: with the library inside, so that it runs wherever it is put, and its manual page.
PROGRAM = build/install/selene-run
program: $(PROGRAM) $(PROGRAM).1

$(PROGRAM): $(RUNNER_SOURCES) $(ARCHIVE)
	@mkdir -p $(@D)
	@$(CC) $(CFLAGS) $(WARNINGS) -ffile-prefix-map=$(HERE) -Iinclude $(filter %.c %.a,$^) -o $@ $(STATIC_LIBS)
	@strip $@

$(PROGRAM).1: .ci/man $(PROGRAM)
	@$^ $(VERSION) >$@

BENCHMARKS := $(patsubst Benchmarks/%.c,build/bench/%,$(wildcard Benchmarks/*.c))
PEERS := $(patsubst Benchmarks/peers/%.c,build/bench/%,$(wildcard Benchmarks/peers/*.c))

benchmarks: $(BENCHMARKS) $(PEERS)
build/bench/scale: NEEDS = -lselene
build/bench/dispatch: NEEDS = -lselene -lffi
build/bench/store build/bench/open: NEEDS = -lselene $(SQLITE)
build/bench/instructions build/bench/neighbour build/bench/latency: NEEDS = -lselene -lpthread
build/bench/load: NEEDS = -ldl
build/bench/sqlite: NEEDS = $(SQLITE)
build/bench/libuv: NEEDS = -luv

$(BENCHMARKS): build/bench/%: Benchmarks/%.c $(wildcard Benchmarks/*.h) $(SHARED)
	@mkdir -p $(@D)
	@$(CC) $(CFLAGS) $(WARNINGS) $< -o $@ $(USE)/.. $(NEEDS)

# Where libuv is not installed, its program is not made, and the others say so.
$(PEERS): build/bench/%: Benchmarks/peers/%.c $(wildcard Benchmarks/*.h)
	@mkdir -p $(@D)
	@if [ $* != libuv ] || echo '#include <uv.h>' | $(CC) -E - >/dev/null 2>&1; then \
	  $(CC) $(CFLAGS) $(WARNINGS) $< -o $@ $(NEEDS); fi

# ---- install ----------------------------------------------------------------

PKGCONFIG = $(LIBDIR)/pkgconfig
CMAKE = $(LIBDIR)/cmake/Selene
# The files find the rest from where they are, so that an installed tree can be moved.
FILL = sed -e 's|@VERSION@|$(VERSION)|g' -e 's|@MAJOR@|$(MAJOR)|g' -e 's|@MINOR@|$(MINOR)|g' \
	-e 's|@STATIC_LIBS@|$(STATIC_LIBS)|g' -e 's|@CMAKE_STATIC_LIBS@|$(subst $() ,;,$(STATIC_LIBS:-l%=%))|g' \
	-e "s|@LIBDIR@|$$(realpath -ms --relative-to='$(PREFIX)' '$(LIBDIR)')|g" \
	-e "s|@INCLUDEDIR@|$$(realpath -ms --relative-to='$(PREFIX)' '$(INCLUDEDIR)')|g"

DOCUMENTS = README.md CHANGELOG.md docs/rules.md docs/governor.md docs/performance.md
UNITS = selene-run.service selene-run.timer

# What is built is installed as it is: that needs no Swift, which root often has not on its PATH. Everybody can read what
# is installed, whatever the umask.
## install        PREFIX=/usr/local LIBDIR=PREFIX/lib DESTDIR=: header, libraries, pkg-config and CMake files, selene-run
install: $(if $(wildcard $(SHARED)),,deps) libraries program
	@umask 022 && install -d '$(DESTDIR)$(INCLUDEDIR)' '$(DESTDIR)$(PKGCONFIG)' '$(DESTDIR)$(CMAKE)' \
	  '$(DESTDIR)$(BINDIR)' '$(DESTDIR)$(MANDIR)/man1' '$(DESTDIR)$(DOCDIR)' '$(DESTDIR)$(UNITDIR)'
	@install -m 644 include/selene.h '$(DESTDIR)$(INCLUDEDIR)/selene.h'
	@install -m 755 $(SHARED) '$(DESTDIR)$(LIBDIR)/'
	@objcopy --remove-section=.gnu_debuglink '$(DESTDIR)$(LIBDIR)/$(notdir $(SHARED))'
	@ln -sf $(notdir $(SHARED)) '$(DESTDIR)$(LIBDIR)/$(SONAME)'
	@ln -sf $(SONAME) '$(DESTDIR)$(LIBDIR)/libselene.so'
	@install -m 644 $(ARCHIVE) '$(DESTDIR)$(LIBDIR)/libselene.a'
	@$(FILL) -e "s|@PREFIX@|$$(realpath -ms --relative-to='$(PKGCONFIG)' '$(PREFIX)')|g" \
	  bindings/c/selene.pc.in | install -m 644 /dev/stdin '$(DESTDIR)$(PKGCONFIG)/selene.pc'
	@for file in SeleneConfig SeleneConfigVersion; do \
	  $(FILL) -e "s|@PREFIX@|$$(realpath -ms --relative-to='$(CMAKE)' '$(PREFIX)')|g" \
	    bindings/c/cmake/$$file.cmake.in | install -m 644 /dev/stdin '$(DESTDIR)$(CMAKE)/'$$file.cmake || exit; \
	done
	@install -m 755 $(PROGRAM) '$(DESTDIR)$(BINDIR)/selene-run'
	@install -m 644 $(PROGRAM).1 '$(DESTDIR)$(MANDIR)/man1/selene-run.1'
	@install -m 644 LICENSE $(DOCUMENTS) '$(DESTDIR)$(DOCDIR)/'
	@install -m 644 bindings/c/examples/README.md '$(DESTDIR)$(DOCDIR)/selene-run.md'
	@for unit in $(UNITS); do \
	  sed 's|^ExecStart=[^ ]*|ExecStart=$(BINDIR)/selene-run|' bindings/c/examples/systemd/$$unit | \
	    install -m 644 /dev/stdin '$(DESTDIR)$(UNITDIR)/'$$unit || exit; \
	done
	@echo "installed in $(DESTDIR)$(PREFIX)"

## uninstall      removes what install put there, with the same PREFIX, LIBDIR and DESTDIR
uninstall:
	@rm -f '$(DESTDIR)$(INCLUDEDIR)/selene.h' '$(DESTDIR)$(LIBDIR)/libselene.a' '$(DESTDIR)$(LIBDIR)/libselene.so' \
	  '$(DESTDIR)$(LIBDIR)/$(SONAME)' '$(DESTDIR)$(LIBDIR)/$(notdir $(SHARED))' '$(DESTDIR)$(PKGCONFIG)/selene.pc' \
	  '$(DESTDIR)$(CMAKE)/SeleneConfig.cmake' '$(DESTDIR)$(CMAKE)/SeleneConfigVersion.cmake'
	@rm -f '$(DESTDIR)$(BINDIR)/selene-run' '$(DESTDIR)$(MANDIR)/man1/selene-run.1' \
	  $(patsubst %,'$(DESTDIR)$(DOCDIR)/%',LICENSE selene-run.md $(notdir $(DOCUMENTS))) $(UNITS:%='$(DESTDIR)$(UNITDIR)/%')
	@rmdir --ignore-fail-on-non-empty '$(DESTDIR)$(CMAKE)' '$(DESTDIR)$(DOCDIR)' 2>/dev/null || true

# ---- the tree ---------------------------------------------------------------

C_FILES = $(shell find include bindings Tests Benchmarks Sources -name '*.[ch]')
SWIFT_FILES = Package.swift Sources Tests

## format         formats all Swift and C
format:
	@swift format --in-place --parallel --recursive $(SWIFT_FILES)
	@clang-format -i $(C_FILES)

## format-check   says what `make format` would change
format-check:
	@swift format lint --strict --parallel --recursive $(SWIFT_FILES); swift=$$?; \
	  clang-format --dry-run --Werror $(C_FILES) && exit $$swift

## clean          removes what was built
clean:
	@rm -rf build .build

## deps           installs what building needs (as root, with apt-get) or says what to install
deps:
	@.ci/deps build
## deps-test      the same for testing
deps-test:
	@.ci/deps test
## deps-bench     the same for measuring
deps-bench:
	@.ci/deps bench

## help           this list
help:
	@sed -n 's/^## /  make /p' Makefile

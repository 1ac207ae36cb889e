# Builds, runs, tests and installs Selene; `make help` lists what it can do.
#
# What ships is compiled and linked here, in Embedded Swift and C, so that libselene.so and libselene.a are the same object
# code, export exactly what Sources/SeleneABI/symbols.txt lists, and need nothing but libc and LIBS. SwiftPM
# (Package.swift) makes the ordinary build of the same sources, for tests and sanitizers.

# What was compiled in another folder is of no use in a checkout that was moved or copied.
ifneq ($(shell .ci/here),)
$(error .ci/here failed)
endif

PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
BINDIR ?= $(PREFIX)/bin
MANDIR ?= $(PREFIX)/share/man
DOCDIR ?= $(PREFIX)/share/doc/selene
DATADIR ?= $(PREFIX)/share/selene
UNITDIR ?= $(PREFIX)/lib/systemd/system
DESTDIR ?=
# As CMake and Meson say it, too: LIBDIR=lib/x86_64-linux-gnu is a folder of PREFIX.
$(if $(PREFIX),$(if $(filter /%,$(PREFIX)),,$(error PREFIX must begin with /: $(PREFIX))))
override LIBDIR := $(if $(filter /%,$(LIBDIR)),$(LIBDIR),$(PREFIX)/$(LIBDIR))
override INCLUDEDIR := $(if $(filter /%,$(INCLUDEDIR)),$(INCLUDEDIR),$(PREFIX)/$(INCLUDEDIR))

CFLAGS ?= -O2 -g
WARNINGS = -std=c11 -D_GNU_SOURCE -Wall -Wextra -pedantic -Werror

VERSION := $(shell sed -n 's/^\#define SELENE_VERSION_STRING "\(.*\)"/\1/p' include/selene.h)
# The number in the names of the shared libraries: it changes when what was built with an earlier one would no longer run.
ABI := 1
MAJOR := $(firstword $(subst ., ,$(VERSION)))
MINOR := $(word 2,$(subst ., ,$(VERSION)))

# What the library stands on, and what linking with the archive needs besides it.
# make SQLITE=-l:libsqlite3.a puts SQLite into the library; make GLIBC=2.17 makes libraries and selene-run that load wherever
# that version or a later one is, which need the libraries, too, in which functions of threads were then.
SQLITE = -lsqlite3
GLIBC =
LIBS = $(SQLITE) -lm
STATIC_LIBS = $(LIBS) -lpthread

SWIFT_SOURCES := $(sort $(shell find Sources -name '*.swift'))
C_SOURCES := $(sort $(wildcard Sources/CPlatform/*.c Sources/CPlatform/linux/*.c) $(filter-out %/none.c,$(wildcard Sources/CService/*.c)))
C_HEADERS := $(wildcard Sources/CPlatform/*.h Sources/CPlatform/linux/*.h Sources/CPlatform/include/*.h Sources/CService/*.h Sources/CService/include/*.h)
SYMBOLS = Sources/SeleneABI/symbols.txt
# TARGET: another machine or C library to build for, by the name with which its tools begin; everything is in build/TARGET
# then. glibc is that of Debian's cross compilers, musl that of its packages, which are unpacked into a folder of their own as
# SQLite is. Swift has no standard library of Linux for another machine, and needs none: that of bare metal is the same code,
# and CLANG_TARGET says how it is called. The modules import no C library, so musl takes what was compiled for glibc: TWIN.
TARGET =
BUILD = build$(addprefix /,$(TARGET))
TARGETS = aarch64-linux-gnu aarch64-linux-musl riscv64-linux-gnu x86_64-linux-musl
CROSS = $(addsuffix -,$(TARGET:-musl=-gnu))
ifneq ($(TARGET),)
$(if $(filter $(TARGETS),$(TARGET)),,$(error TARGET $(TARGET) is unknown, known are $(TARGETS)))
SYSROOT = $(BUILD)/sysroot
LDFLAGS = -L$(SYSROOT)/usr/lib/$(TARGET) -Wl,-rpath-link,$(SYSROOT)/usr/lib/$(TARGET)
ifneq ($(filter %-musl,$(TARGET)),)
TWIN = $(filter-out $(shell uname -m)-linux-gnu,$(TARGET:-musl=-gnu))
CC = $(SYSROOT)/cc
CLANG_TARGET = --target=$(TARGET) -nostdlibinc -isystem $(SYSROOT)/usr/include/$(TARGET) $(if $(filter aarch64-%,$(TARGET)),-mno-outline-atomics)
PROGRAM_FLAGS = -static
else
# Floating point goes in registers of its own, as in Linux on riscv64; bare metal there has none.
BARE = $(TARGET:-linux-gnu=-none-none-$(if $(filter riscv64-%,$(TARGET)),eabi,elf))
MACHINE = $(if $(filter riscv64-%,$(TARGET)),-march=rv64gc -mabi=lp64d)
CC = $(CROSS)gcc
HEADERS = -isystem /usr/$(TARGET)/include -isystem $(SYSROOT)/usr/include
SWIFT_TARGET = -target $(BARE) -Xfrontend -clang-target -Xfrontend $(subst -linux,-unknown-linux,$(TARGET)) $(addprefix -Xcc ,$(MACHINE) $(HEADERS))
CLANG_TARGET = --target=$(TARGET) $(HEADERS)
endif
endif
ifneq ($(GLIBC),)
$(if $(filter 2.17,$(GLIBC)),,$(error GLIBC $(GLIBC) is unknown, known is 2.17))
FLOOR = $(if $(filter %-musl,$(TARGET)),,$(BUILD)/compiled/glibc/floor.o)
override LIBS += $(if $(FLOOR),-Wl$(comma)--push-state$(comma)--no-as-needed -l:libpthread.so.0 $(if $(filter %.a,$(SQLITE)),-l:libdl.so.2) -Wl$(comma)--pop-state)
endif
comma = ,
# OUT: where the libraries are put; everything else stays in BUILD.
OUT = $(BUILD)
SHARED = $(OUT)/libselene.so.$(VERSION)
ARCHIVE = $(OUT)/libselene.a
SONAME = libselene.so.$(ABI)
EXAMPLES := $(patsubst bindings/c/examples/%.c,build/examples/%,$(wildcard bindings/c/examples/*.c))
RUNNER_SOURCES := $(wildcard bindings/c/examples/selene-run/*.[ch])
DAEMON_SOURCES := $(wildcard bindings/c/examples/selened/*.[ch]) \
	$(wildcard $(foreach name,arguments duration nearest printable,bindings/c/examples/selene-run/$(name).[ch]))

export SWIFT_BACKTRACE ?= enable=no
# Fails when a tool prints a warning: what the compilers treat as errors, and what linkers only say.
QUIETLY = .ci/quietly

.DEFAULT_GOAL = all
.DELETE_ON_ERROR:
.PHONY: all libraries fleet fleet-library fleet-examples install-fleet wasm node java java-library dotnet page program examples run run-c run-python test test-all test-rest test-targets check torture mutants bench bench-machine bench-fleet bench-connection runtimes install dist uninstall clean format format-check interface examples deps deps-test deps-test-all deps-wasm deps-node deps-java deps-dotnet deps-fleet deps-fleet-library deps-bench deps-dist targets benchmarks help

## all            the libraries in build/ (the default); TARGET=aarch64-linux-gnu, …-musl: for arm64, for musl, in build/TARGET
all: deps libraries program
libraries: $(SHARED) $(ARCHIVE)

## run            builds everything and runs the example workload for a few short windows; HOST=python: from Python
HOST = c
run: run-$(HOST)
run-c: all build/selene-run
	@bindings/c/examples/run.sh build/selene-run
run-python: deps-test all
	@bindings/python/run.sh

## test           the tests of each change; the last line says how many passed and failed
test: deps-test
	@.ci/test

## test-all       all tests: each runtime, browser, target and package, and valgrind; what is missing fails
test-all: deps-test-all
	@SELENE_TEST_ALL=1 .ci/test all
# What test leaves out of test-all.
test-rest: deps-test-all
	@SELENE_TEST_ALL=1 .ci/test rest

## check          the quick part of the tests, in two to three minutes once they are built; before each commit
check: deps-test
	@.ci/test "swift check" "python check" "c check" "store check" interface format

## test-targets   the tests of what is built for others: arm64 on an emulator, musl, an old glibc, WebAssembly
test-targets: deps-test-all
	@.ci/test targets wasm

## torture        kills, losses of power, faults, damage, hangs, random choices by the thousand, mutants; some hours
torture: deps-test-all all mutants
	@.ci/suites/swift long && .ci/suites/c long && .ci/suites/c valgrind long && .ci/suites/store long && .ci/suites/reproducible && .ci/suites/targets long && .ci/suites/fleet long && .ci/suites/dist && bindings/python/test.sh long

## mutants        mistakes made one at a time, which tests must notice (Tests/mutants): some minutes
mutants: deps-test
	@.ci/suites/mutants

## bench          what things cost, beside other ways, as tables and a picture: some minutes; FORM=long: half an hour;
##                FORM=fleet: a fleet beside other queues on PostgreSQL; ONLY="records latency …": these parts;
##                FORM=connection: what other processes see
FORM = short
BENCH_PYTHON = build/bench/venv/bin/python
bench: $(if $(filter fleet connection,$(FORM)),bench-$(FORM),bench-machine)
bench-machine: deps-bench all benchmarks
	@bindings/python/environment.sh build/bench/venv bench || echo "what is missing is left out"
	@PYTHONPATH=bindings/python/src PYSELENE_LIBRARY=build/libselene.so $(BENCH_PYTHON) -B Benchmarks/python/bench.py $(FORM)
bench-connection: libraries build/bench/connection build/bench/clients build/bench/pools
	@build/bench/connection
	@build/bench/clients build
	@build/bench/pools build
bench-fleet: deps-test libraries fleet-library
	@bindings/python/environment.sh build/bench/fleet bench-fleet || echo "what is missing is left out"
	@PYTHONPATH=bindings/python/src PYSELENE_LIBRARY=build/libselene.so build/bench/fleet/bin/python -B Benchmarks/python/fleet.py $(if $(ONLY),--only $(ONLY))

## runtimes       what a pulled run costs in each binding, beside C
runtimes: deps-test-all all
	@Benchmarks/runtimes.sh

## targets        what the same program costs on each target whose libraries are built: bytes and instructions
targets: deps-test-all all
	@Benchmarks/targets.sh

# ---- the libraries ----------------------------------------------------------

# For both compilers: each function in a section of its own, so that the linker drops what nothing uses; and the same bytes in
# whatever folder this is built. On x86-64 with frame pointers, but in functions that call nothing: each push and pop of a
# function without one is an entry of the tables by which exceptions go through, which take twice the bytes of the pushes then.
FRAMES = $(if $(filter x86_64%,$(or $(TARGET),$(shell uname -m))),-fno-omit-frame-pointer -momit-leaf-frame-pointer,-fomit-frame-pointer)
COMPILED = $(BUILD)/compiled
HERE = $(CURDIR)=.
FOR_C = -fPIC -g -gdwarf-4 -ffunction-sections -fdata-sections $(FRAMES) -fblocks \
	-ffile-prefix-map=$(HERE)

ifneq ($(TARGET),)
PACKAGES = $(SYSROOT)/packages
$(PACKAGES): .ci/sysroot
	@.ci/sysroot $(TARGET) $(SYSROOT)
endif

# All Swift as one module: smaller and faster than the layers one by one, which Package.swift keeps apart. Small; the
# functions that runs and registrations pass through are marked for speed. Exclusivity is checked while compiling and in
# the ordinary build. The checks of a function share a trap, and a function that takes a closure is not made anew for each
# closure that it is given.
SWIFT_MODE = -swift-version 6 -warnings-as-errors -parse-as-library -whole-module-optimization -Osize \
	-enable-experimental-feature Embedded -enforce-exclusivity=unchecked -Xfrontend -mergeable-traps -Xllvm -sil-disable-pass=closure-specialize \
	-Xfrontend -function-sections -Xfrontend -no-clang-module-breadcrumbs -Xfrontend -disable-incremental-llvm-codegen \
	-file-prefix-map $(HERE) -module-name SeleneABI -package-name selene \
	-Xcc -fmodule-map-file=include/module.modulemap -Xcc -fmodule-map-file=Sources/module.modulemap
# Swift says of each function that nothing is thrown through it, which leaves it without what an unwinder needs: what a
# host's callback throws goes through those that called it (A8).
UNWINDING = -Xllvm -force-remove-attribute=nounwind -Xcc -fexceptions
# What branches have in common stands once, and a call counts for less than by default when a function that is not marked for
# speed may take in another, which a swift_retain is most often.
SHARING = -Xllvm -simplifycfg-sink-common=true -Xllvm -sink-common-insts -Xllvm -hoist-common-insts -Xllvm -inline-call-penalty=12
SWIFT_FLAGS = $(SWIFT_MODE) $(UNWINDING) $(SHARING) -g -module-cache-path $(COMPILED)/modules $(addprefix -Xcc ,$(FOR_C))

$(COMPILED)/swift.o: $(PACKAGES) $(SWIFT_SOURCES) $(C_HEADERS) include/selene.h include/module.modulemap \
	Sources/module.modulemap Makefile
	@mkdir -p $(COMPILED)
ifneq ($(filter %-musl,$(TARGET)),)
	@$(MAKE) --no-print-directory TARGET=$(TWIN) build$(addprefix /,$(TWIN))/compiled/swift.o
	@cp build$(addprefix /,$(TWIN))/compiled/swift.o $@
else
	@echo "compiling Sources"
	@$(QUIETLY) swiftc $(SWIFT_TARGET) $(SWIFT_FLAGS) -c $(SWIFT_SOURCES) -o $@
endif

FROM_C = mkdir -p $(COMPILED) && $(QUIETLY) clang $(CLANG_TARGET) -std=gnu17 -Os -Wall -Wextra -Werror $(FOR_C) \
	-Iinclude -ISources/CPlatform -ISources/CPlatform/include -ISources/CService/include
$(COMPILED)/%.o: Sources/CPlatform/%.c $(PACKAGES) $(C_HEADERS) Makefile
	@$(FROM_C) -c $< -o $@
$(COMPILED)/%.o: Sources/CPlatform/linux/%.c $(PACKAGES) $(C_HEADERS) Makefile
	@$(FROM_C) -c $< -o $@
$(COMPILED)/glibc/%.o: Sources/CPlatform/glibc/%.c $(PACKAGES) Makefile
	@mkdir -p $(@D)
	@$(QUIETLY) clang $(CLANG_TARGET) -std=gnu17 -D_GNU_SOURCE -Os -Wall -Wextra -Werror $(FOR_C) -c $< -o $@
$(COMPILED)/%.o: Sources/CService/%.c $(PACKAGES) $(C_HEADERS) include/selene.h Makefile
	@$(FROM_C) -c $< -o $@

OBJECTS = $(COMPILED)/swift.o $(patsubst %.c,$(COMPILED)/%.o,$(notdir $(C_SOURCES)))

# One object in which everything but the exports is local, even where two hosts' libraries meet in one program. For riscv64
# GNU's linker does not leave .eh_frame whole when it drops what nothing uses from such an object: it moves each relocation of
# it by the size of its section, and another linker aborts on that. LLVM's drops .eh_frame, unless it has another name while
# that is done.
RELINK = -r --force-group-allocation --gc-sections $(addprefix -u ,$(shell cat $(SYMBOLS)) platform_memalign) \
	--defsym=posix_memalign=platform_memalign -o $@
$(BUILD)/selene.o: $(OBJECTS) $(SYMBOLS)
ifeq ($(filter riscv64-%,$(TARGET)),)
	@$(CROSS)ld $(RELINK) $(OBJECTS)
else
	@mkdir -p $(COMPILED)/named
	@for object in $(OBJECTS); do \
	  $(CROSS)objcopy --rename-section .eh_frame=.debug_unwind,readonly,debug,contents $$object $(COMPILED)/named/$$(basename $$object) || exit; \
	done
	@ld.lld $(RELINK) $(addprefix $(COMPILED)/named/,$(notdir $(OBJECTS)))
	@$(CROSS)objcopy --rename-section .debug_unwind=.eh_frame,alloc,load,readonly,data,contents $@
endif
	@$(CROSS)objcopy --keep-global-symbols=$(SYMBOLS) -R .swift1_autolink_entries -R .comment $@

$(BUILD)/selene.map: .ci/nodes include/selene.h
	@mkdir -p $(BUILD)
	@.ci/nodes map >$@

# Stripped as it is installed; what debuggers and valgrind want lies beside it.
$(SHARED): $(BUILD)/selene.o $(FLOOR) $(BUILD)/selene.map
	@mkdir -p $(OUT)
	@$(QUIETLY) $(CC) -shared -o $@ $(BUILD)/selene.o $(FLOOR) -Wl,-soname,$(SONAME) -Wl,--version-script=$(BUILD)/selene.map \
	  -Wl,-z,nodelete,-z,relro,-z,now,-z,defs,-z,noseparate-code,--gc-sections,--as-needed,--build-id $(LDFLAGS) $(LIBS)
	@$(CROSS)objcopy --only-keep-debug $@ $@.debug
	@$(CROSS)strip $@
	@cd $(OUT) && $(CROSS)objcopy --add-gnu-debuglink=$(notdir $@).debug $(notdir $@)
	@ln -sf $(notdir $@) $(OUT)/$(SONAME)
	@ln -sf $(SONAME) $(OUT)/libselene.so
	@echo "$@"

$(ARCHIVE): $(BUILD)/selene.o
	@mkdir -p $(OUT)
	@$(CROSS)strip --strip-debug -o $(BUILD)/selene-archive.o $(BUILD)/selene.o
	@rm -f $@
	@ar rcsD $@ $(BUILD)/selene-archive.o
	@echo "$@"

# ---- the fleet's library ----------------------------------------------------

# C over libpq, beside libselene, which needs no more than before; the SQL of Sources/Fleet is inside.
FLEET_SOURCES := $(sort $(wildcard Sources/CFleet/*.c))
FLEET_SHARED = $(OUT)/libselene-fleet.so.$(VERSION)
FLEET_ARCHIVE = $(OUT)/libselene-fleet.a
FLEET_SONAME = libselene-fleet.so.$(ABI)
# The same for selened, which has the engine inside: what it calls of that are the functions of the program that loads it.
FLEET_MODULE = $(OUT)/libselened-fleet.so.$(VERSION)
FLEET_MODULE_SONAME = libselened-fleet.so.$(ABI)
FLEET_OBJECTS = $(patsubst Sources/CFleet/%.c,$(COMPILED)/fleet/%.o,$(FLEET_SOURCES)) $(COMPILED)/fleet/lines.o
FLEET_COMPILE = $(QUIETLY) $(CC) $(CFLAGS) $(WARNINGS) -fPIC -ffunction-sections -fdata-sections -ffile-prefix-map=$(HERE) \
	-Iinclude -I"$$(pg_config --includedir)"

## fleet-library  libselene-fleet in build/: a fleet in PostgreSQL, from C (include/selene-fleet.h)
fleet-library: deps-fleet-library libraries $(FLEET_SHARED) $(FLEET_ARCHIVE) $(FLEET_MODULE)

$(COMPILED)/fleet/%.o: Sources/CFleet/%.c $(PACKAGES) Sources/CFleet/fleet.h include/selene-fleet.h include/selene.h Makefile
	@mkdir -p $(@D)
	@$(FLEET_COMPILE) -c $< -o $@
$(COMPILED)/fleet/lines.o: Sources/CFleet/script.awk $(wildcard Sources/Fleet/*.sql) Makefile
	@mkdir -p $(@D)
	@awk -v folder=Sources/Fleet -f $< Sources/Fleet/install.sql >$(@:.o=.c)
	@$(FLEET_COMPILE) -c $(@:.o=.c) -o $@

$(BUILD)/selene-fleet.o: $(FLEET_OBJECTS) include/selene-fleet.h .ci/nodes
	@$(CROSS)ld -r -o $@ $(FLEET_OBJECTS)
	@.ci/nodes include/selene-fleet.h | cut -d ' ' -f 1 >$(@:.o=.symbols)
	@$(CROSS)objcopy --keep-global-symbols=$(@:.o=.symbols) -R .comment $@
$(FLEET_SHARED): $(BUILD)/selene-fleet.o $(SHARED)
	@.ci/nodes map include/selene-fleet.h >$(BUILD)/selene-fleet.map
	@$(QUIETLY) $(CC) -shared -o $@ $< -Wl,-soname,$(FLEET_SONAME) -Wl,--version-script=$(BUILD)/selene-fleet.map \
	  -Wl,-z,nodelete,-z,relro,-z,now,-z,defs,--gc-sections,--as-needed,--build-id,-rpath,'$$ORIGIN' -L$(OUT) $(LDFLAGS) -lselene -lpq
	@$(CROSS)strip $@
	@ln -sf $(notdir $@) $(OUT)/$(FLEET_SONAME)
	@ln -sf $(FLEET_SONAME) $(OUT)/libselene-fleet.so
	@echo "$@"
$(FLEET_ARCHIVE): $(BUILD)/selene-fleet.o
	@rm -f $@
	@$(CROSS)strip --strip-debug -o $(BUILD)/selene-fleet-archive.o $<
	@ar rcsD $@ $(BUILD)/selene-fleet-archive.o
	@echo "$@"

$(COMPILED)/fleet/module.o: bindings/c/examples/selened/fleet/module.c $(PACKAGES) bindings/c/examples/selened/module.h \
	include/selene-fleet.h include/selene.h Makefile
	@mkdir -p $(@D)
	@$(FLEET_COMPILE) -c $< -o $@
$(FLEET_MODULE): $(COMPILED)/fleet/module.o $(BUILD)/selene-fleet.o
	@mkdir -p $(OUT)
	@echo '{ global: selened_fleet_module; local: *; };' >$(BUILD)/selened-fleet.map
	@$(QUIETLY) $(CC) -shared -o $@ $^ -Wl,-soname,$(FLEET_MODULE_SONAME) -Wl,--version-script=$(BUILD)/selened-fleet.map \
	  -Wl,-z,nodelete,-z,relro,-z,now,--gc-sections,--as-needed,--build-id $(LDFLAGS) -lpq
	@$(CROSS)strip $@
	@ln -sf $(notdir $@) $(OUT)/$(FLEET_MODULE_SONAME)
	@echo "$@"

# The examples of the fleet, which need a database (bindings/c/examples/fleet).
FLEET_EXAMPLES := $(patsubst bindings/c/examples/fleet/%.c,build/fleet/%,$(wildcard bindings/c/examples/fleet/*.c))
$(FLEET_EXAMPLES): build/fleet/%: bindings/c/examples/fleet/%.c $(FLEET_SHARED)
	@mkdir -p $(@D)
	@$(CC) $(CFLAGS) $(WARNINGS) $< -o $@ $(USE)/.. -lselene-fleet -lselene -lpthread
fleet-examples: fleet-library $(FLEET_EXAMPLES)

## fleet          a database of its own, three nodes on it, one of which is killed: what happens, in a minute
fleet: deps-fleet fleet-examples
	@bindings/c/examples/fleet/run.sh build/fleet/node

## install-fleet  the same for libselene-fleet, with the header selene-fleet.h, its pkg-config file, and selened's module
install-fleet: $(if $(wildcard $(FLEET_SHARED)),,fleet-library) $(FLEET_SHARED) $(FLEET_ARCHIVE) $(FLEET_MODULE)
	@umask 022 && install -d '$(DESTDIR)$(INCLUDEDIR)' '$(DESTDIR)$(PKGCONFIG)'
	@install -m 644 include/selene-fleet.h '$(DESTDIR)$(INCLUDEDIR)/selene-fleet.h'
	@install -m 755 $(FLEET_SHARED) '$(DESTDIR)$(LIBDIR)/'
	@ln -sf $(notdir $(FLEET_SHARED)) '$(DESTDIR)$(LIBDIR)/$(FLEET_SONAME)'
	@ln -sf $(FLEET_SONAME) '$(DESTDIR)$(LIBDIR)/libselene-fleet.so'
	@install -m 644 $(FLEET_ARCHIVE) '$(DESTDIR)$(LIBDIR)/libselene-fleet.a'
	@install -m 755 $(FLEET_MODULE) '$(DESTDIR)$(LIBDIR)/'
	@ln -sf $(notdir $(FLEET_MODULE)) '$(DESTDIR)$(LIBDIR)/$(FLEET_MODULE_SONAME)'
	@$(FILL) -e "s|@PREFIX@|$$(realpath -ms --relative-to='$(PKGCONFIG)' '$(PREFIX)')|g" \
	  bindings/c/selene-fleet.pc.in | install -m 644 /dev/stdin '$(DESTDIR)$(PKGCONFIG)/selene-fleet.pc'
	@echo "libselene-fleet installed in $(DESTDIR)$(PREFIX)"

## interface      rewrites what is derived from the header: exports, api.json, checks and tests of ranges, the bindings' raw layers, abidiff's witness
interface: deps-test
	@.ci/symbols >$(SYMBOLS)
	@python3 bindings/tools/api.py
	@python3 bindings/tools/ranges.py
	@python3 bindings/python/tools/generate.py
	@python3 bindings/wasm/tools/interface.py
	@python3 bindings/node/tools/calls.py
	@python3 bindings/rust/tools/rust.py
	@python3 bindings/go/tools/numbers.py
	@python3 bindings/java/tools/java.py
	@python3 bindings/swift/tools/numbers.py
	@python3 bindings/dotnet/tools/csharp.py
	@mkdir -p build/test
	@.ci/witness >build/test/witness.c
	@$(CC) -g -gdwarf-4 -w -shared -fPIC -Iinclude build/test/witness.c -o build/test/witness.so
	@abidw --no-corpus-path --no-comp-dir-path --no-show-locs --no-elf-needed --no-parameter-names \
	  --no-write-default-sizes build/test/witness.so >Tests/C/selene.abi

# ---- WebAssembly ------------------------------------------------------------

# The same sources for a machine with one thread and no files: Sources/CPlatform/wasm stands for the system. There are two
# modules: in selene.wasm it stands for SQLite, too, and tasks are in memory; selene-store.wasm has SQLite inside, over files
# in the module's memory, so that a host can take its tasks out and bring them back.
# Swift's toolchain has clang and wasm-ld; the C library (wasi-libc) and what clang's code calls are Debian's.
WASI = wasm32-wasi
WASI_BUILTINS = $(lastword $(sort $(wildcard /usr/lib/llvm-*/lib/clang/*/lib/wasi/libclang_rt.builtins-wasm32.a)))
WASM = build/wasm
FOR_WASM = -ISources/CService/include -isystem /usr/include/$(WASI) -I$(WASM)/include
WASM_OBJECTS = $(addprefix $(WASM)/,swift.o platform.o files.o none.o)
WASM_SYSROOT = $(WASM)/sysroot
WASM_STORE = $(WASM_SYSROOT)/usr/lib/$(WASI)/sqlite3.o
# What the package calls beside the header's functions.
WASM_EXPORTS = malloc free module_file_put module_file_get module_file_remove
WASM_FEATURES = bulk-memory mutable-globals sign-ext nontrapping-float-to-int reference-types multivalue
# What the packages for JavaScript have in common.
SKIN = scheduler.mjs structs.mjs interface.mjs scheduler.d.ts names.d.ts
WASM_PACKAGE = $(addprefix bindings/wasm/,selene.mjs store.mjs memory.mjs selene.d.ts package.json README.md $(SKIN)) LICENSE

## wasm           the engine as WebAssembly modules, with their package for JavaScript: build/wasm/package; STORE=no: one only
STORE = yes
wasm: deps-wasm $(WASM)/package/selene.wasm $(if $(filter yes,$(STORE)),$(WASM)/package/selene-store.wasm)
	@cp $(WASM_PACKAGE) $(WASM)/package/

## page           docs/play.html: a page of one file with the engine inside
page: deps-wasm $(WASM)/package/selene.wasm
	@python3 bindings/wasm/tools/page.py $(WASM)/package docs/play.html

# SQLite's header alone: the system's others are not for this target.
$(WASM)/include/sqlite3.h:
	@mkdir -p $(@D)
	@cp "$$(echo '#include <sqlite3.h>' | $(CC) -xc -M - | tr ' ' '\n' | grep '/sqlite3\.h$$')" $@

$(WASM)/swift.o: $(SWIFT_SOURCES) $(C_HEADERS) $(WASM)/include/sqlite3.h include/selene.h Makefile
	@echo "compiling Sources for WebAssembly"
	@$(QUIETLY) swiftc -target wasm32-unknown-none-wasm -Xfrontend -clang-target -Xfrontend wasm32-unknown-wasi \
	  $(SWIFT_MODE) -module-cache-path $(WASM)/modules $(addprefix -Xcc ,$(FOR_WASM)) -c $(SWIFT_SOURCES) -o $@

C_FOR_WASM = clang --target=wasm32-unknown-wasi -std=gnu17 -Os -Wall -Wextra -Wno-unused-parameter -Werror $(FOR_WASM) \
	-ISources/CPlatform/include
$(WASM)/%.o: Sources/CPlatform/wasm/%.c Sources/CPlatform/wasm/files.h $(C_HEADERS) $(WASM)/include/sqlite3.h Makefile
	@$(QUIETLY) $(C_FOR_WASM) -c $< -o $@
$(WASM)/none.o: Sources/CService/none.c $(C_HEADERS) Makefile
	@$(QUIETLY) $(C_FOR_WASM) -c $< -o $@

$(WASM_STORE): .ci/sysroot
	@.ci/sysroot $(WASI) $(WASM_SYSROOT)
	@touch $@

$(WASM)/package/selene.wasm: $(WASM_OBJECTS) $(WASM)/sqlite.o
$(WASM)/package/selene-store.wasm: $(WASM_OBJECTS) $(WASM)/vfs.o $(WASM_STORE)
$(WASM)/package/%.wasm: $(SYMBOLS)
	@mkdir -p $(@D)
	@$(QUIETLY) wasm-ld --no-entry --gc-sections -O3 --strip-all -z stack-size=262144 --export-table --growable-table \
	  $(addprefix --export=,$(shell cat $(SYMBOLS)) $(WASM_EXPORTS)) /usr/lib/$(WASI)/crt1-reactor.o $(filter %.o,$^) \
	  -L/usr/lib/$(WASI) -lc $(WASI_BUILTINS) -o $(WASM)/$*.linked
	@wasm-opt -Oz $(addprefix --enable-,$(WASM_FEATURES)) $(WASM)/$*.linked -o $@
	@echo "$@"

# The C tests' player of the vectors with the engine inside, for whatever runs WASI: tasks in memory, or in a store.
$(WASM)/vectors.wasm: Tests/C/vectors.c Tests/C/check.h include/selene.h $(WASM_OBJECTS) $(WASM)/vfs.o $(WASM_STORE)
	@$(QUIETLY) clang --target=wasm32-unknown-wasi $(WARNINGS) -O1 -D_WASI_EMULATED_GETPID $(FOR_WASM) -Iinclude \
	  -isystem $(WASM_SYSROOT)/usr/include -c $< -o $(@:.wasm=.o)
	@$(QUIETLY) wasm-ld --gc-sections -z stack-size=262144 /usr/lib/$(WASI)/crt1-command.o $(@:.wasm=.o) $(filter %.o,$^) \
	  $(dir $(WASM_STORE))cjson.o -L/usr/lib/$(WASI) -lwasi-emulated-getpid -lm -lc $(WASI_BUILTINS) -o $@

# ---- Node.js ----------------------------------------------------------------

# The addon has the engine inside. Its headers lie beside node, or where the system keeps them, and are the same for all
# machines.
NODE = $(BUILD)/node
NODE_ADDON = $(NODE)/package/selene.$(or $(TARGET),$(shell uname -m)-linux-gnu).node
NODE_HEADERS = $(firstword $(wildcard $(addsuffix /node_api.h,$(abspath $(dir $(realpath $(shell command -v node)))../include/node) \
	/usr/include/node /usr/include/nodejs/src)))
NODE_PACKAGE = $(addprefix bindings/node/,selene.mjs memory.mjs selene.d.ts package.json README.md) $(addprefix bindings/wasm/,$(SKIN)) LICENSE

## node           the engine as an addon of Node.js, with its package: build/node/package
node: deps-node $(NODE_ADDON)
	@cp $(NODE_PACKAGE) $(NODE)/package/

$(NODE_ADDON): bindings/node/addon.c bindings/node/calls.inc $(ARCHIVE) $(FLOOR)
	@mkdir -p $(@D)
	@$(QUIETLY) $(CC) $(CFLAGS) $(WARNINGS) -fPIC -fvisibility=hidden -ffile-prefix-map=$(HERE) -Iinclude \
	  $(addprefix -I,$(dir $(NODE_HEADERS))) -shared -o $@ $< $(ARCHIVE) $(FLOOR) \
	  -Wl,-z,nodelete,-z,relro,-z,now,--gc-sections,--as-needed,--exclude-libs,ALL $(LDFLAGS) $(STATIC_LIBS)
	@$(CROSS)strip $@
	@echo "$@"

# ---- Java -------------------------------------------------------------------

# A jar with the engine inside, for the machine that it is built on, and for others of which java-library has put the library
# into the same folder; its headers are those of the JDK that javac is of, and the same for all machines.
JAVA = build/java
JAVA_HOME_HERE = $(abspath $(dir $(realpath $(shell command -v javac)))..)
JAVA_NATIVE = $(JAVA)/classes/org/selene/linux-$(or $(firstword $(subst -, ,$(TARGET))),$(shell uname -m))/libselene_java.so
JAVA_SOURCES = $(sort $(wildcard bindings/java/src/main/java/*.java bindings/java/src/main/java/org/selene/*.java))

## java           the engine in a jar for Java 17 and newer: build/java/selene.jar
java: deps-java $(JAVA)/selene.jar
java-library: deps-java $(JAVA_NATIVE)

$(JAVA_NATIVE): bindings/java/native/selene_java.c bindings/java/native/calls.inc $(ARCHIVE) $(FLOOR)
	@mkdir -p $(@D)
	@$(QUIETLY) $(CC) $(CFLAGS) $(WARNINGS) -fPIC -fvisibility=hidden -ffile-prefix-map=$(HERE) -Iinclude \
	  $(addprefix -isystem $(JAVA_HOME_HERE)/include,/ /linux) -shared -o $@ $< $(ARCHIVE) $(FLOOR) \
	  -Wl,-z,nodelete,-z,relro,-z,now,--gc-sections,--as-needed,--exclude-libs,ALL $(LDFLAGS) $(STATIC_LIBS)
	@$(CROSS)strip $@

# Of one date and in one order, so that the same sources are the same bytes.
$(JAVA)/selene.jar: $(JAVA_SOURCES) $(JAVA_NATIVE) LICENSE
	@rm -f $(JAVA)/classes/*.class $(JAVA)/classes/org/selene/*.class
	@$(QUIETLY) javac --release 17 -encoding UTF-8 -Xlint:all -Xdoclint:all,-missing -Werror -d $(JAVA)/classes $(JAVA_SOURCES)
	@mkdir -p $(JAVA)/classes/META-INF && cp LICENSE $(JAVA)/classes/META-INF/LICENSE
	@printf 'Implementation-Title: Selene\nImplementation-Version: $(VERSION)\n' >$(JAVA)/manifest
	@jar --create --date=2000-01-01T00:00:00Z --file $@ --manifest $(JAVA)/manifest --module-version $(VERSION) \
	  $$(cd $(JAVA)/classes && find . -type f -printf '-C $(JAVA)/classes %P\n' | LC_ALL=C sort)
	@echo "$@"

# ---- .NET -------------------------------------------------------------------

# An assembly by Mono's compiler, which .NET Core runs, too, and the library beside it.
DOTNET = build/dotnet
CSHARP = mcs -langversion:7.2 -optimize+ -warn:4 -warnaserror
DOTNET_SOURCES := $(sort $(wildcard bindings/dotnet/src/*.cs))

## dotnet         the assembly for .NET, with the library beside it: build/dotnet/package
dotnet: deps-dotnet $(DOTNET)/package/Selene.dll

$(DOTNET)/package/Selene.dll: $(DOTNET_SOURCES) bindings/dotnet/README.md LICENSE $(SHARED)
	@mkdir -p $(@D)
	@printf '[assembly: System.Reflection.AssemblyVersion("$(VERSION).0")]\n' >$(DOTNET)/Version.cs
	@$(QUIETLY) $(CSHARP) -unsafe -target:library -out:$@ -doc:$(@D)/Selene.xml $(DOTNET_SOURCES) $(DOTNET)/Version.cs
	@cp $(SHARED) $(@D)/$(SONAME)
	@cp bindings/dotnet/README.md LICENSE $(@D)/
	@echo "$@"

# ---- programs that use them -------------------------------------------------

USE = -Iinclude -Lbuild -Wl,-rpath,'$$ORIGIN'

## examples       the small C programs, selene-run and selened, in build/
examples: all $(EXAMPLES) build/selene-run build/selened

build/examples/%: bindings/c/examples/%.c $(SHARED)
	@mkdir -p $(@D)
	@$(CC) $(CFLAGS) $(WARNINGS) $< -o $@ $(USE)/.. -lselene -lpthread

build/selene-run: $(RUNNER_SOURCES) $(SHARED)
	@$(CC) $(CFLAGS) $(WARNINGS) $(filter %.c,$^) -o $@ $(USE) -lselene -lpthread

build/selened: $(DAEMON_SOURCES) $(SHARED)
	@$(CC) $(CFLAGS) $(WARNINGS) $(filter %.c,$^) -o $@ $(USE) -lselene -lpthread

# What is installed of them: with the library inside, so that they run wherever they are put, and their manual pages.
PROGRAM = $(BUILD)/install/selene-run
DAEMON = $(dir $(PROGRAM))selened
# The manual pages are written by the programs themselves.
program: $(PROGRAM) $(PROGRAM).1 $(DAEMON) $(DAEMON).8

$(PROGRAM): $(RUNNER_SOURCES)
$(DAEMON): $(DAEMON_SOURCES)
# A module has the functions of the engine from here, and lies where the libraries do, which need not be where the system looks.
$(DAEMON): PROGRAM_LINKS = -Wl,--export-dynamic-symbol='selene_*' -Wl,-rpath,'$$ORIGIN/../lib'
$(PROGRAM) $(DAEMON): $(ARCHIVE) $(FLOOR) $(FLOOR:floor.o=start.o)
	@mkdir -p $(@D)
	@$(QUIETLY) $(CC) $(CFLAGS) $(WARNINGS) -ffile-prefix-map=$(HERE) -Iinclude $(filter %.c %.o,$^) $(ARCHIVE) -o $@ \
	  $(PROGRAM_FLAGS) $(PROGRAM_LINKS) $(LDFLAGS) $(STATIC_LIBS)
	@$(CROSS)strip $@

ifeq ($(TARGET),)
$(PROGRAM).1: .ci/man $(PROGRAM)
	@$^ 1 $(VERSION) >$@
$(DAEMON).8: .ci/man $(DAEMON)
	@$^ 8 $(VERSION) >$@
else
$(PROGRAM).1: .ci/man $(PROGRAM)
$(DAEMON).8: .ci/man $(DAEMON)
$(PROGRAM).1 $(DAEMON).8:
	@$(MAKE) --no-print-directory TARGET= OUT=build build/install/$(@F)
	@cp build/install/$(@F) $@
endif

BENCHMARKS := $(patsubst Benchmarks/%.c,build/bench/%,$(wildcard Benchmarks/*.c))
PEERS := $(patsubst Benchmarks/peers/%.c,build/bench/%,$(wildcard Benchmarks/peers/*.c))

benchmarks: $(BENCHMARKS) $(PEERS)
build/bench/scale build/bench/groups build/bench/conditions build/bench/graphs build/bench/waits: NEEDS = -lselene
build/bench/dispatch: NEEDS = -lselene -lffi
build/bench/store build/bench/open build/bench/clients build/bench/pools: NEEDS = -lselene $(SQLITE)
build/bench/instructions build/bench/neighbour build/bench/latency build/bench/connection: NEEDS = -lselene -lpthread
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
FILL = sed -e 's|@VERSION@|$(VERSION)|g' -e 's|@MAJOR@|$(MAJOR)|g' -e 's|@ABI@|$(ABI)|g' -e 's|@MINOR@|$(MINOR)|g' \
	-e 's|@STATIC_LIBS@|$(STATIC_LIBS)|g' -e 's|@CMAKE_STATIC_LIBS@|$(subst $() ,;,$(STATIC_LIBS:-l%=%))|g' \
	-e "s|@LIBDIR@|$$(realpath -ms --relative-to='$(PREFIX)' '$(LIBDIR)')|g" \
	-e "s|@INCLUDEDIR@|$$(realpath -ms --relative-to='$(PREFIX)' '$(INCLUDEDIR)')|g"

DOCUMENTS = README.md CHANGELOG.md docs/rules.md docs/governor.md docs/performance.md docs/embedding.md docs/protocol.md \
	docs/fleet.md docs/freshness.md docs/from.md
UNITS = selene-run.service selene-run.timer selened@.service selened@.socket selened-fleet@.service selened-fleet@.socket

# What is built is installed as it is: that needs no Swift, which root often has not on its PATH. Everybody can read what
# is installed, whatever the umask.
## install        PREFIX=/usr/local LIBDIR=PREFIX/lib DESTDIR=: header, libraries, pkg-config and CMake files, selene-run, selened
install: $(if $(wildcard $(SHARED)),,deps) libraries program
	@umask 022 && install -d '$(DESTDIR)$(INCLUDEDIR)' '$(DESTDIR)$(PKGCONFIG)' '$(DESTDIR)$(CMAKE)' \
	  '$(DESTDIR)$(BINDIR)' '$(DESTDIR)$(MANDIR)/man1' '$(DESTDIR)$(MANDIR)/man8' '$(DESTDIR)$(DOCDIR)' '$(DESTDIR)$(DATADIR)' '$(DESTDIR)$(UNITDIR)'
	@install -m 644 include/selene.h '$(DESTDIR)$(INCLUDEDIR)/selene.h'
	@install -m 644 bindings/cpp/include/selene.hpp '$(DESTDIR)$(INCLUDEDIR)/selene.hpp'
	@install -m 644 include/api.json '$(DESTDIR)$(DATADIR)/api.json'
	@install -m 755 $(SHARED) '$(DESTDIR)$(LIBDIR)/'
	@$(CROSS)objcopy --remove-section=.gnu_debuglink '$(DESTDIR)$(LIBDIR)/$(notdir $(SHARED))'
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
	@install -m 755 $(DAEMON) '$(DESTDIR)$(BINDIR)/selened'
	@install -m 644 $(DAEMON).8 '$(DESTDIR)$(MANDIR)/man8/selened.8'
	@install -m 644 LICENSE $(DOCUMENTS) '$(DESTDIR)$(DOCDIR)/'
	@install -m 644 bindings/c/examples/README.md '$(DESTDIR)$(DOCDIR)/selene-run.md'
	@for unit in $(UNITS); do \
	  sed 's|^ExecStart=[^ ]*/|ExecStart=$(BINDIR)/|' bindings/c/examples/systemd/$$unit | \
	    install -m 644 /dev/stdin '$(DESTDIR)$(UNITDIR)/'$$unit || exit; \
	done
	@echo "installed in $(DESTDIR)$(PREFIX)"

## deps-dist      what dist needs: tools, and the packages of its targets; then it needs no network
DIST_TARGETS = $(filter-out $(shell uname -m)-linux-gnu,$(or $(DIST),$(filter-out riscv64-%,$(TARGETS))))
deps-dist: deps deps-wasm deps-node deps-java
	@.ci/deps dist
	@.ci/sysroot $(WASI) $(WASM_SYSROOT)
	@for target in $(DIST_TARGETS); do .ci/deps build $$target && .ci/sysroot $$target build/$$target/sysroot || exit; done
	@[ -x build/python/venv/bin/python ] || bindings/python/environment.sh build/python/venv test

## dist           what is released, in build/dist: sources, binaries, packages, wheels, a jar, sums; DIST=TARGET…: for these
dist: deps-dist
	@.ci/dist $(DIST)

## uninstall      removes what install put there, with the same PREFIX, LIBDIR and DESTDIR
uninstall:
	@rm -f '$(DESTDIR)$(INCLUDEDIR)/selene.h' '$(DESTDIR)$(INCLUDEDIR)/selene.hpp' '$(DESTDIR)$(DATADIR)/api.json' '$(DESTDIR)$(LIBDIR)/libselene.a' '$(DESTDIR)$(LIBDIR)/libselene.so' \
	  '$(DESTDIR)$(LIBDIR)/$(SONAME)' '$(DESTDIR)$(LIBDIR)/$(notdir $(SHARED))' '$(DESTDIR)$(PKGCONFIG)/selene.pc' \
	  '$(DESTDIR)$(INCLUDEDIR)/selene-fleet.h' '$(DESTDIR)$(PKGCONFIG)/selene-fleet.pc' \
	  $(addprefix '$(DESTDIR)$(LIBDIR)'/,$(notdir $(FLEET_SHARED) $(FLEET_ARCHIVE) $(FLEET_MODULE)) $(FLEET_SONAME) $(FLEET_MODULE_SONAME) libselene-fleet.so) \
	  '$(DESTDIR)$(CMAKE)/SeleneConfig.cmake' '$(DESTDIR)$(CMAKE)/SeleneConfigVersion.cmake'
	@rm -f '$(DESTDIR)$(BINDIR)/selene-run' '$(DESTDIR)$(MANDIR)/man1/selene-run.1' \
	  '$(DESTDIR)$(BINDIR)/selened' '$(DESTDIR)$(MANDIR)/man8/selened.8' \
	  $(patsubst %,'$(DESTDIR)$(DOCDIR)/%',LICENSE selene-run.md $(notdir $(DOCUMENTS))) $(UNITS:%='$(DESTDIR)$(UNITDIR)/%')
	@rmdir --ignore-fail-on-non-empty '$(DESTDIR)$(CMAKE)' '$(DESTDIR)$(DOCDIR)' '$(DESTDIR)$(DATADIR)' 2>/dev/null || true

# ---- the tree ---------------------------------------------------------------

C_FILES = $(shell find include bindings Tests Benchmarks Sources -name '*.[ch]' -o -name '*.[ch]pp')
SWIFT_FILES = Package.swift Sources Tests bindings/swift

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
	@.ci/deps build $(TARGET)
## deps-test      the same for testing, deps-test-all for all tests
deps-test:
	@.ci/deps test
deps-test-all:
	@.ci/deps test-all
deps-wasm:
	@.ci/deps wasm
deps-node:
	@.ci/deps node
deps-java:
	@.ci/deps java
deps-dotnet:
	@.ci/deps dotnet
deps-fleet:
	@.ci/deps fleet
deps-fleet-library:
	@.ci/deps fleet-library
## deps-bench     the same for measuring
deps-bench:
	@.ci/deps bench

## help           this list
help:
	@sed -n 's/^## /  make /p' Makefile

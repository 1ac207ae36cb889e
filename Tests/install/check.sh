#!/bin/bash
# Installs into an empty folder and uses what is there from outside the tree: the files are exactly those that should
# be, a program compiles, links and runs with gcc and clang, shared and static, by pkg-config and by CMake, also after
# the installed tree was moved, and uninstall leaves nothing. Root installs it without Swift, whatever its umask.
set -u
cd "$(dirname "$0")/../.." || exit 1
tree=$PWD
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
version=$(sed -n 's/^#define SELENE_VERSION_STRING "\(.*\)"/\1/p' include/selene.h)
soname=libselene.so.1
failed=0

# check NAME COMMAND...: one test; what it printed is shown if it fails.
check() {
  local name=$1
  shift
  if "$@" >"$work/log" 2>&1; then
    echo "ok $name"
  else
    echo "FAILED $name"
    cat "$work/log"
    failed=1
  fi
}

# prints_version PROGRAM SHARED|STATIC: it runs, and needs libselene.so exactly if it is the shared one.
prints_version() {
  local needed
  [ "$("$1")" = "$version 1 1" ] || { echo "printed: $("$1" 2>&1), expected: $version 1 1"; return 1; }
  needed=$(readelf -d "$1" | grep -c "NEEDED.*$soname")
  case $2 in shared) [ "$needed" = 1 ] ;; static) [ "$needed" = 0 ] ;; esac || { readelf -d "$1"; return 1; }
}

by_pkg_config() { # COMPILER KIND
  local flags
  case $2 in
    shared) flags=$(pkg-config --cflags --libs selene) || return ;;
    static) flags="$(pkg-config --cflags selene) $(pkg-config --variable=archive selene)" || return ;;
  esac
  (cd "$work/outside" && $1 -Wall -Wextra -Werror host.c -o "pc-$1-$2" $flags) || return
  LD_LIBRARY_PATH=$(pkg-config --variable=libdir selene) prints_version "$work/outside/pc-$1-$2" "$2"
}

by_cmake() { # COMPILER PREFIX
  local folder=$work/outside/cmake-$1
  rm -rf "$folder"
  cmake -S "$work/outside" -B "$folder" -DCMAKE_C_COMPILER="$1" -DCMAKE_PREFIX_PATH="$2" -Werror=dev &&
    cmake --build "$folder" && prints_version "$folder/shared" shared && prints_version "$folder/static" static
}

wrong_version_is_refused() {
  sed 's/find_package(Selene 0.2/find_package(Selene 0.3/' Tests/install/CMakeLists.txt >"$work/wrong/CMakeLists.txt"
  ! cmake -S "$work/wrong" -B "$work/wrong/build" -DCMAKE_PREFIX_PATH="$1"
}

pkg_config_agrees() {
  [ "$(pkg-config --modversion selene)" = "$version" ] && pkg-config --exists --print-errors 'selene >= 0.2'
}

# The lines that README.md shows, as they stand there.
readme_pkg_config() {
  number=$(grep '^```sh$' -A 1 README.md | grep -v -e '^--' -e '^```' | grep -n pkg-config | cut -d : -f 1)
  (cd "$work/outside" && eval "set -e; $("$tree/.ci/extract" "$tree/README.md" sh "$number")") || return
  LD_LIBRARY_PATH=$(pkg-config --variable=libdir selene) prints_version "$work/outside/host" shared &&
    prints_version "$work/outside/host-static" static
}

readme_cmake() { # PREFIX
  mkdir -p "$work/readme"
  cp Tests/install/host.c "$work/readme/"
  { printf 'cmake_minimum_required(VERSION 3.13)\nproject(readme C)\nadd_executable(host host.c)\n'
    .ci/extract README.md cmake 1; } >"$work/readme/CMakeLists.txt"
  cmake -S "$work/readme" -B "$work/readme/build" -DCMAKE_PREFIX_PATH="$1" && cmake --build "$work/readme/build" &&
    prints_version "$work/readme/build/host" shared
}

# Those that build it with the project, here from this tree and with what is built in it.
readme_fetch_content() {
  mkdir -p "$work/fetch"
  cp Tests/install/host.c "$work/fetch/"
  { printf 'cmake_minimum_required(VERSION 3.14)\nproject(readme C)\nadd_executable(host host.c)\n'
    .ci/extract README.md cmake 2
    printf 'add_executable(static host.c)\ntarget_link_libraries(static PRIVATE Selene::selene_static)\n'
  } >"$work/fetch/CMakeLists.txt"
  cmake -S "$work/fetch" -B "$work/fetch/build" -DFETCHCONTENT_SOURCE_DIR_SELENE="$tree" -DSELENE_BUILD="$tree/build" &&
    cmake --build "$work/fetch/build" &&
    prints_version "$work/fetch/build/host" shared && prints_version "$work/fetch/build/static" static
}

readme_meson() {
  mkdir -p "$work/meson/subprojects"
  ln -s "$tree" "$work/meson/subprojects/selene"
  cp Tests/install/host.c "$work/meson/"
  { printf "project('readme', 'c')\n"
    .ci/extract README.md meson 1
    printf "executable('static', 'host.c', dependencies: subproject('selene').get_variable('selene_static_dep'))\n"
  } >"$work/meson/meson.build"
  env -u PKG_CONFIG_PATH meson setup --fatal-meson-warnings -Dselene:selene_build="$tree/build" \
    --force-fallback-for=selene "$work/meson/build" "$work/meson" && ninja -C "$work/meson/build" &&
    prints_version "$work/meson/build/host" shared && prints_version "$work/meson/build/static" static
}

# The lines that the README of the C++ binding shows, with the program of its first example.
cpp_by_cmake() { # PREFIX
  mkdir -p "$work/cpp"
  .ci/extract bindings/cpp/README.md cpp 1 >"$work/cpp/host.cpp"
  { printf 'cmake_minimum_required(VERSION 3.13)\nproject(readme CXX)\nadd_executable(host host.cpp)\n'
    .ci/extract bindings/cpp/README.md cmake 1; } >"$work/cpp/CMakeLists.txt"
  cmake -S "$work/cpp" -B "$work/cpp/build" -DCMAKE_PREFIX_PATH="$1" && cmake --build "$work/cpp/build" &&
    "$work/cpp/build/host" | diff - <(.ci/extract bindings/cpp/README.md text 1)
}

# Without SELENE_LIB_DIR the build script asks pkg-config.
cargo_by_pkg_config() {
  mkdir -p "$work/cargo/src"
  printf '[package]\nname = "program"\nversion = "1.0.0"\nedition = "2021"\n[dependencies]\nselene = { path = "%s" }\n' \
    "$tree/bindings/rust" >"$work/cargo/Cargo.toml"
  cp bindings/rust/examples/archive.rs "$work/cargo/src/main.rs"
  (cd "$work/cargo" && env -u SELENE_LIB_DIR CARGO_TARGET_DIR="$work/cargo/target" cargo build --quiet --offline) &&
    LD_LIBRARY_PATH=$(pkg-config --variable=libdir selene) "$work/cargo/target/debug/program" "$work/cargo.db"
}

# The manifest that bindings/swift/README.md shows, with its first program.
swift_by_pkg_config() {
  mkdir -p "$work/app/Sources/app"
  ln -s "$tree" "$work/app/selene"
  .ci/extract bindings/swift/README.md swift 2 >"$work/app/Package.swift"
  .ci/extract bindings/swift/README.md swift 1 >"$work/app/Sources/app/main.swift"
  (cd "$work/app" && swift build --quiet --manifest-cache local) &&
    LD_LIBRARY_PATH=$(pkg-config --variable=libdir selene) "$work/app/.build/debug/app" |
    diff - <(.ci/extract bindings/swift/README.md text 1)
}

only_what_belongs_there() { # FOLDER
  diff <(cd "$1" && find . -not -type d | LC_ALL=C sort) - <<EOF
./bin/selene-run
./bin/selened
./include/selene.h
./include/selene.hpp
./lib/cmake/Selene/SeleneConfig.cmake
./lib/cmake/Selene/SeleneConfigVersion.cmake
./lib/libselene.a
./lib/libselene.so
./lib/libselene.so.$version
./lib/$soname
./lib/pkgconfig/selene.pc
./lib/systemd/system/selene-run.service
./lib/systemd/system/selene-run.timer
./lib/systemd/system/selened-fleet@.service
./lib/systemd/system/selened-fleet@.socket
./lib/systemd/system/selened@.service
./lib/systemd/system/selened@.socket
./share/doc/selene/CHANGELOG.md
./share/doc/selene/LICENSE
./share/doc/selene/README.md
./share/doc/selene/embedding.md
./share/doc/selene/fleet.md
./share/doc/selene/freshness.md
./share/doc/selene/from.md
./share/doc/selene/governor.md
./share/doc/selene/performance.md
./share/doc/selene/protocol.md
./share/doc/selene/rules.md
./share/doc/selene/selene-run.md
./share/man/man1/selene-run.1
./share/man/man8/selened.8
./share/selene/api.json
EOF
}

links_are_right() {
  [ "$(readlink "$1/lib/libselene.so")" = "$soname" ] &&
    [ "$(readlink "$1/lib/$soname")" = "libselene.so.$version" ] &&
    readelf -d "$1/lib/libselene.so" | grep -q "SONAME.*\[$soname\]"
}

# No path of the machine that built it, and nothing to be read by a debugger only.
no_traces() {
  ! grep -rlF -e "$tree" -e "$work" "$1" && ! readelf -SW "$1/lib/libselene.so" | grep -E '\.debug_|\.symtab'
}

# It needs no library of ours, says its version, and its manual page has every option of its help.
program_works() { # PREFIX
  local name unit manual option
  while read -r name unit manual; do
    [ "$(env -i "$1/bin/$name" --version)" = "$name $version" ] || { "$1/bin/$name" --version; return 1; }
    readelf -d "$1/bin/$name" | { ! grep libselene; } || return
    grep -q "^ExecStart=/opt/selene/bin/$name " "$1/lib/systemd/system/$unit" || return
    for option in $("$1/bin/$name" --help | grep -o '^  --[a-z-]*' | sed 's/-/\\-/g'); do
      grep -qF -e "$option" "$1/share/man/$manual" || { echo "$manual has no $option"; return 1; }
    done
  done <<EOF
selene-run selene-run.service man1/selene-run.1
selened selened@.service man8/selened.8
selened selened-fleet@.service man8/selened.8
EOF
}

nothing_outside() { # FOLDER: libraries are below lib/x86_64-linux-gnu/
  [ "$(cd "$1/.." && find . -mindepth 1 -maxdepth 1)" = ./usr ] &&
    [ -z "$(cd "$1" && find . -not -type d -path './lib/*' -not -path './lib/systemd/*' \
      -not -path './lib/x86_64-linux-gnu/*')" ] &&
    [ -n "$(cd "$1" && find lib/x86_64-linux-gnu -name 'libselene.so*')" ]
}

refused() { ! "$@"; }

# The folder itself is this test's.
readable() {
  local closed
  closed=$(find "$1" -mindepth 1 \( -type f -not -perm -444 -o -type d -not -perm -555 \)) && [ -z "$closed" ] ||
    { echo "$closed"; return 1; }
  find "$1" -type f -perm /022 | { ! grep .; }
}

nothing_left() { [ -z "$(find "$1" -not -type d)" ]; }

mkdir -p "$work/outside" "$work/wrong" "$work/moved"
cp Tests/install/host.c Tests/install/CMakeLists.txt "$work/outside/"
cp Tests/install/host.c "$work/wrong/"

check "make install with DESTDIR and PREFIX" make --no-print-directory install DESTDIR="$work/root" PREFIX=/opt/selene
staged=$work/root/opt/selene
check "installs these files and nothing else" only_what_belongs_there "$staged"
check "the links follow the SONAME" links_are_right "$staged"
check "nothing installed names the build machine" no_traces "$staged"
check "selene-run and selened, their manuals and units" program_works "$staged"
check "make install again" make --no-print-directory install DESTDIR="$work/root" PREFIX=/opt/selene

for place in staged moved; do
  [ $place = staged ] || mv "$staged" "$work/moved/elsewhere"
  prefix=$([ $place = staged ] && echo "$staged" || echo "$work/moved/elsewhere")
  export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
  check "$place: pkg-config knows the version" pkg_config_agrees
  for compiler in gcc clang; do
    for kind in shared static; do
      check "$place: $compiler, $kind, pkg-config" by_pkg_config $compiler $kind
    done
    check "$place: $compiler, shared and static, CMake" by_cmake $compiler "$prefix"
  done
done
check "what README.md says of pkg-config" readme_pkg_config
check "what README.md says of CMake" readme_cmake "$work/moved/elsewhere"
check "what bindings/cpp/README.md says of CMake" cpp_by_cmake "$work/moved/elsewhere"
check "cargo finds it by pkg-config" cargo_by_pkg_config
check "what bindings/swift/README.md says of SwiftPM" swift_by_pkg_config
check "what README.md says of FetchContent" readme_fetch_content
check "what README.md says of Meson" readme_meson
check "CMake refuses another minor version" wrong_version_is_refused "$work/moved/elsewhere"

lib64=(DESTDIR="$work/lib64" PREFIX=/usr LIBDIR=/usr/lib/x86_64-linux-gnu)
check "make install with LIBDIR" make --no-print-directory install "${lib64[@]}"
export PKG_CONFIG_PATH=$work/lib64/usr/lib/x86_64-linux-gnu/pkgconfig
check "LIBDIR: gcc, shared, pkg-config" by_pkg_config gcc shared
check "LIBDIR: gcc, CMake" by_cmake gcc "$work/lib64/usr"
check "LIBDIR: nothing outside of it" nothing_outside "$work/lib64/usr"
check "make uninstall" make --no-print-directory uninstall "${lib64[@]}"
check "uninstall leaves no file" nothing_left "$work/lib64"

# As CMake and Meson say it.
relative=(DESTDIR="$work/relative" PREFIX=/usr LIBDIR=lib/x86_64-linux-gnu INCLUDEDIR=include)
check "make install with a LIBDIR inside PREFIX" make --no-print-directory install "${relative[@]}"
export PKG_CONFIG_PATH=$work/relative/usr/lib/x86_64-linux-gnu/pkgconfig
check "LIBDIR inside PREFIX: gcc, shared, pkg-config" by_pkg_config gcc shared
check "LIBDIR inside PREFIX: nothing outside of it" nothing_outside "$work/relative/usr"
check "LIBDIR inside PREFIX: uninstall" make --no-print-directory uninstall "${relative[@]}"
check "LIBDIR inside PREFIX: uninstall leaves no file" nothing_left "$work/relative"
check "a PREFIX that is no folder of the root is refused" refused make --no-print-directory install PREFIX=here

# As root installs what somebody else has built: sudo's PATH, no Swift, nothing in the environment, a closed umask.
mkdir "$work/tools"
for tool in swift swiftc clang; do printf '#!/bin/sh\nexit 127\n' >"$work/tools/$tool" && chmod +x "$work/tools/$tool"; done
as_root() { (umask 077 && env -i PATH="$work/tools:/usr/sbin:/usr/bin:/sbin:/bin" "$@"); }
check "make install without Swift" as_root make --no-print-directory install DESTDIR="$work/closed" PREFIX=/opt/selene
check "without Swift: the same files" only_what_belongs_there "$work/closed/opt/selene"
check "a closed umask: everybody can read them" readable "$work/closed"
export PKG_CONFIG_PATH=$work/closed/opt/selene/lib/pkgconfig
check "without Swift: gcc, shared, pkg-config" by_pkg_config gcc shared
exit $failed

#!/bin/bash
# What the libraries export: the functions of the header, which are the list of symbols, and nothing else; the shared one
# needs libc, libm and sqlite3 alone, stays loaded, and has no data that a host could write.
#
# Usage: exports.sh [HEADER SYMBOLS LIBRARY…], by default those of the tree, as make builds them.
set -u
export LC_ALL=C
root=$(cd "$(dirname "$0")/../.." && pwd)
header=${1:-$root/include/selene.h}
symbols=${2:-$root/Sources/SeleneABI/symbols.txt}
if [ $# -gt 2 ]; then libraries=("${@:3}"); else libraries=("$root/build/libselene.so" "$root/build/libselene.a"); fi
. "$root/Tests/C/results.bash"

# same NAME EXPECTED FOUND: two files of sorted lines are equal.
same() {
  diff --label "$2" --label "$3" -U0 "$work/$2" "$work/$3" | grep -v '^@@' >"$work/log" 2>&1
  [ -s "$work/$2" ] && [ ! -s "$work/log" ]
  result "$1" $?
}

# nothing NAME: what was written into the log is what is wrong.
nothing() {
  [ ! -s "$work/log" ]
  result "$1" $?
}

# The compiler's own view of the header: every function declared in it, not in what it includes. Each must have default
# visibility, and none may be inline or variadic.
clang -x c -std=c11 -fsyntax-only -Xclang -ast-dump=json "$header" >"$work/tree.json" 2>"$work/log"
python3 - "$work/tree.json" "$work/header" >"$work/log" 2>&1 <<'PYTHON'
import json
import sys

tree = json.load(open(sys.argv[1]))
names = set()
for node in tree["inner"]:
    if node["kind"] not in ("FunctionDecl", "VarDecl") or not node.get("name", "").startswith("selene_"):
        continue
    name = node["name"]
    if node["kind"] == "VarDecl":
        print(f"{name}: data")
        continue
    names.add(name)
    if node.get("inline") or node.get("variadic") or node.get("storageClass") == "static":
        print(f"{name}: inline, variadic or static")
    if not any(inner["kind"] == "VisibilityAttr" for inner in node.get("inner", [])):
        print(f"{name}: not marked SELENE_API")
with open(sys.argv[2], "w") as file:
    file.writelines(name + "\n" for name in sorted(names))
PYTHON
[ -s "$work/header" ] && [ ! -s "$work/log" ]
result "8.7 the header declares plain functions, each marked for export, and no data" $?

cp "$symbols" "$work/symbols.txt"
sort -u "$symbols" | diff - "$symbols" >"$work/log" 2>&1
nothing "8.8 the list of symbols is sorted, each once"
same "8.8 the list of symbols is what the header declares" header symbols.txt

version=$(sed -n 's/^#define SELENE_VERSION_STRING "\(.*\)"/\1/p' "$header")
soname=libselene.so.1
"$root/.ci/nodes" "$(realpath "$header")" >"$work/nodes" 2>"$work/log"
nothing "X3 each function of the header says since which version it is there"
cut -d ' ' -f 2 "$work/nodes" | sort -u -V >"$work/names"
[ "$(printf '%s\n' "$(tail -n 1 "$work/names")" "SELENE_$version" | sort -V | tail -n 1)" = "SELENE_$version" ]
result "X3 no function is from a version that is still to come" $?

# What each earlier release exported, and in which node: "selene_x SELENE_0.1", from its library's own table.
shopt -s nullglob
releases=("$root"/Tests/C/releases/*.symbols)
shopt -u nullglob
for list in "${releases[@]}"; do
  release=$(basename "$list" .symbols)
  [ "$release" = "$version" ] && continue
  node=SELENE_${release%.*}
  grep " $node\$" "$work/nodes" | LC_ALL=C comm -23 - "$list" >"$work/log"
  nothing "X3 what the header says is there since ${release%.*} was in $release"
done

# starts LIST LIBRARY: a program that uses every function of an earlier release, and was linked when only those were
# there, is loaded with this library, all its functions found.
starts() {
  local folder=$work/old name
  mkdir -p "$folder"
  { cut -d ' ' -f 2 "$1" | sort -u -V | while read -r node; do
    echo "$node { global:$(sed -n "s/ $node\$/;/p" "$1" | tr '\n' ' ')};"
  done; } >"$folder/map"
  sed 's/ .*/(void) { __builtin_trap(); }/; s/^/void /' "$1" >"$folder/stub.c"
  { cut -d ' ' -f 1 "$1" | sed 's/.*/void &(void);/'
    echo 'void (*volatile functions[])(void) = {'
    cut -d ' ' -f 1 "$1" | sed 's/$/,/'
    echo '}; int main(void) { return functions[0] == 0; }'; } >"$folder/program.c"
  gcc -shared -fPIC -o "$folder/$soname" -Wl,-soname,"$soname" -Wl,--version-script="$folder/map" \
    "$folder/stub.c" && gcc -o "$folder/program" "$folder/program.c" "$folder/$soname" &&
    readelf -V "$folder/program" | grep -q 'Name: SELENE_' || return
  mkdir -p "$folder/now" && ln -sf "$(realpath "$2")" "$folder/now/$soname"
  LD_BIND_NOW=1 LD_LIBRARY_PATH=$folder/now "$folder/program"
}

# The flags and needs of a shared library.
check_shared() {
  local library=$1
  nm -D --defined-only "$library" >"$work/dynamic"
  awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' "$work/dynamic" | sort >"$work/exports"
  same "8.8 $2 exports the list of symbols" symbols.txt exports
  awk '$2 != "A" { sub(/@+/, " ", $3); print $3 }' "$work/dynamic" | sort >"$work/found"
  same "8.8 $2 has each symbol in the node of its version" nodes found
  awk '$2 == "A" { print $3 }' "$work/dynamic" | grep -v -x -F -f "$work/names" >"$work/log"
  nothing "8.8 $2 has no other nodes"
  local list
  for list in "${releases[@]}"; do
    LC_ALL=C comm -23 "$list" "$work/found" >"$work/log"
    nothing "X3 $2 has every symbol of $(basename "$list" .symbols), in its node"
    starts "$list" "$library" >"$work/log" 2>&1
    result "X3 a program linked with $(basename "$list" .symbols) starts with $2" $?
  done
  awk '$2 != "T" && $2 != "A" { print $2, $3 }' "$work/dynamic" >"$work/log"
  nothing "8.7 $2 exports functions only, no data"

  readelf -dW "$library" >"$work/dynamics"
  sed -n 's/.*(SONAME).*\[\(.*\)\]/\1/p' "$work/dynamics" | grep -v -x "$soname" >"$work/log"
  grep -q '(SONAME)' "$work/dynamics" || echo "no SONAME" >>"$work/log"
  nothing "8.8 $2 is called $soname"
  sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' "$work/dynamics" |
    grep -v -x -e 'libc\.so\.6' -e 'libm\.so\.6' -e 'libsqlite3\.so\.0' -e 'ld-linux.*' >"$work/log"
  nothing "8.8 $2 needs libc, libm and sqlite3 at most"
  grep -E '\((RPATH|RUNPATH|TEXTREL)\)' "$work/dynamics" >"$work/log"
  nothing "8.8 $2 has no search path of its own and no relocated code"
  { grep -q 'FLAGS_1).*NODELETE' "$work/dynamics" || cat "$work/dynamics"; } >"$work/log"
  nothing "P5 $2 stays loaded (NODELETE)"
  { grep -q -e 'FLAGS_1).*NOW' -e 'BIND_NOW' "$work/dynamics" || cat "$work/dynamics"; } >"$work/log"
  nothing "8.8 $2 is bound when it is loaded, so that its tables can be made read-only"
  readelf -lW "$library" | awk '$1 == "GNU_STACK" && $0 ~ /RWE/ { print }
    $1 == "LOAD" && $0 ~ / RWE / { print }' >"$work/log"
  nothing "8.8 $2 has nothing that is both writable and executable"
  nm -D --undefined-only "$library" | awk '$NF ~ /^(swift_|_swift|\$s|selene_)/ { print $NF }' >"$work/log"
  nothing "8.8 $2 needs no Swift runtime"
  # Functions of threads moved into libc.so.6 then; before, they were in a library that is not among the needs. The headers
  # of glibc 2.38 and later rename some functions, which no source can help.
  nm -D --undefined-only "$library" | sed -n 's/.* \(.*\)@GLIBC_\([0-9.]*\)$/\2 \1/p' | sort -V >"$work/versions"
  awk '{ split($1, part, "."); if ((part[1] != 2 || part[2] > 34) && $2 !~ /^__isoc23_/) print }' "$work/versions" >"$work/log"
  [ -s "$work/versions" ] || echo "no function of glibc has a version" >>"$work/log"
  nothing "X1 $2 needs nothing that glibc has only since after 2.34"
}

check_archive() {
  local library=$1
  nm --defined-only --extern-only "$library" 2>/dev/null | awk 'NF == 3' >"$work/static"
  awk '$3 ~ /^selene_/ { print $3 }' "$work/static" | sort >"$work/globals"
  same "8.8 $2 has the list of symbols" symbols.txt globals
  awk '$3 !~ /^selene_/ || $2 != "T" { print $2, $3 }' "$work/static" >"$work/log"
  nothing "8.8 $2 shows functions of the list only"
  nm --undefined-only "$library" 2>/dev/null | awk '$NF ~ /^(swift_|_swift|\$s|selene_)/ { print $NF }' >"$work/log"
  nothing "8.8 $2 needs no Swift runtime"
}

for library in "${libraries[@]}"; do
  name=$(basename "$library")
  if [ ! -e "$library" ]; then
    echo "$library" >"$work/log"
    result "$name is there" 1
    continue
  fi
  case $library in
    *.a) check_archive "$library" "$name" ;;
    *) check_shared "$library" "$name" ;;
  esac
done

results

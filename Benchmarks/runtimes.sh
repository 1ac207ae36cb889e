#!/bin/bash
# Builds the program of each binding that pulls runs, and measures them beside C's: Benchmarks/python/runtimes.py.
set -eu
cd "$(dirname "$0")/.."
out=$PWD/build/bench/runtimes
mkdir -p "$out"
export LD_LIBRARY_PATH=$PWD/build PYSELENE_LIBRARY=$PWD/build/libselene.so PYTHONPATH=$PWD/bindings/python/src
gcc -std=c11 -D_GNU_SOURCE -O2 -Iinclude bindings/c/benches/pulled.c -o "$out/c" -Lbuild -lselene
programs=("C=$out/c")
g++ -std=c++17 -O2 -Iinclude -Ibindings/cpp/include bindings/cpp/benches/pulled.cpp -o "$out/cpp" -Lbuild -lselene -lpthread
programs+=("C++=$out/cpp")
if command -v cargo >/dev/null; then
  env CARGO_HOME="$PWD/build/rust/home" CARGO_TARGET_DIR="$PWD/build/rust" SELENE_LIB_DIR="$PWD/build" \
    cargo build --quiet --release --offline --locked --example pulled --manifest-path bindings/rust/Cargo.toml
  programs+=("Rust=build/rust/release/examples/pulled")
fi
printf 'Name: selene\nDescription: for figures\nVersion: 0\nCflags: -I%s\nLibs: -L%s -lselene\n' "$PWD/include" "$PWD/build" \
  >"$out/selene.pc"
if command -v swift >/dev/null; then
  PKG_CONFIG_PATH="$out" swift build --quiet --configuration release --manifest-cache local --package-path bindings/swift \
    --scratch-path build/swift-bench --product pulled
  programs+=("Swift=build/swift-bench/release/pulled")
fi
if command -v go >/dev/null; then
  env -C bindings/go PKG_CONFIG_PATH="$out" GOCACHE="$PWD/build/go/cache" GOPATH="$PWD/build/go" GOPROXY=off \
    go build -o "$out/go" ./benches/pulled
  programs+=("Go=$out/go")
fi
if command -v javac >/dev/null; then
  make --no-print-directory java >/dev/null
  javac -cp build/java/selene.jar -d "$out" bindings/java/benches/Pulled.java
  programs+=("Java=java -cp build/java/selene.jar:$out Pulled")
fi
if command -v mcs >/dev/null; then
  make --no-print-directory dotnet >/dev/null
  cp build/dotnet/package/* "$out"
  cp bindings/dotnet/runtimeconfig.json "$out/Pulled.runtimeconfig.json"
  mcs -langversion:7.2 -optimize+ -r:build/dotnet/package/Selene.dll -out:"$out/Pulled.dll" bindings/dotnet/benches/Pulled.cs
  programs+=("Mono=mono $out/Pulled.dll")
  if core=$(bindings/dotnet/runtime.sh build/dotnet/runtime); then programs+=(".NET Core=$core $out/Pulled.dll"); fi
fi
if command -v node >/dev/null; then
  make --no-print-directory node >/dev/null
  programs+=("Node.js=node bindings/node/benches/pulled.mjs")
  make --no-print-directory wasm STORE=no >/dev/null
  programs+=("WebAssembly=node bindings/wasm/benches/pulled.mjs")
fi
export SELENE_HEADER=$PWD/include/selene.h SELENE_API=$PWD/include/api.json SELENE_LIBRARY=$PWD/build/libselene.so
if command -v luajit >/dev/null; then programs+=("LuaJIT=luajit bindings/luajit/benches/pulled.lua"); fi
if command -v php >/dev/null; then programs+=("PHP=php bindings/php/benches/pulled.php"); fi
if command -v ruby >/dev/null; then programs+=("Ruby=ruby bindings/ruby/benches/pulled.rb"); fi
python=$(bindings/python/environment.sh)
programs+=("Python=$python bindings/python/benches/pulled.py")
exec "$python" -B Benchmarks/python/runtimes.py "${programs[@]}"

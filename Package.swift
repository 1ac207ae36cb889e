// swift-tools-version: 6.2
//
// The ordinary build: tests, sanitizers, Swift users. Each layer is a module of its own here, so the compiler keeps them
// apart. What ships is made by the Makefile from the same sources, without the Swift runtime.

import PackageDescription

let settings: [SwiftSetting] = [.treatAllWarnings(as: .error)]

let package = Package(
  name: "selene",
  products: [
    .library(name: "selene", type: .dynamic, targets: ["SeleneABI"])
  ],
  targets: [
    // include/selene.h as a module; the compiler checks every export against it.
    .systemLibrary(name: "CSelene", path: "include"),
    // The C that the engine stands on: libc, pthread, sqlite3.
    .target(
      name: "CPlatform",
      exclude: ["glibc", "wasm"],
      cSettings: [.enableWarning("all"), .enableWarning("extra"), .treatAllWarnings(as: .error)],
      linkerSettings: [.linkedLibrary("m"), .linkedLibrary("sqlite3")]),
    // One owner, many processes: the functions of the header over a Unix socket. It calls what SeleneABI exports.
    .target(
      name: "CService", dependencies: ["CPlatform"],
      exclude: ["none.c"],
      cSettings: [
        .headerSearchPath("../../include"), .headerSearchPath("../CPlatform"), .enableWarning("all"),
        .enableWarning("extra"),
        .treatAllWarnings(as: .error),
      ]),
    // The policy: the task table and its indexes, rules as values and pure functions; decisions are fast.
    .target(name: "SeleneCore", swiftSettings: settings),
    // When background work deserves a window: signals, profiles, ledger, prediction, traces; values and pure functions too.
    .target(name: "SeleneGovernor", dependencies: ["SeleneCore"], swiftSettings: settings),
    // What a worker of a fleet decides: leases, claims, what was not answered; a state machine without I/O.
    .target(name: "SeleneNode", dependencies: ["SeleneCore"], swiftSettings: settings),
    // The scheduler: registry, cycles, threads, clock, conditions, store.
    .target(
      name: "SeleneEngine", dependencies: ["SeleneCore", "SeleneGovernor", "SeleneNode", "CPlatform"],
      swiftSettings: settings),
    // The border: one @_cdecl function for each declaration of the header.
    .target(
      name: "SeleneABI",
      dependencies: ["SeleneEngine", "SeleneNode", "CSelene", "CService"],
      exclude: ["symbols.txt"],
      swiftSettings: settings),
    // The rules one by one.
    .testTarget(name: "SeleneCoreTests", dependencies: ["SeleneCore"], swiftSettings: settings),
    .testTarget(
      name: "SeleneGovernorTests", dependencies: ["SeleneCore", "SeleneGovernor"], swiftSettings: settings),
    // A node by itself, and many of them on a model of the database.
    .testTarget(name: "SeleneNodeTests", dependencies: ["SeleneNode"], swiftSettings: settings),
    // A node as a process, for the tests of the fleet.
    .executableTarget(
      name: "fleet-node", dependencies: ["SeleneNode"], path: "Tests/fleet/node", swiftSettings: settings),
    // The vectors, random sequences, threads.
    .testTarget(name: "SeleneEngineTests", dependencies: ["SeleneEngine"], swiftSettings: settings),
  ],
  swiftLanguageModes: [.v6],
  cLanguageStandard: .gnu17
)

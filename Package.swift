// swift-tools-version: 6.2
//
// Two builds of the same sources:
//   swift build --traits Embedded -c release --product selene    what ships: no Swift runtime, only libc, libm, sqlite3
//   swift build, swift test                                      ordinary Swift: tests, sanitizers, Swift users
//
// The Makefile links the shipped libraries from the objects of the first.

import PackageDescription

// As an unsafe flag, because enableExperimentalFeature forgets its condition when the test bundle is linked.
// Exclusivity is checked while compiling and in the ordinary build.
let settings: [SwiftSetting] = [
  .treatAllWarnings(as: .error),
  .unsafeFlags(
    ["-enable-experimental-feature", "Embedded", "-enforce-exclusivity=unchecked"], .when(traits: ["Embedded"])),
]
// Small; the functions that runs and registrations pass through are marked for speed.
let small = settings + [.unsafeFlags(["-Osize"], .when(traits: ["Embedded"]))]

let package = Package(
  name: "selene",
  products: [
    .library(name: "selene", type: .dynamic, targets: ["SeleneABI"])
  ],
  traits: [
    .trait(name: "Embedded", description: "Builds without the Swift runtime, for the shipped library.")
  ],
  targets: [
    // include/selene.h as a module; the compiler checks every export against it.
    .systemLibrary(name: "CSelene", path: "include"),
    // The C that the engine stands on: libc, pthread, sqlite3.
    .target(
      name: "CPlatform",
      cSettings: [.enableWarning("all"), .enableWarning("extra"), .treatAllWarnings(as: .error)],
      linkerSettings: [.linkedLibrary("m"), .linkedLibrary("sqlite3")]),
    // The policy: values and pure functions; decisions are fast.
    .target(name: "SeleneCore", swiftSettings: small),
    // When background work deserves a window: signals, profiles, ledger, prediction, traces; values and pure functions too.
    .target(name: "SeleneGovernor", dependencies: ["SeleneCore"], swiftSettings: small),
    // The scheduler: registry, cycles, threads, clock, conditions, store.
    .target(name: "SeleneEngine", dependencies: ["SeleneCore", "SeleneGovernor", "CPlatform"], swiftSettings: small),
    // The border: one @_cdecl function for each declaration of the header.
    .target(
      name: "SeleneABI",
      dependencies: ["SeleneEngine", "CSelene"],
      exclude: ["symbols.txt"],
      swiftSettings: small,
      linkerSettings: [
        .unsafeFlags(
          ["-enable-experimental-feature", "Embedded", "-no-toolchain-stdlib-rpath"], .when(traits: ["Embedded"]))
      ]),
    // The rules one by one.
    .testTarget(name: "SeleneCoreTests", dependencies: ["SeleneCore", "SeleneGovernor"], swiftSettings: settings),
    // The vectors, random sequences, threads.
    .testTarget(name: "SeleneEngineTests", dependencies: ["SeleneEngine"], swiftSettings: settings),
  ],
  swiftLanguageModes: [.v6],
  cLanguageStandard: .gnu17
)

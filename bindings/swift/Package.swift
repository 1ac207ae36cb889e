// swift-tools-version: 6.2
//
// Selene for hosts in Swift. It stands on libselene, which pkg-config finds, and on nothing else.

import PackageDescription

let settings: [SwiftSetting] = [.treatAllWarnings(as: .error)]

let package = Package(
  name: "selene-swift",
  products: [
    .library(name: "Selene", targets: ["Selene"]),
    .library(name: "CSelene", targets: ["CSelene"]),
  ],
  targets: [
    .systemLibrary(name: "CSelene", path: "Sources/CSelene", pkgConfig: "selene"),
    .target(name: "Selene", dependencies: ["CSelene"], swiftSettings: settings),
    .executableTarget(name: "player", dependencies: ["Selene"], path: "conformance", swiftSettings: settings),
    .executableTarget(name: "pulled", dependencies: ["Selene"], path: "benches", swiftSettings: settings),
    .executableTarget(
      name: "archive", dependencies: ["Selene"], path: "examples", exclude: ["archive.expected"],
      swiftSettings: settings),
    .testTarget(name: "SeleneTests", dependencies: ["Selene"], path: "Tests", swiftSettings: settings),
  ],
  swiftLanguageModes: [.v6]
)

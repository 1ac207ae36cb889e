// Chance that can be repeated: every random test draws from one seed and names it when it fails.

import Foundation

/// The seed of this run of the tests: the environment's `SELENE_SEED`, or another one each time.
enum Seed {
  static let value: UInt64 =
    ProcessInfo.processInfo.environment["SELENE_SEED"].flatMap { UInt64($0) } ?? UInt64.random(in: 1...999_999_999)
}

/// How much of a random test is played: the environment's `SELENE_TEST_ROUNDS` times the usual; below 1 a part of it.
enum Effort {
  static let times = ProcessInfo.processInfo.environment["SELENE_TEST_ROUNDS"].flatMap { Double($0) } ?? 1

  static func of(_ usual: Int) -> Int { max(1, Int((Double(usual) * times).rounded())) }
}

/// A random test that failed; says how to repeat it.
struct Differs: Error, CustomStringConvertible {
  let description: String

  init(_ what: String) { description = "\(what) (SELENE_SEED=\(Seed.value) repeats it)" }
}

/// Ends a random test at the first thing that is not as it must be.
func verify(_ condition: Bool, _ what: @autoclosure () -> String) throws {
  if !condition { throw Differs(what()) }
}

/// Random choices that follow from the seed and a name (xorshift64*).
struct Chance: RandomNumberGenerator {
  private var state: UInt64

  init(_ name: String, seed: UInt64 = Seed.value) {
    state = name.utf8.reduce(seed &* 0x9E37_79B9_7F4A_7C15 | 1) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 } | 1
    for _ in 0..<4 { _ = next() }
  }

  mutating func next() -> UInt64 {
    state ^= state >> 12
    state ^= state << 25
    state ^= state >> 27
    return state &* 0x2545_F491_4F6C_DD1D
  }

  /// 0 … limit − 1.
  mutating func below(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &self) }

  /// True once in so many times.
  mutating func once(in times: Int) -> Bool { below(times) == 0 }

  mutating func pick<C: RandomAccessCollection>(_ choices: C) -> C.Element where C.Index == Int {
    choices[choices.startIndex + below(choices.count)]
  }

  mutating func span(_ range: ClosedRange<Int64>) -> Int64 { Int64.random(in: range, using: &self) }

  /// A span of any magnitude up to a limit, often 0, often the limit, often round.
  mutating func anySpan(upTo limit: Int64) -> Int64 {
    switch below(8) {
    case 0: return 0
    case 1: return limit
    case 2: return limit / 1_000_000_000 > 0 ? span(0...limit / 1_000_000_000) * 1_000_000_000 : 0
    default: return span(0...max(1, limit >> span(0...40)))
    }
  }
}

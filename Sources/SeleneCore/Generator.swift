// The scheduler's seeded, named, stored source of chance.

/// SplitMix64 (Steele, Lea, Flood 2014): one word of state, so it is stored and replayed as a number.
package struct Generator: Sendable {
  package var state: UInt64

  package init(seed: UInt64) { state = seed }

  package mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }

  /// A number in 0 … limit, all equally likely up to 2^-44 for small limits.
  package mutating func upTo(_ limit: UInt64) -> UInt64 {
    next().multipliedFullWidth(by: limit + 1).high
  }
}

// The delay before a retry: none, linear, exponential, saturating, jittered (C10).

import SeleneCore
import Testing

@Suite("Backoff") struct BackoffTests {
  private func delay(
    _ policy: BackoffPolicy, _ base: Span, _ attempt: UInt32, maximum: Span = Time.tenYears, jitter: UInt32 = 0,
    seed: UInt64 = 1
  ) -> Span {
    var generator = Generator(seed: seed)
    return BackoffBounds(minimum: 0, maximum: maximum, jitter: jitter)
      .delay(policy, base: base, attempt: attempt, using: &generator)
  }

  /// d·n or d·2^(n−1), at most the maximum, counted without a limit of bits.
  private func exact(_ policy: BackoffPolicy, _ base: Span, _ attempt: UInt32, maximum: Span) -> Span {
    guard policy != .none, base > 0 else { return 0 }
    if policy == .linear { return Int64(min(Int128(base) * Int128(attempt), Int128(maximum))) }
    var delay = Int128(base)
    for _ in 1..<max(1, attempt) {
      delay *= 2
      if delay > Int128(maximum) { break }
    }
    return Int64(min(delay, Int128(maximum)))
  }

  @Test("C10 no backoff is no delay", arguments: [1, 2, 1_000, .max] as [UInt32])
  func none(attempt: UInt32) { #expect(delay(.none, 30, attempt) == 0) }

  @Test("C10 linear is d times n", arguments: [(1, 30), (2, 60), (3, 90), (100, 3_000)] as [(UInt32, Span)])
  func linear(attempt: UInt32, expected: Span) { #expect(delay(.linear, 30, attempt) == expected) }

  @Test(
    "C10 exponential is d times 2 to the n - 1",
    arguments: [(1, 30), (2, 60), (3, 120), (4, 240), (11, 30_720)] as [(UInt32, Span)])
  func exponential(attempt: UInt32, expected: Span) { #expect(delay(.exponential, 30, attempt) == expected) }

  @Test("C10 a delay is at most the maximum backoff")
  func maximum() {
    #expect(delay(.linear, 30, 10, maximum: 299) == 299)
    #expect(delay(.linear, 30, 10, maximum: 300) == 300)
    #expect(delay(.linear, 30, 10, maximum: 301) == 300)
    #expect(delay(.exponential, 30, 5, maximum: 479) == 479)
    #expect(delay(.exponential, 30, 5, maximum: 481) == 480)
    #expect(delay(.exponential, 30, 1, maximum: 7) == 7)
  }

  @Test("C10 P6 delays saturate for every attempt and base", arguments: [BackoffPolicy.none, .linear, .exponential])
  func saturation(policy: BackoffPolicy) throws {
    let bases = [0, 1, 2, 3, 30 * Time.second, Time.hour, Time.tenYears, 1 << 61, 1 << 62, .max]
    let attempts = Array(0...70) + [1_000, 65_535, 1 << 31, .max - 1, .max] as [UInt32]
    for base in bases {
      for attempt in attempts where attempt > 0 {
        for maximum in [0, 1, 5 * Time.hour, Time.tenYears] {
          let expected = exact(policy, base, attempt, maximum: maximum)
          let got = delay(policy, base, attempt, maximum: maximum)
          try verify(got == expected, "\(policy) of \(base), attempt \(attempt), maximum \(maximum): got \(got)")
        }
      }
    }
  }

  // MARK: Jitter

  @Test("C10 without jitter the generator is not asked")
  func noJitter() {
    var generator = Generator(seed: 5)
    _ = BackoffBounds().delay(.exponential, base: 30, attempt: 3, using: &generator)
    #expect(generator.state == 5)
  }

  @Test("C10 jitter is delay - delay·j·u / 1 000 000, exactly, with u of the generator")
  func jitterIsExact() throws {
    var chance = Chance("C10 jitter")
    for _ in 0..<2_000 {
      let full = chance.anySpan(upTo: Time.tenYears)
      let jitter = UInt32(chance.below(1_000) + 1)
      let seed = chance.next()
      var generator = Generator(seed: seed)
      let u = Int128(generator.upTo(1_000))
      let expected = full - Int64(Int128(full) * Int128(jitter) * u / 1_000_000)
      let got = delay(.linear, full, 1, jitter: jitter, seed: seed)
      try verify(full == 0 ? got == 0 : got == expected, "\(full), jitter \(jitter), u \(u): \(expected), got \(got)")
    }
  }

  @Test(
    "C10 jitter shortens by at most so many per mille and never lengthens", arguments: [1, 10, 500, 1_000] as [UInt32])
  func jitterBounds(jitter: UInt32) {
    var generator = Generator(seed: Seed.value)
    let bounds = BackoffBounds(minimum: 0, maximum: Time.tenYears, jitter: jitter)
    let full = 1_000_000 * Time.second
    let least = full - full / 1_000 * Int64(jitter)
    var seen: Set<Span> = []
    for _ in 0..<500 {
      let got = bounds.delay(.linear, base: full, attempt: 1, using: &generator)
      #expect((least...full).contains(got), "SELENE_SEED=\(Seed.value)")
      seen.insert(got)
    }
    #expect(seen.count > 100, "SELENE_SEED=\(Seed.value)")
  }

  @Test("C10 the same seed gives the same delays, another one others")
  func determinism() throws {
    func delays(_ seed: UInt64) throws -> [Instant] {
      let desk = Desk(seed: seed) { $0.backoff.jitter = 400 }
      try desk.register(Recipe("a", .once))
      return try (0..<8).map { _ in
        try desk.run("a", .failed)
        return desk.record("a").map { $0.earliestBegin - desk.now } ?? -1
      }
    }
    #expect(try delays(42) == delays(42))
    #expect(try delays(42) != delays(43))
  }
}

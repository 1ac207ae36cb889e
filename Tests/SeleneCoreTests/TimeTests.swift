// Arithmetic on instants from outside saturates and never traps (P6).

import SeleneCore
import Testing

@Suite("Time") struct TimeTests {
  static let edges: [Int64] = [.min, .min + 1, .min / 2, -2, -1, 0, 1, 2, .max / 2, .max - 1, .max]

  @Test("P6 sums and differences are held at the ends of the range", arguments: edges)
  func saturation(value: Int64) {
    for other in Self.edges {
      #expect(value.adding(other) == Int64(clamping: Int128(value) + Int128(other)))
      #expect(value.subtracting(other) == Int64(clamping: Int128(value) - Int128(other)))
    }
  }

  @Test("P1 durations are nanoseconds")
  func durations() {
    #expect(Time.second == 1_000_000_000)
    #expect(Time.minute == 60_000_000_000)
    #expect(Time.hour == 3_600_000_000_000)
    #expect(Time.day == 86_400_000_000_000)
    #expect(Time.longestRun == 24 * Time.hour)
    #expect(Time.retention == 24 * Time.hour)
    #expect(Time.standingInterval == 15 * Time.minute)
    #expect(Time.tenYears >= 3_652 * Time.day)
  }
}

// Durations and instants that were meant in another unit (V21).

import SeleneCore
import Testing

@Suite struct UnitsTests {
  @Test("V21 by the system's clock what is shorter than 1 ms and not 0 is refused, by the host's own nothing is")
  func durations() {
    for span: Span in [1, 60, Time.millisecond - 1] {
      #expect(refusal { try Units.system.check("period", span, 1, Time.day) } == .invalidArgument)
      #expect(refusal { try Units.own.check("period", span, 1, Time.day) } == nil)
    }
    for span: Span in [-1, 0, Time.millisecond, Time.day] {
      #expect(refusal { try Units.system.check("every", span, 0, Time.day, or: -1) } == nil)
    }
  }

  @Test("V21 the sentence has the constant with which the number would be in its range")
  func constants() {
    func words(_ span: Span, _ greatest: Span) -> String {
      text { try Units.system.check("budget", span, 0, greatest) }
    }
    #expect(
      words(30, Time.day)
        == "budget: 30 ns is out of range, allowed are 0, or 1 ms … 24 h; durations are in nanoseconds, "
        + "was 30 * SELENE_SECOND meant?")
    #expect(words(90_000, Time.day).contains("was 90000 * SELENE_MILLISECOND meant?"))
    #expect(words(2_000, Time.second).contains("was 2000 * SELENE_MICROSECOND meant?"))
    #expect(words(2, Time.millisecond).contains("was 2 * SELENE_SECOND meant?"))
  }

  @Test("V21 an instant before 1971 is refused, except 0")
  func instants() {
    let now = 1_700_000_000 * Time.second
    func words(_ instant: Instant) -> String {
      text {
        try Units.system.check(instant: "next", instant, 0, now + Time.tenYears)
      }
    }
    #expect(words(0) == "")
    #expect(words(365 * Time.day) == "")
    #expect(words(now + Time.tenYears) == "")
    #expect(
      words(1_700_000_000)
        == "next: 1700000000 is out of range, allowed are 0, or instants from 1971 on; instants are in "
        + "nanoseconds since 1970, was 1700000000 * SELENE_SECOND meant?")
    #expect(words(1_700_000_000_000).contains("was 1700000000000 * SELENE_MILLISECOND meant?"))
    #expect(words(60).contains("was selene_scheduler_now + 60 * SELENE_SECOND meant?"))
    #expect(words(365 * Time.day - 1).contains("selene_scheduler_now gives the present"))
    #expect(
      refusal { try Units.own.check(instant: "next", 60, 0, now) } == nil)
  }

  private func text(_ body: () throws -> Void) -> String {
    do {
      try body()
    } catch let error as SeleneError {
      return String(decoding: error.detail.bytes, as: UTF8.self)
    } catch {}
    return ""
  }
}

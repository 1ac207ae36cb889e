// The quota of expedited tasks: what counts, until when, and when it is used up (W10).

import Testing

@testable import SeleneCore

@Suite("ExpeditedLedger") struct ExpeditedLedgerTests {
  private static let start = 1_000 * Time.day
  private static let minute = Time.minute

  private static func ledger(_ quota: Span = 10 * minute) -> ExpeditedLedger {
    var made = ExpeditedLedger(quota: quota)
    made.start(at: start)
    return made
  }

  @Test("W10 a run counts from its begin, and for 24 h after its end")
  func counts() {
    var ledger = Self.ledger()
    ledger.begin(1, at: Self.start)
    #expect(ledger.used(at: Self.start + 3 * Self.minute) == 3 * Self.minute)
    let end = Self.start + 4 * Self.minute
    let (counted, again, unknown) = (ledger.end(1, at: end), ledger.end(1, at: end), ledger.end(2, at: end))
    #expect(counted && !again && !unknown)
    #expect(ledger.used(at: end + Time.day - 1) == 4 * Self.minute)
    #expect(ledger.used(at: end + Time.day) == 0)
  }

  @Test("D2 a run that was to begin and did not leaves nothing behind")
  func drop() {
    var ledger = Self.ledger()
    ledger.begin(1, at: Self.start)
    ledger.begin(2, at: Self.start)
    let before = ledger.numbers
    ledger.begin(3, at: Self.start)
    ledger.drop(3)
    #expect(ledger.numbers == before && ledger.hasOpen)
    ledger.drop(1)
    ledger.drop(2)
    #expect(ledger.numbers.isEmpty && !ledger.hasOpen)
  }

  @Test("W10 two runs at a time use it up in half the time, and something is left again a day after the first end")
  func usedUp() {
    var ledger = Self.ledger()
    ledger.begin(1, at: Self.start)
    ledger.begin(2, at: Self.start)
    ledger.look(from: Self.start)
    let usedAt = Self.start + 5 * Self.minute
    #expect(ledger.changesAt == usedAt)
    let early = ledger.settle(at: usedAt - 1)
    let told = ledger.settle(at: usedAt + Self.minute)
    #expect(early == nil && told == usedAt && ledger.isUsedUp)
    _ = ledger.end(1, at: usedAt)
    _ = ledger.end(2, at: usedAt + Self.minute)
    ledger.look(from: usedAt + Self.minute)
    #expect(ledger.left(at: usedAt + Self.minute) == 0)
    #expect(ledger.freeAt(usedAt + Self.minute) == usedAt + Time.day)
    let free = ledger.settle(at: usedAt + Time.day)
    #expect(free == usedAt + Time.day && !ledger.isUsedUp)
  }

  @Test("W10 without a limit it is never used up, and a quota of 0 always is")
  func limits() {
    var endless = Self.ledger(Time.never)
    endless.begin(1, at: Self.start)
    endless.look(from: Self.start)
    #expect(endless.isLeft(at: Self.start + Time.day) && endless.changesAt == Time.never)
    #expect(endless.left(at: Self.start) == Time.never)
    let none = Self.ledger(0)
    #expect(none.isUsedUp && !none.isLeft(at: Self.start) && none.freeAt(Self.start) == Time.never)
  }

  @Test("W10 where there are too many runs to keep apart never too little counts")
  func joins() {
    var ledger = Self.ledger(Time.day)
    var (now, used): (Instant, Span) = (Self.start, 0)
    for run in 1...UInt64(3 * ExpeditedLedger.mostUses) {
      let length = Time.second * Span(1 + run % 7)
      ledger.begin(run, at: now)
      _ = ledger.end(run, at: now + length)
      (now, used) = (now + length + Time.second, used + length)
      #expect(ledger.used(at: now) == used)
    }
    #expect(ledger.numbers.count == 2 * ExpeditedLedger.mostUses)
    #expect(ledger.used(at: now + Time.day) == 0)
  }

  @Test("W10 what an earlier life left counts, its open runs until it was last seen; what no life leaves is refused")
  func restore() throws {
    let (open, ended) = (Self.start - 5 * Self.minute, Self.start - 9 * Self.minute)
    var ledger = Self.ledger()
    let wasOpen = try ledger.restore(
      [ended - Self.minute, ended, open, Time.never], movedBy: 0, seen: open + 2 * Self.minute, at: Self.start)
    #expect(wasOpen && !ledger.hasOpen && ledger.used(at: Self.start) == 3 * Self.minute)
    for numbers in [[1], [2, 1]] as [[Int64]] {
      #expect(throws: SeleneError.self) {
        try ledger.restore(numbers, movedBy: 0, seen: Self.start, at: Self.start)
      }
    }
  }
}

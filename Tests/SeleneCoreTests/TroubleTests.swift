import Testing

@testable import SeleneCore

/// Troubles that a macro may change.
private final class Book {
  private(set) var troubles = Troubles()
  var on: UInt32 { troubles.on }

  func begin(_ trouble: Trouble, status: Int32, cause: UInt64 = 0, at now: Instant) -> Bool {
    troubles.begin(trouble, status: status, cause: cause, at: now)
  }
  func end(_ trouble: Trouble) -> Bool { troubles.end(trouble) }
  func isOn(_ trouble: Trouble) -> Bool { troubles.isOn(trouble) }
  func triesAgainAt(_ trouble: Trouble) -> Instant { troubles.triesAgainAt(trouble) }
}

@Suite struct TroubleTests {
  @Test("C19 a trouble is told once when it begins and once when it ends")
  func once() {
    let troubles = Book()
    #expect(troubles.on == 0)
    #expect(troubles.begin(.store, status: 53, at: 0))
    #expect(!troubles.begin(.store, status: 53, at: Time.second))
    #expect(!troubles.begin(.store, status: 53, at: Time.day))
    #expect(troubles.on == Trouble.store.rawValue)
    #expect(troubles.end(.store))
    #expect(!troubles.end(.store))
    #expect(troubles.on == 0)
  }

  @Test("C19 each cause is told for itself")
  func causes() {
    let troubles = Book()
    for trouble in Trouble.allCases { #expect(troubles.begin(trouble, status: 25, at: 0)) }
    #expect(troubles.on == 255)
    #expect(troubles.end(.thread))
    #expect(troubles.isOn(.store) && !troubles.isOn(.thread) && troubles.isOn(.overrun))
  }

  @Test("C19 one that comes and goes is told once a minute, its end only if its begin was")
  func quiet() {
    let troubles = Book()
    var told: [Instant] = []
    for second in 0..<180 {
      let now = Instant(second) * Time.second
      let begins = troubles.begin(.store, status: 54, at: now)
      if begins { told.append(now) }
      #expect(troubles.isOn(.store))
      #expect(troubles.end(.store) == begins)
    }
    #expect(told == [0, Time.minute, 2 * Time.minute])
  }

  @Test("C19 one that lasts beyond the minute in which it was not told is told then")
  func lasts() {
    let troubles = Book()
    #expect(troubles.begin(.thread, status: 29, at: 0))
    #expect(troubles.end(.thread))
    #expect(!troubles.begin(.thread, status: 29, at: Time.second))
    #expect(!troubles.begin(.thread, status: 29, at: 59 * Time.second))
    #expect(troubles.begin(.thread, status: 29, at: Time.minute))
    #expect(!troubles.begin(.thread, status: 29, at: 5 * Time.minute))
    #expect(troubles.end(.thread))
  }

  @Test("C19 one that becomes worse is told at once, but not when it is better again")
  func worse() {
    let troubles = Book()
    #expect(troubles.begin(.store, status: 53, at: 0))
    #expect(troubles.begin(.store, status: 55, at: 1))
    #expect(!troubles.begin(.store, status: 53, at: 2))
    #expect(!troubles.begin(.store, status: 55, at: 3))
    #expect(troubles.end(.store))
  }

  @Test("C19 one that lasts and becomes another is told once a minute")
  func another() {
    let troubles = Book()
    #expect(troubles.begin(.fleet, status: 29, cause: 7, at: 0))
    #expect(!troubles.begin(.fleet, status: 29, cause: 9, at: 59 * Time.second))
    #expect(!troubles.begin(.fleet, status: 29, cause: 7, at: Time.minute))
    #expect(troubles.begin(.fleet, status: 29, cause: 9, at: Time.minute))
    #expect(!troubles.begin(.fleet, status: 29, cause: 9, at: Time.day))
    #expect(troubles.begin(.fleet, status: 25, cause: 9, at: Time.day))
    #expect(troubles.begin(.fleet, status: 25, at: 2 * Time.day))
    #expect(troubles.end(.fleet))
  }

  @Test("C19 a cause is worse than none, and told at once; that there is none again, a minute later")
  func cause() {
    let troubles = Book()
    #expect(troubles.begin(.fleet, status: 29, at: 0))
    #expect(troubles.begin(.fleet, status: 29, cause: 7, at: 1))
    #expect(!troubles.begin(.fleet, status: 29, at: 2))
    #expect(!troubles.begin(.fleet, status: 29, cause: 7, at: 3))
    #expect(troubles.begin(.fleet, status: 29, at: Time.minute + 1))
    #expect(troubles.end(.fleet))
    #expect(troubles.begin(.fleet, status: 29, cause: 7, at: Time.minute + 2))
    #expect(troubles.end(.fleet))
  }

  @Test("C19 what was refused is worth another try a second later, while the trouble lasts")
  func again() {
    let troubles = Book()
    #expect(troubles.triesAgainAt(.store) == .min)
    _ = troubles.begin(.store, status: 53, at: 7)
    _ = troubles.begin(.store, status: 53, at: 9)
    #expect(troubles.triesAgainAt(.store) == Time.second + 9)
    #expect(troubles.triesAgainAt(.thread) == .min)
    _ = troubles.end(.store)
    #expect(troubles.triesAgainAt(.store) == .min)
  }
}

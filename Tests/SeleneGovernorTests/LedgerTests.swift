// Budgets: what counts, when it leaves, what is given back (G4).

import SeleneCore
import SeleneGovernor
import Testing

@Suite("Ledger") struct LedgerTests {
  static let minute = Time.minute
  static let second = Time.second
  static let rolling = [Quota(.refresh, .windowTime, 10 * minute, in: 2 * Time.hour)]

  static func isSpent(_ ledger: Ledger, _ quotas: [Quota] = rolling, at now: Instant) -> Bool {
    ledger.balance(.refresh, quotas, at: now).isSpent
  }

  static func run(_ ledger: inout Ledger, _ quotas: [Quota] = rolling, from begin: Instant, to end: Instant) {
    ledger.begin(.refresh, budget: end - begin, quotas, at: begin)
    ledger.end(.refresh, quotas, at: end)
  }

  @Test("G4 10 min in 2 h: spent at 64:00, still out at 120:15 with 9.75 min used, in again at 120:30")
  func rolling() {
    var ledger = Ledger()
    Self.run(&ledger, from: 0, to: 6 * Self.minute)
    ledger.begin(.refresh, budget: 30 * Self.minute, Self.rolling, at: 60 * Self.minute)
    for second: Int64 in stride(from: 0, to: 240, by: 5) {
      #expect(!Self.isSpent(ledger, at: 60 * Self.minute + second * Self.second))
    }
    #expect(!Self.isSpent(ledger, at: 64 * Self.minute - 1))
    #expect(Self.isSpent(ledger, at: 64 * Self.minute))
    ledger.end(.refresh, Self.rolling, at: 64 * Self.minute)
    let at = 120 * Self.minute + 15 * Self.second
    #expect(ledger.used(Self.rolling[0], at: at) == 10 * Self.minute - 15 * Self.second)
    #expect(Self.isSpent(ledger, at: at))
    #expect(Self.isSpent(ledger, at: 120 * Self.minute + 30 * Self.second - 1))
    #expect(!Self.isSpent(ledger, at: 120 * Self.minute + 30 * Self.second))
    for early: Int64 in [64, 70, 119, 120] {
      let balance = ledger.balance(.refresh, Self.rolling, at: early * Self.minute)
      #expect(balance.freeAt == 120 * Self.minute + 30 * Self.second)
      #expect(balance.free == 0)
    }
  }

  @Test("G4 below the limit nothing is spent, however little is left")
  func almost() {
    var ledger = Ledger()
    Self.run(&ledger, from: 0, to: 10 * Self.minute - 1)
    #expect(!Self.isSpent(ledger, at: 10 * Self.minute))
    #expect(ledger.balance(.refresh, Self.rolling, at: 10 * Self.minute).free == 1)
  }

  @Test("G4 moved with its clock the books say the same")
  func shifted() {
    var ledger = Ledger()
    ledger.begin(.refresh, budget: 3 * Self.minute, Self.rolling, at: 0)
    ledger.end(.refresh, Self.rolling, at: 2 * Self.minute)
    var moved = ledger
    moved.shift(by: -400 * Time.day)
    for minute: Int64 in [2, 60, 121, 122, 123] {
      let (at, movedAt) = (minute * Self.minute, minute * Self.minute - 400 * Time.day)
      let (balance, same) = (
        ledger.balance(.refresh, Self.rolling, at: at), moved.balance(.refresh, Self.rolling, at: movedAt)
      )
      #expect((balance.used, balance.free) == (same.used, same.free))
    }
    #expect(moved.lastBegin[.refresh] == -400 * Time.day)
    moved.shift(by: 400 * Time.day)
    #expect(moved.numbers == ledger.numbers)
  }

  @Test("G4 a window is charged whole and gives back what it did not use; a killed one has paid")
  func refund() {
    var ledger = Ledger()
    ledger.begin(.refresh, budget: 8 * Self.minute, Self.rolling, at: 0)
    #expect(ledger.balance(.refresh, Self.rolling, at: 0).free == 2 * Self.minute)
    var killed = ledger
    ledger.end(.refresh, Self.rolling, at: Self.minute)
    #expect(ledger.balance(.refresh, Self.rolling, at: Self.minute).free == 9 * Self.minute)
    #expect(ledger.used(Self.rolling[0], at: Time.hour) == Self.minute)
    killed.mend(at: 30 * Self.minute)
    #expect(killed.used(Self.rolling[0], at: 30 * Self.minute) == 8 * Self.minute)
    ledger.end(.refresh, Self.rolling, at: 5 * Self.minute)
    #expect(ledger.used(Self.rolling[0], at: Time.hour) == Self.minute, "a second end changes nothing")
  }

  @Test("G4 a new window ends one that was never ended")
  func forgotten() {
    var ledger = Ledger()
    ledger.begin(.refresh, budget: 8 * Self.minute, Self.rolling, at: 0)
    ledger.begin(.refresh, budget: Self.minute, Self.rolling, at: 2 * Self.minute)
    #expect(ledger.used(Self.rolling[0], at: 10 * Self.minute) == 3 * Self.minute)
  }

  @Test("G4 the reserve of a tenth is for tasks that never ran, on top of the limit")
  func reserve() {
    var ledger = Ledger()
    Self.run(&ledger, from: 0, to: 10 * Self.minute)
    let now = 11 * Self.minute
    #expect(ledger.balance(.refresh, Self.rolling, at: now).isSpent)
    let balance = ledger.balance(.refresh, Self.rolling, withReserve: true, at: now)
    #expect(!balance.isSpent)
    #expect(balance.free == Self.minute)
    Self.run(&ledger, from: now, to: now + Self.minute)
    #expect(ledger.balance(.refresh, Self.rolling, withReserve: true, at: now + Self.minute).isSpent)
  }

  @Test("G4 windows, CPU time and bytes count until their window has left")
  func measures() {
    let quotas = [
      Quota(.refresh, .windows, 2, in: Time.hour), Quota(.refresh, .cpuTime, Self.minute, in: Time.hour),
      Quota(.processing, .bytes, 1600, in: Time.day),
    ]
    var ledger = Ledger()
    Self.run(&ledger, quotas, from: 0, to: Self.second)
    ledger.report(.refresh, cpuTime: 50 * Self.second, bytes: 7, quotas, at: 2 * Self.second)
    #expect(!Self.isSpent(ledger, quotas, at: Self.minute))
    #expect(ledger.balance(.refresh, quotas, at: Self.minute).used == 833)
    Self.run(&ledger, quotas, from: Self.minute, to: Self.minute + Self.second)
    let balance = ledger.balance(.refresh, quotas, at: 2 * Self.minute)
    #expect(balance.isSpent)
    #expect(balance.freeAt == Time.hour + Self.second)
    #expect(!Self.isSpent(ledger, quotas, at: Time.hour + Self.second))
    // 50 s of CPU in the first window have left with it.
    ledger.report(.refresh, cpuTime: 40 * Self.second, bytes: 0, quotas, at: Time.hour + 2 * Self.second)
    #expect(!Self.isSpent(ledger, quotas, at: Time.hour + 2 * Self.second))

    ledger.report(.processing, cpuTime: 0, bytes: 1600, quotas, at: Time.hour)
    #expect(ledger.balance(.processing, quotas, at: Time.hour).isSpent)
    #expect(ledger.balance(.processing, quotas, at: Time.hour).freeAt == 25 * Time.hour)
  }

  @Test("G4 kinds have budgets of their own; without any nothing is spent")
  func kinds() {
    var ledger = Ledger()
    Self.run(&ledger, from: 0, to: Time.hour)
    #expect(!ledger.balance(.processing, Self.rolling, at: Time.hour).isSpent)
    let balance = ledger.balance(.refresh, [], at: Time.hour)
    #expect((balance.isSpent, balance.free, balance.used) == (false, Time.never, 0))
  }

  @Test("G4 another profile judges the past by its own limits")
  func otherProfile() {
    let small = [Quota(.refresh, .windowTime, Self.minute, in: Time.hour)]
    var ledger = Ledger()
    Self.run(&ledger, from: 0, to: 2 * Self.minute)
    #expect(!Self.isSpent(ledger, at: 2 * Self.minute))
    ledger.judge(small, at: 2 * Self.minute)
    #expect(Self.isSpent(ledger, small, at: 2 * Self.minute))
    ledger.judge(Self.rolling, at: 3 * Self.minute)
    #expect(!Self.isSpent(ledger, at: 3 * Self.minute))
  }

  @Test("G4 after the clock was set back nothing lies in the future")
  func clockSetBack() {
    var ledger = Ledger()
    Self.run(&ledger, from: 10 * Time.day, to: 10 * Time.day + 10 * Self.minute)
    ledger.mend(at: Time.day)
    #expect(ledger.used(Self.rolling[0], at: Time.day) == 10 * Self.minute)
    #expect(ledger.used(Self.rolling[0], at: Time.day + 2 * Time.hour) == 0)
    #expect(ledger.lastBegin.refresh == Time.day)
  }

  @Test("G4 against an oracle that looks at every second, and as numbers and back")
  func oracle() throws {
    var chance = Chance("ledger oracle")
    for round in 0..<20 {
      let limit = chance.span(20...600)
      let period = chance.span(limit...7200)
      let quotas = [Quota(.refresh, .windowTime, limit * Self.second, in: period * Self.second)]
      let room = min(30, limit)
      var ledger = Ledger()
      // used[s]: second s was in a window; sum: those of the last period.
      var used = [Bool](repeating: false, count: 9_000)
      var sum: Int64 = 0
      var spent = false
      var second: Int64 = 0
      var openUntil: Int64 = -1
      while second < 9_000 {
        if second > 0 && used[Int(second - 1)] { sum += 1 }
        if second > period && used[Int(second - period - 1)] { sum -= 1 }
        spent = sum >= limit || (spent && limit - sum < room)
        let now = second * Self.second
        if second % 7 == 0 || sum == limit {
          if chance.once(in: 9) { ledger = try Ledger(numbers: ledger.numbers) }
          let balance = ledger.balance(.refresh, quotas, at: now)
          try verify(balance.isSpent == spent, "round \(round) at \(second): \(sum) of \(limit) in \(period)")
          try verify(ledger.used(quotas[0], at: now) == sum * Self.second, "round \(round) at \(second): used")
          try verify(balance.freeAt >= now && (balance.freeAt > now) == spent, "round \(round) at \(second): free at")
        }
        if second == openUntil { openUntil = -1 }
        if openUntil < 0 && chance.once(in: 40) {
          let budget = chance.span(1...200)
          openUntil = second + budget
          ledger.begin(.refresh, budget: budget * Self.second, quotas, at: now)
        } else if openUntil >= 0 && chance.once(in: 100) {
          openUntil = -1
          ledger.end(.refresh, quotas, at: now)
        }
        if second < openUntil { used[Int(second)] = true }
        second += 1
      }
    }
  }

  @Test("G4 when it says that a budget is free again, it is, and not before")
  func freeAtIsExact() throws {
    var chance = Chance("free at")
    var seen = 0
    for _ in 0..<400 {
      let measure = chance.pick([Measure.windowTime, .cpuTime, .windows, .bytes])
      let limit = measure == .windows ? chance.span(1...5) : chance.span(1...600) * Self.second
      let quotas = [Quota(.refresh, measure, limit, in: chance.span(60...7200) * Self.second)]
      var ledger = Ledger()
      var now: Instant = 0
      for _ in 0..<chance.below(20) {
        now += chance.span(0...900) * Self.second
        let end = now + chance.span(0...300) * Self.second
        Self.run(&ledger, quotas, from: now, to: end)
        now = end
        ledger.report(
          .refresh, cpuTime: chance.span(0...100) * Self.second, bytes: chance.span(0...100) * Self.second, quotas,
          at: now)
      }
      let balance = ledger.balance(.refresh, quotas, at: now)
      guard balance.isSpent else { continue }
      seen += 1
      try verify(!Self.isSpent(ledger, quotas, at: balance.freeAt), "\(quotas) free at \(balance.freeAt)")
      try verify(Self.isSpent(ledger, quotas, at: balance.freeAt - 1), "\(quotas) free before \(balance.freeAt)")
    }
    #expect(seen > 50)
  }

  @Test("G4 the books stay small, and what is put together is never forgotten too early")
  func bounded() throws {
    var chance = Chance("ledger bounded")
    let quotas = [Quota(.refresh, .windowTime, Time.hour, in: Time.day), Quota(.refresh, .windows, 9999, in: Time.day)]
    // Each window has used so much of these, too.
    let others =
      quotas[1...] + [
        Quota(.refresh, .cpuTime, 9999, in: Time.day), Quota(.refresh, .bytes, 9999, in: Time.day),
      ]
    var ledger = Ledger()
    var sessions: [(Instant, Instant)] = []
    var now: Instant = 0
    for _ in 0..<2_000 {
      now += chance.span(1...200) * Self.second
      let end = now + chance.span(0...30) * Self.second
      Self.run(&ledger, quotas, from: now, to: end)
      ledger.report(.refresh, cpuTime: 1, bytes: 1, quotas, at: end)
      sessions.append((now, end))
      now = end
      #expect(ledger.sessions.count <= Ledger.mostSessions)
      let from = now - Time.day
      let exact = sessions.reduce(0) { $0 + max(0, $1.1 - max($1.0, from)) }
      let used = ledger.used(quotas[0], at: now)
      try verify(used >= exact && used <= exact + 10 * Self.minute, "\(used) for \(exact)")
      let windows = Int64(sessions.count { $0.1 > from })
      for quota in others {
        let used = ledger.used(quota, at: now)
        try verify(used >= windows, "\(quota.measure): \(used) of \(windows) windows")
      }
    }
    #expect(ledger.numbers.count <= 4 + 6 * Ledger.mostSessions)
    now += Time.day
    Self.run(&ledger, quotas, from: now, to: now)
    #expect(ledger.sessions.count == 1)
  }

  @Test("G4 numbers that no ledger gave are refused and never trap")
  func foreignNumbers() throws {
    var ledger = Ledger()
    for minute: Int64 in 0..<5 { Self.run(&ledger, from: minute * Self.minute, to: minute * Self.minute + 5) }
    let numbers = ledger.numbers
    #expect(try Ledger(numbers: numbers).numbers == numbers)
    for count in [0, 1, 3, 5, 9, 11, 4 + 6 * 257] {
      #expect(throws: SeleneError.self) { try Ledger(numbers: [Int64](repeating: 0, count: count)) }
    }
    var chance = Chance("foreign ledger")
    for _ in 0..<3_000 {
      var broken = numbers
      for _ in 0...chance.below(4) { broken[chance.below(broken.count)] = chance.pick([.min, .max, -1, 0, 1, 2, 3]) }
      guard var ledger = try? Ledger(numbers: broken) else { continue }
      let now = chance.pick([0, .min, .max, Time.day])
      _ = ledger.balance(.refresh, Self.rolling, at: now)
      ledger.mend(at: now)
      Self.run(&ledger, from: 0, to: 5)
      _ = ledger.balance(.refresh, Self.rolling, withReserve: true, at: now)
    }
  }
}

// When it is worth opening the next window (C16).

import SeleneCore
import Testing

@Suite("TaskTable wake-up") struct TaskTableWakeupTests {
  private let offer = Offer(kinds: .all, satisfied: Needs(.all), pushes: false, observedRange: false)

  private func pace(interval: Span = 0, lastBegin: Instant? = nil) -> PerKind<Pace> {
    var pace = Pace(interval: interval)
    pace.lastBegin = lastBegin
    return PerKind(repeating: pace)
  }

  private func desk(_ recipes: [Recipe]) throws -> Desk {
    let desk = Desk(now: Time.hour) { $0.places = PerKind(repeating: nil) }
    for recipe in recipes {
      _ = try desk.addHandler(recipe.id)
      try desk.register(recipe)
    }
    return desk
  }

  private func wakeup(_ desk: Desk, _ pace: PerKind<Pace>) -> Instant? {
    desk.table.nextWakeup(offer, pace, at: desk.now)
  }

  @Test("C16 without tasks there is no wake-up")
  func none() throws { #expect(wakeup(try desk([]), pace()) == nil) }

  @Test("C16 the earliest begin counts, the earliest of all")
  func earliest() throws {
    let desk = try desk([
      Recipe("a", .once) { $0.initialDelay = 500 }, Recipe("b", .periodic) { $0.initialDelay = 300 },
      Recipe("c") { $0.initialDelay = 400 },
    ])
    #expect(wakeup(desk, pace()) == Time.hour + 300)
  }

  @Test("C16 what is due asks for now, but not before last begin + minimum interval")
  func due() throws {
    let desk = try desk([Recipe("a", .once)])
    desk.now += 10
    #expect(wakeup(desk, pace()) == desk.now)
    #expect(wakeup(desk, pace(interval: 100, lastBegin: desk.now - 30)) == desk.now + 70)
    #expect(wakeup(desk, pace(interval: 100, lastBegin: desk.now - 300)) == desk.now)
    #expect(wakeup(desk, pace(interval: 100)) == desk.now)
  }

  @Test("C16 a standing task that is due asks for the minimum interval, or 15 min, after the last begin")
  func standing() throws {
    let desk = try desk([Recipe("a")])
    desk.now += 10
    #expect(wakeup(desk, pace()) == desk.now)
    #expect(wakeup(desk, pace(lastBegin: desk.now)) == desk.now + 15 * Time.minute)
    #expect(wakeup(desk, pace(lastBegin: desk.now - Time.minute)) == desk.now + 14 * Time.minute)
    #expect(wakeup(desk, pace(interval: 40, lastBegin: desk.now)) == desk.now + 40)
    #expect(wakeup(desk, pace(lastBegin: desk.now - Time.hour)) == desk.now)
  }

  @Test("C16 a standing task that is backing off asks for the end of its backoff")
  func standingBackoff() throws {
    let desk = try desk([Recipe("a") { $0.backoff = Int32(BackoffPolicy.linear.rawValue) }])
    try desk.run("a", .failed)
    #expect(wakeup(desk, pace(lastBegin: desk.now)) == desk.now + 30 * Time.second)
    #expect(wakeup(desk, pace(interval: Time.hour, lastBegin: desk.now)) == desk.now + Time.hour)
  }

  @Test("C16 only tasks that wait for nothing but time count")
  func whoCounts() throws {
    let desk = Desk { $0.holds = true }
    _ = try desk.addHandler("h")
    try desk.register(Recipe("nobody"))
    #expect(wakeup(desk, pace()) == nil)
    try desk.register(Recipe("run", .once) { $0.handler = "h" })
    try desk.start("run")
    try desk.register(Recipe("held", .once) { $0.handler = "h" })
    try desk.register(Recipe("net") { ($0.handler, $0.constraints) = ("h", 1) })
    var offline = offer
    offline.satisfied = []
    #expect(desk.table.nextWakeup(offline, pace(), at: desk.now) == nil)
    #expect(wakeup(desk, pace()) == desk.now)
    var busy = offer
    busy.kinds = KindSet(.processing)
    #expect(desk.table.nextWakeup(busy, pace(), at: desk.now) == nil)
  }

  @Test("C16 P6 random populations wake as the rule says, at any time")
  func random() throws {
    var chance = Chance("C16")
    for round in 0..<300 {
      let now = chance.pick([0, 1_000 * Time.day, Int64.max - 5, Int64.min + 5, -Time.day])
      let population = try Population(chance.below(6), at: now, &chance)
      let offer = Offer(
        kinds: chance.pick([.all, KindSet(.refresh), KindSet(.processing), []]),
        satisfied: Needs(chance.pick([.all, .network, []])), pushes: false, observedRange: false)
      var pace = PerKind(refresh: Pace(interval: 0), processing: Pace(interval: 0))
      for kind in Kind.allCases {
        pace[kind] = Pace(interval: chance.pick([0, 1, Time.hour]))
        pace[kind].lastBegin = chance.once(in: 3) ? nil : now.subtracting(chance.pick([0, 1, Time.minute, Time.day]))
      }
      var expected: Instant?
      for subject in population.subjects where subject.isEligible(offer, at: nil) {
        let (last, interval) = (pace[subject.kind].lastBegin, pace[subject.kind].interval)
        var at = subject.earliestBegin
        if subject.schedule == .standing && at <= now {
          at = last?.adding(interval > 0 ? interval : 15 * Time.minute) ?? now
        } else if let last {
          at = max(at, last.adding(interval))
        }
        expected = min(expected ?? .max, max(at, now))
      }
      let got = population.table.nextWakeup(offer, pace, at: now)
      try verify(got == expected, "round \(round): \(expected ?? -1) expected, got \(got ?? -1)")
    }
  }
}

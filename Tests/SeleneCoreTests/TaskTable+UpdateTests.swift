// Updating a live record: what changes, what stays, and when it is due then (T5).

import SeleneCore
import Testing

@Suite("TaskTable update") struct TaskTableUpdateTests {
  @Test("T5 an update replaces the definition and keeps state, attempts, last run and response times")
  func keepsHistory() throws {
    let desk = Desk()
    try desk.register(Recipe("a"))
    try desk.run("a", .newData, after: 3)
    try desk.run("a", .failed, after: 5)
    let before = try #require(desk.record("a"))
    desk.now += Time.minute
    #expect(try desk.register(Recipe("a", priority: 5, existing: .update)) == .updated)
    let after = try #require(desk.record("a"))
    #expect(after.priority == 5)
    #expect(after.generation == 1)
    #expect(after.sequence == before.sequence)
    #expect(after.state == before.state)
    #expect(after.attempts == 1)
    #expect(after.lastRun == before.lastRun)
    #expect(after.responseTimes == [3, 5])
    #expect(after.registeredAt == before.registeredAt)
    #expect(desk.types == [.registered])
    #expect(desk.changes.first?.detail == Disposition.updated.rawValue)
  }

  @Test("T5 each update is one generation more")
  func generations() throws {
    let desk = Desk()
    for generation: UInt32 in 0...5 {
      try desk.register(Recipe("a"))
      #expect(desk.record("a")?.generation == generation)
    }
  }

  @Test("T5 an update may change neither kind nor schedule")
  func kindAndSchedule() throws {
    let desk = Desk()
    try desk.register(Recipe("a", .once))
    for recipe in [
      Recipe("a", .once, kind: .processing, existing: .update), Recipe("a", .standing, existing: .update),
      Recipe("a", .periodic, existing: .update),
    ] {
      #expect(refusal { try desk.register(recipe) } == .invalidArgument)
    }
    #expect(desk.record("a")?.generation == 0)
  }

  @Test("T5 a run in flight keeps its copy, the record has the new definition")
  func running() throws {
    let desk = Desk()
    try desk.register(Recipe("a", .once))
    try desk.start("a")
    let old = try #require(desk.record("a")).definition
    #expect(try desk.register(Recipe("a", .once, priority: 5, existing: .update)) == .updated)
    let record = try #require(desk.record("a"))
    #expect(record.state == .running)
    #expect(record.attempts == 1)
    #expect(record.definition !== old)
    #expect(old.priority == 3)
    #expect(desk.stops.isEmpty)
  }

  @Test("T5 T6 a held or enqueued task stays so, and keeps its place")
  func places() throws {
    let desk = Desk { $0.holds = true }
    try desk.register(Recipe("a", .once))
    #expect(try desk.register(Recipe("b", .once)) == .held)
    #expect(try desk.register(Recipe("b", .once, priority: 5, existing: .update)) == .updated)
    #expect(desk.state("b") == .held)
    #expect(try desk.register(Recipe("a", .once, existing: .update)) == .updated)
    #expect(desk.state("a") == .enqueued)
  }

  // MARK: Earliest begin

  @Test("T5 a once task that did not run yet is due by its new delay from its registration")
  func onceDue() throws {
    let desk = Desk(now: 1_000)
    try desk.register(Recipe("a", .once) { $0.initialDelay = 500 })
    desk.now = 1_200
    try desk.register(Recipe("a", .once, existing: .update) { $0.initialDelay = 300 })
    #expect(desk.record("a")?.earliestBegin == 1_300)
    #expect(desk.record("a")?.anchor == 1_300)
  }

  @Test("T5 while backing off the earliest begin stays", arguments: [Schedule.standing, .once, .periodic])
  func backingOff(schedule: Schedule) throws {
    let desk = Desk()
    try desk.register(Recipe("a", schedule) { $0.backoff = Int32(BackoffPolicy.exponential.rawValue) })
    try desk.run("a", .failed)
    let due = try #require(desk.record("a")).earliestBegin
    #expect(due == desk.now + 30 * Time.second)
    try desk.register(Recipe("a", schedule, existing: .update) { ($0.initialDelay, $0.backoff) = (7, 1) })
    #expect(desk.record("a")?.earliestBegin == due)
  }

  @Test("T5 while running the earliest begin stays")
  func runningDue() throws {
    let desk = Desk()
    try desk.register(Recipe("a", .once))
    let due = try #require(desk.record("a")).earliestBegin
    try desk.start("a")
    try desk.register(Recipe("a", .once, existing: .update) { $0.initialDelay = Time.hour })
    #expect(desk.record("a")?.earliestBegin == due)
  }

  @Test("T5 a standing task that has run keeps its earliest begin, one that has not takes the new delay")
  func standing() throws {
    let desk = Desk(now: 1_000)
    try desk.register(Recipe("a") { $0.initialDelay = 50 })
    try desk.register(Recipe("a") { $0.initialDelay = 70 })
    #expect(desk.record("a")?.earliestBegin == 1_070)
    desk.now = 1_100
    try desk.run("a", .newData, after: 10)
    try desk.register(Recipe("a") { $0.initialDelay = 9_000 })
    #expect(desk.record("a")?.earliestBegin == 1_110)
  }

  @Test("T5 a periodic task counts anew from its registration while there was no period")
  func periodicFromRegistration() throws {
    let desk = Desk(now: 1_000)
    try desk.register(Recipe("a", .periodic) { ($0.period, $0.flex, $0.initialDelay) = (100, 20, 5) })
    #expect(desk.record("a")?.earliestBegin == 1_085)
    desk.now = 1_010
    try desk.register(
      Recipe("a", .periodic, existing: .update) { ($0.period, $0.flex, $0.initialDelay) = (200, 50, 7) })
    #expect(desk.record("a")?.earliestBegin == 1_157)
  }

  @Test("T5 a periodic task counts anew from the end of its last period, without delay and flex")
  func periodicFromPeriod() throws {
    let desk = Desk(now: 1_000)
    try desk.register(Recipe("a", .periodic) { $0.period = 100 })
    try desk.run("a", .newData, after: 10)
    #expect(desk.record("a")?.earliestBegin == 1_110)
    desk.now = 1_050
    try desk.register(
      Recipe("a", .periodic, existing: .update) { ($0.period, $0.flex, $0.initialDelay) = (300, 1, 40) })
    #expect(desk.record("a")?.earliestBegin == 1_310)
    try desk.register(Recipe("a", .periodic, existing: .update) { $0.period = 15 })
    #expect(desk.record("a")?.earliestBegin == 1_025)
  }

  @Test("T5 the end of a period is the completion that ended it, not a failure within it")
  func periodicBase() throws {
    let desk = Desk(now: 1_000)
    try desk.register(Recipe("a", .periodic) { ($0.period, $0.maxAttempts) = (Time.hour, 2) })
    try desk.run("a", .newData, after: 10)
    desk.now = 1_010 + Time.hour
    try desk.run("a", .failed, after: 5)
    desk.now += Time.minute
    try desk.run("a", .failed, after: 5)
    let end = desk.now
    try desk.register(Recipe("a", .periodic, existing: .update) { $0.period = 400 })
    #expect(desk.record("a")?.earliestBegin == end + 400)
  }

  @Test("T5 an anchored periodic task takes the new period on the grid of its anchor")
  func anchored() throws {
    let desk = Desk(now: 1_000)
    try desk.register(Recipe("a", .periodic) { ($0.period, $0.recurrence) = (100, 1) })
    desk.now = 1_030
    try desk.run("a", .newData, after: 0)
    #expect(desk.record("a")?.earliestBegin == 1_100)
    try desk.register(Recipe("a", .periodic, existing: .update) { ($0.period, $0.recurrence) = (70, 1) })
    #expect(desk.record("a")?.earliestBegin == 1_070)
    #expect(desk.record("a")?.anchor == 1_000)
  }
}

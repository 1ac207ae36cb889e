// Registering over a live record: keep, replace, update; and the order of checks (T4, T5).

import SeleneCore
import Testing

@Suite("TaskTable register") struct TaskTableRegisterTests {
  // MARK: New

  @Test("T4 a new task is added, numbered and told")
  func added() throws {
    let desk = Desk()
    #expect(try desk.register(Recipe("a")) == .added)
    #expect(desk.record("a")?.sequence == 1)
    #expect(desk.types == [.registered])
    #expect(desk.changes.first?.detail == Disposition.added.rawValue)
    #expect(try desk.register(Recipe("b")) == .added)
    #expect(desk.record("b")?.sequence == 2)
  }

  @Test("T4 a kind that is switched off is refused", arguments: Kind.allCases)
  func kindOff(kind: Kind) throws {
    let desk = Desk()
    desk.enabled = KindSet.all.subtracting(KindSet(kind))
    #expect(refusal { try desk.register(Recipe("a", kind: kind)) } == .unavailable)
    #expect(desk.record("a") == nil)
    #expect(desk.table.lastSequence == 0)
  }

  @Test("T4 the switch is looked at before the existing policy, the policy before the limits")
  func order() throws {
    let desk = Desk()
    try desk.register(Recipe("a", .once))
    // An update to another schedule is refused for itself, not for the limit it would break.
    #expect(refusal { try desk.register(Recipe("a", .periodic, existing: .update)) } == .invalidArgument)
    #expect(try desk.register(Recipe("a", .periodic, existing: .keep)) == .kept)
    desk.enabled = KindSet(.processing)
    #expect(refusal { try desk.register(Recipe("a", .once, existing: .keep)) } == .unavailable)
  }

  // MARK: Keep

  @Test("T5 keep leaves the record exactly as it is", arguments: [Schedule.standing, .once, .periodic])
  func keep(schedule: Schedule) throws {
    let desk = Desk()
    try desk.register(Recipe("a", .once) { $0.tags = ["x"] })
    let before = try #require(desk.record("a"))
    desk.now += Time.minute
    #expect(try desk.register(Recipe("a", schedule, priority: 5, existing: .keep)) == .kept)
    let after = try #require(desk.record("a"))
    #expect(after.definition === before.definition)
    #expect(after.sequence == before.sequence)
    #expect(after.stamp == before.stamp)
    #expect(desk.types == [])
  }

  // MARK: Replace

  @Test("T5 replace cancels the old record and starts a new one with fresh history")
  func replace() throws {
    let desk = Desk()
    try desk.register(Recipe("a"))
    try desk.run("a", .newData)
    desk.now += Time.minute
    #expect(try desk.register(Recipe("a", .once, kind: .processing, existing: .replace)) == .replaced)
    let record = try #require(desk.record("a"))
    #expect(record.sequence == 2)
    #expect(record.responseTimes.isEmpty)
    #expect(record.generation == 0)
    #expect(record.registeredAt == desk.now)
    #expect(record.lastRun == desk.now)
    #expect(record.kind == .processing)
    #expect(desk.types == [.cancelled, .registered])
    #expect(desk.table.count(.cancelled) == 0)
  }

  @Test("T5 replace stops a run in flight with REPLACED")
  func replaceRunning() throws {
    let desk = Desk()
    try desk.register(Recipe("a", .once))
    let run = try desk.start("a")
    #expect(try desk.register(Recipe("a", .once, existing: .replace)) == .replaced)
    #expect(desk.stops.map(\.run) == [run])
    #expect(desk.stops.map(\.reason) == [.replaced])
    #expect(desk.record("a")?.isTaken == true)
    #expect(desk.state("a") == .enqueued)
  }

  @Test("T5 replace cancels all that wait behind")
  func replaceChain() throws {
    let desk = Desk()
    try desk.register(Recipe("a", .once))
    for _ in 0..<3 { try desk.register(Recipe("a", .once, existing: .append)) }
    #expect(try desk.register(Recipe("a", .once, existing: .replace)) == .replaced)
    #expect(desk.waiting("a").isEmpty)
    #expect(desk.table.count(.blocked) == 0)
    #expect(desk.types == [.cancelled, .cancelled, .cancelled, .cancelled, .registered])
  }

  @Test("T5 T6 a replacement that finds no place is refused and changes nothing, or is held")
  func replaceWithoutPlace() throws {
    let strict = Desk()
    try strict.register(Recipe("full", .once))
    try strict.register(Recipe("a", .once, kind: .processing))
    #expect(refusal { try strict.register(Recipe("a", .once, existing: .replace)) } == .tooManyPending)
    #expect(strict.record("a")?.kind == .processing)
    #expect(strict.state("a") == .enqueued)

    let holding = Desk { $0.holds = true }
    try holding.register(Recipe("full", .once))
    try holding.register(Recipe("a", .once, kind: .processing))
    #expect(try holding.register(Recipe("a", .once, existing: .replace)) == .replaced)
    #expect(holding.state("a") == .held)
    #expect(holding.types == [.cancelled, .registered, .held])
  }

  @Test("T6 a replacement of the same kind takes the place of the old one")
  func replaceInPlace() throws {
    let desk = Desk()
    try desk.register(Recipe("a", .once))
    #expect(try desk.register(Recipe("a", .periodic, existing: .replace)) == .replaced)
    #expect(desk.state("a") == .enqueued)
  }

  // MARK: Ended records

  @Test(
    "T5 a terminal record never blocks: any policy puts a new one in its place",
    arguments: [ExistingPolicy.keep, .replace, .update, .append, .appendOrReplace])
  func afterTheEnd(policy: ExistingPolicy) throws {
    let desk = Desk()
    try desk.register(Recipe("a", .once))
    try desk.run("a", .newData)
    #expect(desk.state("a") == .succeeded)
    #expect(try desk.register(Recipe("a", .once, existing: policy)) == .added)
    #expect(desk.state("a") == .enqueued)
    #expect(desk.record("a")?.sequence == 2)
    #expect(desk.table.count(.succeeded) == 0)
  }

  @Test("T5 an update of a terminal record may change kind and schedule")
  func updateAfterTheEnd() throws {
    let desk = Desk()
    try desk.register(Recipe("a", .once))
    _ = try desk.cancel("a")
    #expect(try desk.register(Recipe("a", kind: .processing, existing: .update)) == .added)
    #expect(desk.record("a")?.kind == .processing)
  }

  @Test("T5 only append behind a failed or cancelled record is born failed or cancelled, without a place")
  func bornEnded() throws {
    let desk = Desk()
    try desk.register(Recipe("a", .once))
    try desk.run("a", .abandoned)
    #expect(desk.state("a") == .failed)
    try desk.register(Recipe("full", .once))
    #expect(try desk.register(Recipe("a", .once, existing: .append)) == .added)
    #expect(desk.state("a") == .failed)
    #expect(desk.record("a")?.changedAt == desk.now)
    #expect(refusal { try desk.register(Recipe("a", .once, existing: .appendOrReplace)) } == .tooManyPending)

    _ = try desk.cancel("full")
    #expect(try desk.register(Recipe("full", .once, existing: .append)) == .added)
    #expect(desk.state("full") == .cancelled)
    #expect(try desk.register(Recipe("full", .once, existing: .appendOrReplace)) == .added)
    #expect(desk.state("full") == .enqueued)
  }

  @Test("T3 numbers of records grow and are never reused")
  func sequences() throws {
    let desk = Desk()
    var seen: [UInt64] = []
    for round in 0..<30 {
      try desk.register(Recipe("a\(round % 3)", existing: .replace))
      seen.append(desk.record("a\(round % 3)")?.sequence ?? 0)
      if round % 5 == 0 { _ = desk.cancelAll() }
      if round % 7 == 0 { _ = desk.table.prune(endedBefore: nil) }
      if round % 11 == 0 { desk.table.removeAll() }
    }
    #expect(seen == Array(1...30))
  }
}

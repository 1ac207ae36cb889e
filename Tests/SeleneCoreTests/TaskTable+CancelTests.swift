// Cancelling by id, by tag, all; and the retention of what has ended (T8, T9).

import Testing

@testable import SeleneCore

@Suite("TaskTable cancel") struct TaskTableCancelTests {
  @Test("T8 a cancelled task is cancelled, its run is stopped with CANCELLED")
  func running() throws {
    let desk = Desk()
    try desk.register(Recipe("a", .once))
    let run = try desk.start("a")
    #expect(try desk.cancel("a") == 1)
    #expect(desk.state("a") == .cancelled)
    #expect(desk.record("a")?.changedAt == desk.now)
    #expect(desk.record("a")?.stopReason == .cancelled)
    #expect(desk.record("a")?.lastOutcome == .stopped)
    #expect(desk.stops.map(\.run) == [run])
    #expect(desk.stops.map(\.reason) == [.cancelled])
    #expect(desk.types == [.cancelled])
  }

  @Test("T8 an unknown id is NOT_FOUND, a terminal record 0")
  func nothing() throws {
    let desk = Desk()
    #expect(refusal { try desk.cancel("a") } == .notFound)
    try desk.register(Recipe("a", .once))
    try desk.run("a", .newData)
    #expect(try desk.cancel("a") == 0)
    #expect(desk.state("a") == .succeeded)
    #expect(desk.cancel(tag: "unused") == 0)
    #expect(desk.cancelAll() == 0)
  }

  @Test("T8 all that wait behind are cancelled and counted, whatever their policy")
  func chain() throws {
    let desk = Desk()
    try desk.register(Recipe("a", .once))
    for policy in [ExistingPolicy.append, .appendOrReplace, .append] {
      try desk.register(Recipe("a", .once, existing: policy))
    }
    #expect(try desk.cancel("a") == 4)
    #expect(desk.table.count(.blocked) == 0)
    #expect(desk.state("a") == .cancelled)
    #expect(desk.types == [.cancelled, .cancelled, .cancelled, .cancelled])
  }

  @Test("T8 by tag: every live task that carries it, of both kinds and all schedules")
  func byTag() throws {
    let desk = Desk { $0.places = PerKind(repeating: nil) }
    for (index, schedule) in [Schedule.standing, .once, .periodic, .once].enumerated() {
      try desk.register(
        Recipe("t\(index)", schedule, kind: index % 2 == 0 ? .refresh : .processing) { $0.tags = ["x", "t\(index)"] })
    }
    try desk.register(Recipe("other") { $0.tags = ["y"] })
    try desk.run("t3", .newData)
    #expect(desk.cancel(tag: "x") == 3)
    #expect(desk.state("t3") == .succeeded)
    #expect(desk.state("other") == .enqueued)
    #expect(desk.cancel(tag: "x") == 0)
  }

  @Test("T8 by tag: waiting ones included, and what waits behind them")
  func byTagInChain() throws {
    let desk = Desk()
    try desk.register(Recipe("a", .once))
    for tag in ["u", "v", "w", "v"] {
      try desk.register(Recipe("a", .once, existing: .append) { $0.tags = [tag] })
    }
    #expect(desk.cancel(tag: "v") == 3)
    #expect(desk.state("a") == .enqueued)
    #expect(desk.waiting("a").map { $0.definition.tag(0).text } == ["u"])
    #expect(desk.cancel(tag: "u") == 1)
    #expect(desk.waiting("a").isEmpty)
  }

  @Test("T8 all: held, running, waiting and standing ones")
  func all() throws {
    let desk = Desk { $0.holds = true }
    try desk.register(Recipe("run", .once))
    try desk.start("run")
    try desk.register(Recipe("run", .once, existing: .append))
    try desk.register(Recipe("held", .once))
    try desk.register(Recipe("stand"))
    try desk.register(Recipe("period", .periodic, kind: .processing))
    #expect(desk.cancelAll() == 5)
    #expect(desk.stops.count == 1)
    #expect(desk.table.count(.cancelled) == 4)
    #expect(desk.table.freePlaces(.refresh) == 1)
  }

  @Test("T6 T8 a place freed by cancelling is taken at once")
  func promotion() throws {
    let desk = Desk { $0.holds = true }
    try desk.register(Recipe("a", .once) { $0.tags = ["x"] })
    try desk.register(Recipe("b", .once))
    try desk.register(Recipe("c", .once) { $0.tags = ["x"] })
    #expect(desk.cancel(tag: "x") == 2)
    #expect(desk.state("b") == .enqueued)
    #expect(desk.state("c") == .cancelled)
    #expect(desk.types == [.cancelled, .cancelled, .promoted])
  }

  // MARK: Retention

  @Test("T9 prune removes every terminal record and nothing else")
  func prune() throws {
    let desk = Desk { $0.places = PerKind(repeating: nil) }
    for (index, outcome) in [Outcome.newData, .abandoned, .failed].enumerated() {
      try desk.register(Recipe("t\(index)", .once))
      try desk.run("t\(index)", outcome)
    }
    try desk.register(Recipe("gone"))
    _ = try desk.cancel("gone")
    #expect(desk.table.prune(endedBefore: nil) == 3)
    #expect(desk.state("t2") == .enqueued)
    #expect(desk.record("gone") == nil)
    #expect(desk.table.prune(endedBefore: nil) == 0)
  }

  @Test("T9 records that ended before an instant are removed, later ones stay")
  func retention() throws {
    let desk = Desk(now: 0) { $0.places = PerKind(repeating: nil) }
    for index in 0..<10 {
      try desk.register(Recipe("t\(index)", .once))
      desk.now = Instant(index) * 100
      try desk.run("t\(index)", .newData, after: 0)
    }
    #expect(desk.table.prune(endedBefore: 399) == 4)
    #expect(desk.record("t3") == nil)
    #expect(desk.record("t4") != nil)
    #expect(desk.table.prune(endedBefore: 399) == 0)
    #expect(desk.table.prune(endedBefore: nil) == 6)
  }

  @Test("T9 a record that was replaced or brought back is not removed in its stead")
  func retentionOfReused() throws {
    let desk = Desk()
    try desk.register(Recipe("a", .once))
    try desk.run("a", .newData)
    try desk.register(Recipe("a", .once))
    #expect(desk.table.prune(endedBefore: .max) == 0)
    #expect(desk.state("a") == .enqueued)
    try desk.run("a", .abandoned)
    #expect(desk.table.prune(endedBefore: .max) == 1)
  }

  @Test("T5 T8 a tag lists a task once, however often its definition changes")
  func tagsOfUpdated() throws {
    let desk = Desk()
    let tag = Array("shared".utf8)
    for id in ["a", "b"] { try desk.register(Recipe(id) { $0.tags = ["shared", "own"] }) }
    for round in 0..<2_000 {
      try desk.register(Recipe("a") { $0.tags = round % 3 == 0 ? ["shared"] : ["own", "shared", "\(round)"] })
      if round % 2 == 0 { try desk.register(Recipe("b", existing: .replace) { $0.tags = ["shared"] }) }
    }
    tag.withUnsafeBytes { tag in
      #expect(desk.table.slots(carrying: tag).count == 2)
      #expect(desk.table.tags.members(tag).count < 32)
    }
  }

  @Test("T9 what was replaced after its end is forgotten")
  func endedAndReplaced() throws {
    let desk = Desk { $0.places = PerKind(repeating: nil) }
    try desk.register(Recipe("stays", .once))
    _ = try desk.cancel("stays")
    for _ in 0..<5_000 {
      try desk.register(Recipe("again", .once))
      _ = try desk.cancel("again")
      desk.table.compact()
    }
    #expect(desk.table.ended.count < 1_100)
    #expect(desk.table.prune(endedBefore: nil) == 2)
    #expect(desk.table.ended.count - desk.table.endedHead == 0)
  }

  @Test("T9 many ends and prunes keep count")
  func manyPrunes() throws {
    let desk = Desk { $0.places = PerKind(repeating: nil) }
    var pruned: UInt64 = 0
    for round in 0..<40 {
      for index in 0..<100 { try desk.register(Recipe("t\(index)", existing: .replace)) }
      _ = desk.cancelAll()
      desk.now += 10
      pruned += desk.table.prune(endedBefore: round % 2 == 0 ? desk.now : desk.now - 11)
    }
    _ = desk.table.prune(endedBefore: nil)
    #expect(desk.table.count(.cancelled) == 0)
    #expect(pruned >= 2_000)
  }
}

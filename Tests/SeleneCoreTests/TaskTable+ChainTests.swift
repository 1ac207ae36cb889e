// Successors: what waits behind a once task, in which order it starts, and by whose word (T5).

import SeleneCore
import Testing

@Suite("TaskTable chains") struct TaskTableChainTests {
  private func desk(_ policies: [ExistingPolicy]) throws -> Desk {
    let desk = Desk()
    try desk.register(Recipe("a", .once))
    for (index, policy) in policies.enumerated() {
      #expect(try desk.register(Recipe("a", .once, existing: policy) { $0.tags = ["\(index)"] }) == .appended)
    }
    return desk
  }

  /// The first tag of the visible record: its position in the chain.
  private func head(_ desk: Desk) -> String? {
    desk.record("a").flatMap { $0.definition.tagCount > 0 ? $0.definition.tag(0).text : nil }
  }

  @Test("T5 an appended task waits, first in first out")
  func waits() throws {
    let desk = try desk([.append, .appendOrReplace, .append])
    #expect(desk.waiting("a").map { $0.definition.tag(0).text } == ["0", "1", "2"])
    #expect(desk.waiting("a").allSatisfy { $0.state == .blocked })
    #expect(desk.table.count(.blocked) == 3)
    #expect(desk.changes.first?.state == .blocked)
    #expect(desk.changes.first?.detail == Disposition.appended.rawValue)
  }

  @Test("T5 when the one before succeeds, the next starts as if registered at that moment, in its place")
  func starts() throws {
    let desk = Desk(now: 1_000)
    try desk.register(Recipe("a", .once))
    try desk.register(Recipe("a", .once, existing: .append) { $0.initialDelay = 70 })
    let sequence = try #require(desk.waiting("a").first).sequence
    desk.now = 2_000
    try desk.run("a", .noData, after: 10)
    let record = try #require(desk.record("a"))
    #expect(record.sequence == sequence)
    #expect(record.state == .enqueued)
    #expect(record.registeredAt == 2_010)
    #expect(record.lastRun == 2_010)
    #expect(record.earliestBegin == 2_080)
    #expect(record.attempts == 0)
    #expect(desk.types == [.completed, .unblocked])
    #expect(desk.table.count(.succeeded) == 0)
  }

  @Test("T5 a retry of the one before lets nobody start")
  func retryBlocks() throws {
    let desk = try desk([.append])
    try desk.run("a", .failed)
    #expect(desk.state("a") == .enqueued)
    #expect(desk.waiting("a").count == 1)
  }

  @Test("T5 behind a failure append is born failed, and so on; append or replace starts")
  func failurePropagates() throws {
    let desk = try desk([.append, .append, .appendOrReplace, .append])
    try desk.run("a", .abandoned)
    #expect(head(desk) == "2")
    #expect(desk.state("a") == .enqueued)
    #expect(desk.waiting("a").map { $0.definition.tag(0).text } == ["3"])
    #expect(desk.types == [.completed, .completed, .completed, .unblocked])
    try desk.run("a", .newData)
    #expect(head(desk) == "3")
    #expect(desk.state("a") == .enqueued)
  }

  @Test("T5 a chain of appends fails to its end, and the last is what remains")
  func failsToTheEnd() throws {
    let desk = try desk([.append, .append, .append])
    try desk.run("a", .abandoned)
    #expect(head(desk) == "2")
    #expect(desk.state("a") == .failed)
    #expect(desk.table.count(.failed) == 1)
    #expect(desk.table.count(.blocked) == 0)
    #expect(desk.record("a")?.changedAt == desk.now)
  }

  @Test("T6 a successor takes its predecessor's place; when the chain fails, the place is free for the held")
  func placeOfTheChain() throws {
    let desk = Desk { $0.holds = true }
    try desk.register(Recipe("a", .once))
    try desk.register(Recipe("a", .once, existing: .append))
    try desk.register(Recipe("b", .once))
    #expect(desk.state("b") == .held)
    try desk.run("a", .newData)
    #expect(desk.state("a") == .enqueued)
    #expect(desk.state("b") == .held)
    try desk.run("a", .abandoned)
    #expect(desk.state("b") == .enqueued)
    #expect(desk.types == [.completed, .promoted])
  }

  @Test("T5 at most 1000 wait behind an id")
  func limit() throws {
    let desk = Desk()
    try desk.register(Recipe("a", .once))
    for _ in 0..<1_000 { _ = try desk.table.registerQuietly(Recipe("a", .once, existing: .append), at: desk.now) }
    #expect(refusal { try desk.register(Recipe("a", .once, existing: .append)) } == .tooManyPending)
    #expect(refusal { try desk.register(Recipe("a", .once, existing: .appendOrReplace)) } == .tooManyPending)
    #expect(desk.waiting("a").count == 1_000)
    #expect(desk.table.count(.blocked) == 1_000)
    try desk.run("a", .newData)
    #expect(try desk.register(Recipe("a", .once, existing: .append)) == .appended)
  }

  @Test("T5 append needs a live once task of the same kind")
  func needsOnce() throws {
    let desk = Desk()
    for schedule in [Schedule.standing, .periodic] {
      try desk.register(Recipe("\(schedule)", schedule, kind: .processing))
      #expect(
        refusal { try desk.register(Recipe("\(schedule)", .once, kind: .processing, existing: .append)) }
          == .invalidArgument)
    }
    try desk.register(Recipe("once", .once))
    #expect(
      refusal { try desk.register(Recipe("once", .once, kind: .processing, existing: .appendOrReplace)) }
        == .invalidArgument)
    #expect(desk.table.count(.blocked) == 0)
  }

  @Test("T5 an update goes to the record that shows, not to those behind it")
  func updateOfTheHead() throws {
    let desk = try desk([.append])
    #expect(try desk.register(Recipe("a", .once, priority: 5, existing: .update)) == .updated)
    #expect(desk.record("a")?.priority == 5)
    #expect(desk.waiting("a").first?.priority == 3)
  }

  @Test("T5 one may append behind a held task, and the chain goes on when it has its place")
  func behindHeld() throws {
    let desk = Desk { $0.holds = true }
    try desk.register(Recipe("first", .once))
    #expect(try desk.register(Recipe("a", .once)) == .held)
    #expect(try desk.register(Recipe("a", .once, existing: .append)) == .appended)
    try desk.run("first", .newData)
    #expect(desk.state("a") == .enqueued)
    try desk.run("a", .newData)
    #expect(desk.state("a") == .enqueued)
    #expect(desk.waiting("a").isEmpty)
  }

  @Test("T9 a successor whose predecessor is pruned away waits no more: only live ones are waited for")
  func pruneLeavesChains() throws {
    let desk = try desk([.append, .append])
    #expect(desk.table.prune(endedBefore: nil) == 0)
    #expect(desk.waiting("a").count == 2)
    try desk.run("a", .newData)
    try desk.run("a", .newData)
    try desk.run("a", .newData)
    #expect(desk.table.prune(endedBefore: nil) == 1)
    #expect(desk.record("a") == nil)
  }
}

extension TaskTable {
  /// Registers without looking at every record afterwards.
  fileprivate func registerQuietly(_ recipe: Recipe, at now: Instant) throws -> Disposition {
    var changes = Changes(isObserved: false)
    return try register(recipe.define(), at: now, enabled: .all, &changes)
  }
}

// The limits of pending requests, and who takes the next free place (T6).

import SeleneCore
import Testing

@Suite("TaskTable limits") struct TaskTableLimitTests {
  @Test("T6 by default any number of requests may be pending")
  func defaults() {
    #expect(Policy().places.refresh == nil)
    #expect(Policy().places.processing == nil)
  }

  @Test("T6 with a phone's limits one refresh and ten processing requests may be pending")
  func phone() throws {
    let desk = Desk()
    try desk.register(Recipe("r0", .once))
    #expect(refusal { try desk.register(Recipe("r1", .once)) } == .tooManyPending)
    for index in 0..<10 { try desk.register(Recipe("p\(index)", .periodic, kind: .processing)) }
    #expect(refusal { try desk.register(Recipe("p10", .once, kind: .processing)) } == .tooManyPending)
    #expect(desk.record("r1") == nil)
    #expect(desk.table.lastSequence == 11)
  }

  @Test("T6 any number can be the limit", arguments: [0, 1, 3, 100] as [UInt32])
  func anyLimit(limit: UInt32) throws {
    let desk = Desk { $0.places = PerKind(refresh: limit, processing: 0) }
    for index in 0..<limit { try desk.register(Recipe("r\(index)", .once)) }
    #expect(refusal { try desk.register(Recipe("more", .once)) } == .tooManyPending)
    #expect(refusal { try desk.register(Recipe("more", .once, kind: .processing)) } == .tooManyPending)
  }

  @Test("T6 without a limit nobody is refused")
  func unlimited() throws {
    let desk = Desk { $0.places = PerKind(repeating: nil) }
    for index in 0..<200 { #expect(try desk.register(Recipe("r\(index)", .once)) == .added) }
  }

  @Test("T6 standing tasks and those who wait behind others do not count")
  func whoCounts() throws {
    let desk = Desk()
    for index in 0..<5 { try desk.register(Recipe("s\(index)")) }
    try desk.register(Recipe("a", .once))
    for _ in 0..<5 { #expect(try desk.register(Recipe("a", .once, existing: .append)) == .appended) }
    #expect(desk.table.freePlaces(.refresh) == 0)
    #expect(desk.table.freePlaces(.processing) == 10)
  }

  @Test("T6 a place is kept from registration to the terminal state, through retries and periods")
  func keptPlace() throws {
    let desk = Desk()
    try desk.register(Recipe("a", .periodic))
    for outcome in [Outcome.failed, .expired, .newData, .abandoned, .noData] {
      try desk.start("a")
      #expect(desk.table.freePlaces(.refresh) == 0)
      try desk.finish("a", outcome)
      #expect(desk.table.freePlaces(.refresh) == 0)
    }
    _ = try desk.cancel("a")
    #expect(desk.table.freePlaces(.refresh) == 1)
  }

  @Test("T6 each end of a task frees its place", arguments: [Outcome.newData, .abandoned])
  func freedPlace(outcome: Outcome) throws {
    let desk = Desk()
    try desk.register(Recipe("a", .once))
    try desk.run("a", outcome)
    #expect(try desk.register(Recipe("b", .once)) == .added)
  }

  @Test("T6 the same id never counts twice")
  func sameId() throws {
    let desk = Desk()
    try desk.register(Recipe("a", .once))
    #expect(try desk.register(Recipe("a", .once, existing: .replace)) == .replaced)
    #expect(try desk.register(Recipe("a", .once, existing: .update)) == .updated)
    #expect(try desk.register(Recipe("a", .once)) == .kept)
  }

  // MARK: Hold

  private func holding(_ limit: UInt32 = 1) -> Desk {
    Desk {
      $0.holds = true
      $0.places = PerKind(repeating: limit)
    }
  }

  @Test("T6 with the option hold, what finds no place is held")
  func held() throws {
    let desk = holding()
    #expect(try desk.register(Recipe("a", .once)) == .added)
    #expect(try desk.register(Recipe("b", .once)) == .held)
    #expect(desk.state("b") == .held)
    #expect(desk.types == [.registered, .held])
    #expect(try desk.register(Recipe("c", .once, kind: .processing)) == .added)
  }

  @Test("T6 a free place goes to the higher priority, then to the lower sequence")
  func promotionOrder() throws {
    let desk = holding()
    try desk.register(Recipe("first", .once))
    for (id, priority) in [("low", 1), ("high", 4), ("late", 4), ("top", 5), ("mid", 3)] as [(String, Int32)] {
      try desk.register(Recipe(id, .once, priority: priority))
    }
    var order: [String] = []
    var current = "first"
    while desk.table.count(.held) > 0 {
      try desk.run(current, .newData)
      let promoted = try #require(desk.changes.last)
      #expect(promoted.type == .promoted)
      current = try #require(promoted.definition).id.text
      order.append(current)
    }
    #expect(order == ["top", "high", "late", "mid", "low"])
  }

  @Test("T6 promotion changes only the state")
  func promotionKeeps() throws {
    let desk = holding()
    try desk.register(Recipe("a", .once))
    try desk.register(Recipe("b", .once) { $0.initialDelay = 50 })
    let before = try #require(desk.record("b"))
    desk.now += Time.hour
    _ = try desk.cancel("a")
    let after = try #require(desk.record("b"))
    #expect(after.state == .enqueued)
    #expect(after.registeredAt == before.registeredAt)
    #expect(after.earliestBegin == before.earliestBegin)
    #expect(after.lastRun == before.lastRun)
    #expect(after.sequence == before.sequence)
    #expect(after.generation == before.generation)
  }

  @Test("T6 a raised priority counts for the next free place")
  func updatedPriority() throws {
    let desk = holding()
    try desk.register(Recipe("a", .once))
    try desk.register(Recipe("b", .once, priority: 4))
    try desk.register(Recipe("c", .once, priority: 2))
    try desk.register(Recipe("c", .once, priority: 5, existing: .update))
    _ = try desk.cancel("a")
    #expect(desk.state("c") == .enqueued)
    #expect(desk.state("b") == .held)
  }

  @Test("T6 a place freed by a replacement of another kind is taken at once")
  func promotionByReplace() throws {
    let desk = holding()
    try desk.register(Recipe("a", .once))
    try desk.register(Recipe("b", .once))
    #expect(try desk.register(Recipe("a", .once, kind: .processing, existing: .replace)) == .replaced)
    #expect(desk.state("b") == .enqueued)
    #expect(desk.types == [.cancelled, .registered, .promoted])
  }

  @Test("T6 random registrations and ends: places never exceed the limit, nobody is held while one is free")
  func randomPlaces() throws {
    var chance = Chance("T6")
    let desk = Desk {
      $0.holds = true
      $0.places = PerKind(refresh: 2, processing: 3)
    }
    for step in 0..<1_500 {
      let id = "t\(chance.below(14))"
      switch chance.below(6) {
      case 0, 1, 2:
        let schedule = chance.pick([Schedule.standing, .once, .periodic])
        _ = refusal {
          try desk.register(
            Recipe(
              id, schedule, kind: chance.pick(Kind.allCases), priority: Int32(1 + chance.below(5)),
              existing: chance.pick([.keep, .replace, .update])))
        }
      case 3: _ = refusal { try desk.cancel(id) }
      default:
        if desk.state(id) == .enqueued { try desk.run(id, chance.pick([.newData, .failed, .abandoned, .expired])) }
      }
      for (kind, limit) in [(Kind.refresh, 2), (.processing, 3)] {
        let records = desk.table.slots.filter { !desk.table.isVacant($0) }.map { desk.table[$0] }.filter {
          $0.kind == kind
        }
        let places = records.filter { $0.definition.schedule != .standing && $0.state == .enqueued }.count
        try verify(places <= limit, "step \(step): \(places) \(kind) tasks are pending")
        try verify(
          places == limit || !records.contains { $0.state == .held }, "step \(step): a \(kind) task is held for nothing"
        )
      }
    }
  }
}

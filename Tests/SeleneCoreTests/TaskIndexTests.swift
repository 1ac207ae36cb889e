// The index against sorting and scanning all: the same picks in the same order with the same scores.

import SeleneCore
import Testing

@Suite("TaskIndex") struct TaskIndexTests {
  /// A table whose tasks come and go, on a clock that goes on.
  private final class Yard {
    let table: TaskTable
    var now: Instant = 1_000 * Time.day
    private var lastRun: UInt64 = 0
    /// Of runs that never come back: a run holds its definition as long as that is taken.
    private var unreturned: [TaskDefinition] = []
    private var next = 0
    private let estimates: [Span]
    /// How many groups there are; half of the tasks are in one.
    private let groups: Int
    /// Of the groups the runs that have not come back.
    private var running: [String: UInt32] = [:]
    /// Runs that went on for a while.
    private var lingering: [(slot: Int, definition: TaskDefinition)] = []
    /// The diary of the freshness rule, if that ranks.
    private(set) var diary: PlainFreshness?

    init(_ chance: inout Chance, byFreshness: Bool = false) throws {
      var policy = Policy()
      policy.freshness = byFreshness
      diary = byFreshness ? PlainFreshness() : nil
      policy.places = PerKind(refresh: chance.once(in: 2) ? nil : 40, processing: nil)
      policy.holds = true
      policy.expeditedQuota = chance.pick([10 * Time.minute, Time.second, 10 * Time.second, Time.never, 0])
      let table = TaskTable(policy, generator: Generator(seed: 1))
      self.table = table
      _ = try "pushed".withBytes { try table.addHandler($0, pushes: true) }
      _ = try "pulled".withBytes { try table.addHandler($0, pushes: false) }
      groups = chance.pick([0, 1, 3, 40])
      // From all equal to all different; some cost nothing, some more than any window has.
      estimates = chance.pick([
        [5], [0, 1, 2, 3], diary == nil ? [-1, 0, 1 << 16, 3 * Time.second] : [0],
        [0, 1 << 16, 1 << 17, 1 << 40, Time.day],
        (0..<500).map { _ in chance.anySpan(upTo: 30 * Time.second) },
      ])
    }

    func register(_ id: Int, _ chance: inout Chance) throws {
      let recipe = Recipe("task.\(id)", chance.pick([.standing, .standing, .once, .periodic])) {
        $0.kind = Int32(chance.pick(Kind.allCases).rawValue)
        $0.priority = Int32(1 + chance.below(5))
        $0.handler = chance.once(in: 8) ? "pulled" : chance.once(in: 20) ? "nobody" : "pushed"
        $0.constraints = chance.once(in: 4) ? UInt32(chance.below(4)) : 0
        $0.expectedResponse = chance.pick(estimates)
        $0.responseWindow = Int32(chance.below(4))
        $0.initialDelay = chance.once(in: 5) ? chance.anySpan(upTo: Time.minute) : 0
        $0.existing = chance.once(in: 3) ? Int32(ExistingPolicy.replace.rawValue) : -1
        if $0.schedule == Int32(Schedule.once.rawValue) && chance.once(in: 2) {
          $0.latestBegin = $0.initialDelay + 1 + chance.anySpan(upTo: chance.pick([Time.minute, Time.hour, Time.day]))
        }
        $0.flags = chance.once(in: 6) ? TaskDefinition.steady : 0
        if $0.schedule == Int32(Schedule.once.rawValue) && chance.once(in: 2) { $0.flags |= TaskDefinition.expedited }
        $0.group = groups > 0 && chance.once(in: 2) ? "group.\(chance.below(groups))" : ""
        $0.conditions = chance.once(in: 4) ? (0..<1 + chance.below(2)).map { _ in "condition.\(chance.below(12))" } : []
        $0.tags = chance.once(in: 5) ? ["tag.\(chance.below(3))"] : []
      }
      var changes = Changes(isObserved: false)
      // Some updates are refused, because kind or schedule differ.
      _ = try? table.register(recipe.define(in: table), at: now, enabled: .all, &changes)
    }

    func grow(by count: Int, _ chance: inout Chance) throws {
      for _ in 0..<count {
        try register(next, &chance)
        next += 1
        if chance.once(in: 3) { now += chance.anySpan(upTo: Time.second) }
      }
    }

    func run(_ slot: Int, _ chance: inout Chance, dispatched: () -> Void = {}) {
      lastRun += 1
      let definition = table[slot].definition
      let run = lastRun
      if table.isExpedited(slot) { table.expedited.begin(run, at: now) }
      defer { _ = table.expedited.end(run, at: now) }
      table.dispatch(slot, as: lastRun, at: now)
      dispatched()
      table.take(slot)
      if let group = definition.group { running[group.name.buffer.text, default: 0] += 1 }
      if chance.once(in: 2) { now += chance.anySpan(upTo: Time.second) }
      guard !chance.once(in: 6) else { return unreturned.append(definition) }
      var changes = Changes(isObserved: false)
      let outcome = chance.pick([Outcome.newData, .newData, .noData, .noData, .failed, .expired, .abandoned])
      let time = chance.pick(estimates)
      diary?.note(table[slot], outcome, took: time, at: now)
      table.complete(slot, outcome, at: now, responseTime: time, retryDelay: nil, &changes)
      if chance.once(in: 3) { return lingering.append((slot, definition)) }
      comeBack(slot, definition)
    }

    private func comeBack(_ slot: Int, _ definition: TaskDefinition) {
      table.release(definition, slot)
      if let group = definition.group { running[group.name.buffer.text, default: 0] -= 1 }
    }

    /// What the groups count is what was counted here.
    func verifyGroups() throws {
      var waiting: [String: UInt64] = [:]
      for slot in table.slots where !table.isVacant(slot) {
        let record = table[slot]
        guard let group = record.definition.group, [.enqueued, .held, .blocked].contains(record.state) else { continue }
        waiting[group.name.buffer.text, default: 0] += 1
      }
      for group in table.terms.groups.inUse {
        let name = group.name.buffer.text
        try verify(group.running == running[name] ?? 0, "runs of \(name)")
        try verify(group.waiting == waiting[name] ?? 0, "tasks that wait of \(name)")
        waiting[name] = nil
      }
      try verify(waiting.isEmpty, "every group that has tasks is known")
    }

    /// Something that is not a run.
    func interfere(_ chance: inout Chance) throws {
      var changes = Changes(isObserved: false)
      if groups > 0 && chance.once(in: 3) {
        _ = "group.\(chance.below(groups))".withBytes { name in
          table.set(
            group: name, GroupTerms(limit: UInt32(chance.below(4)), isPaused: chance.once(in: 4)))
        }
      }
      if chance.once(in: 2), !lingering.isEmpty {
        let run = lingering.remove(at: chance.below(lingering.count))
        comeBack(run.slot, run.definition)
      }
      switch chance.below(8) {
      case 0: _ = try? "task.\(chance.below(max(1, next)))".withBytes { try table.cancel(id: $0, at: now, &changes) }
      case 1:
        if chance.once(in: 20) { _ = "tag.\(chance.below(3))".withBytes { table.cancel(tag: $0, at: now, &changes) } }
      case 2: _ = table.prune(endedBefore: nil)
      case 3: now += chance.anySpan(upTo: Time.minute)
      case 4, 5: try register(chance.below(max(1, next)), &chance)
      default: try grow(by: 1, &chance)
      }
      table.checkInvariants()
      try verifyGroups()
    }
  }

  private func diaryAgrees(_ yard: Yard, _ record: TaskRecord) -> Bool {
    guard let diary = yard.diary else { return true }
    return record.paceTerms.cost == diary.cost(record) && record.estimate == diary.estimate(record)
      && record.pace == diary.pace(record)
  }

  /// What a window offers, of constraints and of conditions of the host.
  private func satisfied(_ chance: inout Chance) -> Needs {
    Needs(chance.pick([.all, .all, .network, .externalPower, []]), host: chance.pick([.max, 0, 0x5A5, 0xF0F, 0x7FE]))
  }

  /// Plays one cycle on both; how many answers were compared.
  private func play(_ yard: Yard, picks: Int, _ chance: inout Chance) throws -> Int {
    let table = yard.table
    var offer = Offer(
      kinds: chance.pick([.all, KindSet(.refresh), KindSet(.processing)]),
      satisfied: satisfied(&chance), pushes: chance.once(in: 3),
      observedRange: yard.diary == nil && chance.once(in: 2))
    let begin = yard.now
    let ranking = table.openRanking(offer, at: begin)
    defer { table.close(ranking) }
    var plain = PlainRanking(table, offer, at: begin, yard.diary)
    try verify(ranking.eligibleCount == plain.eligibleCount, "\(ranking.eligibleCount) of \(plain.eligibleCount)")
    let order = plain.slots(in: table)
    for _ in 0..<min(5, order.count) {
      let place = chance.below(order.count)
      try verify(ranking.rank(of: order[place], in: table) == place + 1, "rank \(place + 1)")
      let record = table[order[place]]
      try verify(diaryAgrees(yard, record), "cost, estimate or pace of number \(record.sequence)")
    }
    var compared = 1 + min(5, order.count)
    let window = chance.pick([Time.second, 30 * Time.second, Time.hour])
    let isStrict = chance.once(in: 3)
    for pick in 0..<picks {
      compared += 2
      let room = pick == 0 && !isStrict ? .any : Room(max(0, begin + window - yard.now), isStrict: isStrict)
      let found = ranking.best(in: table, offer, room: room)
      let expected = plain.take(in: table, offer, room: room)
      try verify(found?.slot == expected?.slot, "pick \(pick): \(String(describing: expected)) expected")
      guard let found, let expected else {
        var awaits = false
        ranking.forEachAwaited(in: table, offer, room: room) { _ in awaits = true }
        try verify(awaits == plain.awaitsGroup(in: table, offer, room: room), "pick \(pick): waits for a group")
        if table.terms.groups.inUse.isEmpty || pick + 1 == picks { break }
        // A group may get room again.
        try yard.interfere(&chance)
        continue
      }
      try verify(abs(found.score - expected.score) < 1e-12, "pick \(pick): \(found.score) is not \(expected.score)")
      ranking.remove(found)
      yard.run(found.slot, &chance)
      if chance.once(in: 3) { try yard.interfere(&chance) }
      if chance.once(in: 10) { offer.satisfied = satisfied(&chance) }
      if chance.once(in: 15) { offer.kinds = chance.pick([.all, KindSet(.refresh), KindSet(.processing)]) }
      try verify(ranking.remaining(in: table, offer) == plain.remaining(in: table, offer), "pick \(pick): remaining")
    }
    return compared
  }

  /// Plays one rolling window on both: each pick is the best of what is eligible then.
  private func roll(_ yard: Yard, picks: Int, _ chance: inout Chance) throws -> Int {
    let table = yard.table
    var offer = Offer(
      kinds: chance.pick([.all, KindSet(.refresh), KindSet(.processing)]),
      satisfied: satisfied(&chance), pushes: chance.once(in: 3),
      observedRange: yard.diary == nil && chance.once(in: 2))
    let begin = yard.now
    let ranking = table.openRanking(offer, at: begin)
    var spent: [(slot: Int, sequence: UInt64)] = []
    var compared = 0
    let window = chance.pick([Time.second, 30 * Time.second, Time.hour])
    let isStrict = chance.once(in: 3)
    for pick in 0..<picks {
      compared += 2
      let room = pick == 0 && !isStrict ? .any : Room(max(0, begin + window - yard.now), isStrict: isStrict)
      ranking.renew(table, offer, at: yard.now)
      var plain = PlainRanking(table, offer, at: yard.now, yard.diary)
      let found = ranking.best(in: table, offer, room: room)
      let expected = plain.take(in: table, offer, room: room)
      try verify(found?.slot == expected?.slot, "pick \(pick): \(String(describing: expected)) expected")
      try verify(ranking.eligibleCount == plain.eligibleCount + (expected == nil ? 0 : 1), "pick \(pick): eligible")
      if let found, let expected {
        try verify(abs(found.score - expected.score) < 1e-12, "pick \(pick): \(found.score) is not \(expected.score)")
        let record = table[found.slot]
        try verify(
          !spent.contains { $0.sequence == record.sequence } || record.definition.schedule != .standing,
          "pick \(pick): a standing task runs once a window")
        ranking.remove(found)
        let sequence = record.sequence
        let isStanding = record.definition.schedule == .standing
        yard.run(found.slot, &chance) { if isStanding { table.spend(found.slot) } }
        if isStanding { spent.append((found.slot, sequence)) }
      } else {
        // What time alone lets be eligible next.
        let next = table.nextDue(offer, at: yard.now)
        let plainly = table.slots
          .filter {
            !table.isVacant($0) && !table[$0].isSpent && table.isRunnable($0, offer)
              && table[$0].earliestBegin > yard.now
          }
          .map { table[$0].earliestBegin }.min()
        try verify(next == plainly ?? Time.never, "pick \(pick): next due")
        yard.now = next == Time.never || chance.once(in: 2) ? yard.now + chance.anySpan(upTo: Time.second) : next
      }
      if chance.once(in: 3) { try yard.interfere(&chance) }
      if chance.once(in: 10) { offer.satisfied = satisfied(&chance) }
    }
    table.close(ranking)
    for (slot, sequence) in spent { table.renew(slot, sequence) }
    table.checkInvariants()
    try verify(table.slots.allSatisfy { !table[$0].isSpent }, "nothing is spent after the window")
    return compared
  }

  @Test("R1 F7 in a rolling window each pick is what sorting all picks at that moment", arguments: [false, true])
  func rolling(byFreshness: Bool) throws {
    var chance = Chance("index rolling \(byFreshness)")
    var compared = 0
    for _ in 0..<Effort.of(15) {
      let yard = try Yard(&chance, byFreshness: byFreshness)
      for _ in 0..<12 {
        try yard.grow(by: chance.below(12), &chance)
        compared += try roll(yard, picks: 30, &chance)
        yard.now += chance.anySpan(upTo: Time.minute)
      }
    }
    let yard = try Yard(&chance, byFreshness: byFreshness)
    try yard.grow(by: min(3_000, Effort.of(3_000)), &chance)
    compared += try roll(yard, picks: 20, &chance)
    print("\(compared) answers of rolling windows compared")
    #expect(compared > Effort.of(5_000))
  }

  @Test(
    "S2 S3 S4 F7 C2 the index picks what sorting all picks, while tasks come, go, change and run",
    arguments: [false, true])
  func manySmall(byFreshness: Bool) throws {
    var chance = Chance("index small \(byFreshness)")
    var compared = 0
    for _ in 0..<Effort.of(30) {
      let yard = try Yard(&chance, byFreshness: byFreshness)
      for _ in 0..<12 {
        try yard.grow(by: chance.below(12), &chance)
        compared += try play(yard, picks: 30, &chance)
        yard.now += chance.anySpan(upTo: Time.minute)
      }
    }
    print("\(compared) answers of small populations compared")
    #expect(compared > Effort.of(5_000))
  }

  @Test("S2 S3 S4 F7 C2 of five thousand tasks, too", arguments: [false, true])
  func large(byFreshness: Bool) throws {
    var chance = Chance("index large \(byFreshness)")
    var compared = 0
    for _ in 0..<Effort.of(3) {
      let yard = try Yard(&chance, byFreshness: byFreshness)
      try yard.grow(by: 5_000, &chance)
      for _ in 0..<4 {
        compared += try play(yard, picks: 25, &chance)
        yard.now += chance.anySpan(upTo: Time.hour)
      }
    }
    print("\(compared) answers of large populations compared")
    #expect(compared > Effort.of(100))
  }
}

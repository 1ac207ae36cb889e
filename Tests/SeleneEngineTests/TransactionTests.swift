// A call that the store refuses changes nothing (D2): each is made with a store that refuses, compared with what was before,
// and made again; beside it goes a twin whose store never refuses.

import Glibc
import SeleneCore
import SeleneGovernor
import Testing

@testable import SeleneEngine

/// A store that keeps nothing but which runs other processes have, and refuses one save when asked to.
private final class RefusingStore: Store {
  /// How many saves until one is refused; 0 for none.
  var refusesIn = 0
  private(set) var hasRefused = false
  private(set) var tokens: Set<UInt64> = []

  override var isDurable: Bool { true }

  private func take() throws(SeleneError) {
    if refusesIn > 0 {
      refusesIn -= 1
      if refusesIn == 0 {
        hasRefused = true
        throw SeleneError(.storeFull, "the test refuses it")
      }
    }
    commits += 1
  }

  func refuse(in saves: Int) { (refusesIn, hasRefused) = (saves, false) }

  override func save(
    _ table: TaskTable, _ state: StoredState, _ books: StoredBooks?, isLast: Bool
  ) throws(SeleneError) {
    try take()
    for change in runs {
      if change.run != nil { tokens.insert(change.token) } else { tokens.remove(change.token) }
    }
  }

  override func erase(_ state: StoredState, _ books: StoredBooks) throws(SeleneError) {
    try take()
    tokens = []
  }
}

/// The texts of many drafts, which live as long as this does.
private final class Texts {
  private var kept: [UnsafeMutableRawBufferPointer] = []

  deinit { for text in kept { text.deallocate() } }

  func read(_ recipe: Recipe, _ draft: inout TaskDraft) {
    recipe.withDraft { found in
      draft.numbers = found.numbers
      (draft.id, draft.handler) = (keep(found.id), keep(found.handler))
      (draft.input, draft.group) = (keep(found.input), keep(found.group))
      draft.tags = found.tags.map(keep)
      draft.after = found.after.map(keep)
      draft.conditions = found.conditions.map(keep)
    }
  }

  private func keep(_ text: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: max(1, text.count), alignment: 1)
    copy.copyMemory(from: text)
    kept.append(copy)
    return UnsafeRawBufferPointer(rebasing: copy[..<text.count])
  }
}

/// A host with such a store, and what its observer and stop functions heard.
private final class Subject {
  let store = RefusingStore()
  let host: Host
  private final class Heard { var lines: [String] = [] }
  private let heard = Heard()
  private(set) var cycles: [UInt64] = []
  private(set) var tokens: [UInt64] = []
  /// The last process that joined, the numbers of its runs, and its windows.
  private var member: UInt64 = 0
  private var memberRuns: [UInt64] = []
  private var shares: [UInt64] = []

  init(_ start: Instant, holds: Bool) throws {
    host = try Host(at: start, store: store) {
      $0.holds = holds
      ($0.maxPendingRefresh, $0.maxPendingProcessing, $0.seed, $0.backoffJitter) = (2, 3, 7, 300)
      $0.expeditedQuota = holds ? Time.never : 10 * Time.hour
    }
    let heard = heard
    try host.observe { event in
      let change = event.change
      // That a store refuses is told, and only that.
      guard change.type != .trouble else { return }
      heard.lines.append(
        "\(change.type) \(change.definition?.id.text ?? "-") \(String(describing: change.state)) \(change.attempts) "
          + "\(change.detail) \(change.kinds.rawValue) \(change.run & Token.numberMask) \(change.timeAt) \(event.time)")
    }
    for name in ["h", "i"] {
      try host.addHandler(name, stop: { heard.lines.append("stop \($0 & Token.numberMask) \($1)") })
    }
  }

  /// All that can be seen of it and that does not have the number of its slot.
  func describe() throws -> String {
    // What time does by itself, and what was refused before, comes first.
    try host.enter { _, _ in }
    return try host.enter { scheduler, moment in
      var lines: [String] = ["now \(moment.now)"]
      let table = scheduler.table
      for slot in table.slots where !table.isVacant(slot) {
        let record = table[slot]
        let sight = Sight(record)
        lines.append(
          "\(sight.id) \(sight.sequence) \(sight.state) \(sight.attempts) \(sight.generation) \(sight.registeredAt) "
            + "\(sight.earliestBegin) \(sight.anchor) \(sight.periodBase) \(sight.lastRun) \(record.changedAt) "
            + "\(sight.responseTimes) \(String(describing: sight.lastOutcome)) \(sight.stopReason) "
            + "\(String(describing: sight.failedAt)) \(String(describing: sight.failedAttempt)) "
            + "\(sight.run & Token.numberMask) \(record.isTaken) \(record.isSpent) \(record.handler) "
            + "\(sight.definition.priority) \(table.waiting(behind: slot).map { table[$0].sequence }) "
            + "\(sight.isPaused) \(sight.isNextSaid) \(sight.definition.needs.rawValue >> 32 != 0) "
            + "\(table.waitsFor(slot)) \(table.isExpedited(slot))")
      }
      lines.sort()
      for raw: UInt8 in 0...6 { lines.append("\(TaskState(rawValue: raw).map { table.count($0) } ?? 0)") }
      for kind in Kind.allCases {
        lines.append("\(kind) \(table.freePlaces(kind)) \(String(describing: scheduler.pace[kind].lastBegin))")
      }
      lines.append("\(table.lastSequence) \(table.generator.state) \(scheduler.runs.last)")
      for name in scheduler.groupNames {
        let group = try scheduler.group(name.buffer)
        lines.append("group \(name.buffer.text) \(group.limit) \(group.isPaused) \(group.running) \(group.waiting)")
      }
      for pause in scheduler.pauses {
        lines.append("pause \(pause.pool?.buffer.text ?? "") \(pause.kinds.rawValue) \(pause.until)")
      }
      for name in scheduler.conditionNames {
        lines.append("condition \(name.buffer.text) \(try scheduler.condition(name.buffer))")
      }
      let governor = scheduler.governance.governor
      lines.append("\(governor.ledger.numbers) \(governor.prediction.numbers) \(governor.profile.numbers)")
      Signal.forEach { signal in
        let reading = governor.signals.reading(signal, at: moment.now)
        lines.append("\(signal) \(reading.value) \(reading.source) \(reading.until)")
      }
      let hostSet = governor.signals.hostSet(at: moment.now)
      lines.append("\(scheduler.conditions.satisfied.rawValue) \(hostSet.rawValue)")
      for cycle in scheduler.cycles {
        lines.append(
          "cycle \(cycle.time.begin) \(cycle.time.deadline) \(cycle.kinds.rawValue) \(cycle.booked.rawValue) "
            + "\(cycle.preempted.rawValue) \(cycle.openRuns) \(cycle.hasExpired) \(cycle.isEnded)")
        for run in cycle.runs {
          lines.append(
            "run \(run.token & Token.numberMask) \(String(describing: run.outcome)) \(run.stopReason) "
              + "\(run.wasAskedToStop) \(run.isBack) \(run.endedAt)")
        }
      }
      lines.append("quota \(table.expedited.numbers) \(table.expedited.isUsedUp) \(table.expedited.changesAt)")
      let forgotten = scheduler.adoption.unsaved.filter { $0.run == nil }.map(\.token)
      lines.append("stored \(store.tokens.subtracting(forgotten).map { $0 & Token.numberMask }.sorted())")
      for pool in scheduler.crews.pools {
        for kind in Kind.allCases { lines.append("pool \(kind) \(String(describing: pool.pace[kind].lastBegin))") }
      }
      scheduler.crews.members.forEach { member in
        lines.append("member \(member.openRuns().map { $0.token & Token.numberMask }) \(member.shares.count)")
      }
      var out: [UInt64] = []
      scheduler.runs.forEach { out.append($0.token & Token.numberMask) }
      lines.append("\(out.sorted())")
      if let writer = scheduler.governance.recording?.writer { lines.append("\(writer)") }
      return (lines + heard.lines).joined(separator: "\n")
    }
  }

  /// A step: what it answers, as text.
  func take(_ step: Step) throws -> String {
    switch step {
    case .register(let recipe): return "\(try host.register(recipe))"
    case .batch(let recipes):
      let texts = Texts()
      let results = try host.enter {
        try $0.register(count: recipes.count, read: { texts.read(recipes[$0], &$1) }, at: $1)
      }
      return results.map {
        switch $0 {
        case .success(let disposition): "\(disposition)"
        case .failure(let error): "refused \(error.code)"
        }
      }.joined(separator: " ")
    case .join:
      guard member == 0 else { return "none" }
      member = try "p".withBytes { pool in
        try host.enter { scheduler, _ in
          let number = try scheduler.join(pool, process: getpid())
          if let made = scheduler.crews.members[number] {
            try "m".withBytes { try scheduler.offer($0, isCalled: false, by: made) }
          }
          return number
        }
      }
    case .memberBegins(let kinds, let lanes):
      let draft = Host.window(Time.minute) { ($0.kinds, $0.lanes) = (kinds, lanes) }
      return try withMember { scheduler, member, moment in
        let cycle = try scheduler.begin(scheduler.window(draft), for: member, at: moment)
        if !shares.contains(cycle.handle) { shares.append(cycle.handle) }
        return "begun \(cycle.time.deadline)"
      }
    case .memberNext(let place):
      guard !shares.isEmpty else { return "none" }
      return try withMember { scheduler, member, moment in
        let cycle = try scheduler.cycle(shares[place % shares.count], of: member)
        let step = try scheduler.next(cycle, for: member, at: moment)
        guard case .run(let run) = step else { return "\(step)" }
        memberRuns.append(Token(rawValue: run.token).number)
        return "run \(run.token & Token.numberMask)"
      }
    case .memberCompletes(let place, let outcome):
      guard !memberRuns.isEmpty else { return "none" }
      return try withMember { scheduler, member, moment in
        let number = memberRuns[place % memberRuns.count]
        try scheduler.complete(number, outcome.rawValue, retryDelay: nil, by: member, at: moment)
        return "completed"
      }
    case .memberEnds(let place):
      guard !shares.isEmpty else { return "none" }
      return try withMember { scheduler, member, moment in
        let cycle = try scheduler.cycle(shares[place % shares.count], of: member)
        let report = try scheduler.end(cycle, for: member, at: moment)
        return "\(report.tally.result) \(report.runs.count) \(report.endedAt)"
      }
    case .leave(let how):
      return try withMember { scheduler, member, moment in
        scheduler.leave(member, how, at: moment)
        (self.member, memberRuns, shares) = (0, [], [])
        return "left"
      }
    case .cancel(let id): return "\(try host.cancel(id))"
    case .retry(let id): try host.retry(id)
    case .cancelTag: return "\(try host.cancel(tag: "t"))"
    case .cancelAll: return "\(try host.cancelAll())"
    case .prune: return "\(try host.prune())"
    case .reset: try host.reset()
    case .begin(let kinds, let budget, let lanes):
      cycles.append(
        try host.begin(budget) {
          $0.kinds = kinds
          $0.lanes = lanes
        })
    case .beginNow(let id): cycles.append(try host.beginNow(id, Time.minute))
    case .next(let place):
      guard !cycles.isEmpty else { return "none" }
      let step = try host.next(cycles[place % cycles.count])
      guard case .run(let run) = step else { return "\(step)" }
      tokens.append(run.token)
      return "run \(run.token & Token.numberMask)"
    case .complete(let place, let outcome):
      guard !tokens.isEmpty else { return "none" }
      try host.complete(tokens[place % tokens.count], outcome)
    case .end(let place):
      guard !cycles.isEmpty else { return "none" }
      let report = try host.end(cycles[place % cycles.count])
      return "\(report.tally.result) \(report.runs.count) \(report.endedAt)"
    case .satisfy(let constraints): try host.satisfy(constraints)
    case .signal(let signal, let value, let validFor):
      try host.enter { try $0.setSignal(Int32(signal.rawValue), value, validFor: validFor, at: $1) }
    case .clear(let signal): try host.enter { try $0.clearSignal(Int32(signal.rawValue), at: $1) }
    case .profile(let profile): try host.enter { try $0.setProfile(profile.profile, at: $1) }
    case .use(let bytes): try host.enter { try $0.reportUse(of: 1, cpuTime: Time.second, bytes: bytes, at: $1) }
    case .pause(let isPaused, let id): return "\(try host.pause(isPaused, id))"
    case .pauseTag(let isPaused): return "\(try host.pause(isPaused, tag: "t"))"
    case .due(let id, let delay): try host.setNext(id, host.now + delay)
    case .limit(let limit):
      try "g".withBytes { name in try host.enter { try $0.limit(group: name, to: limit, at: $1) } }
    case .pauseGroup(let isPaused): try host.pause(isPaused, group: "g")
    case .hold(let kinds, let pool, let span):
      try pool.withBytes { pool in
        try host.enter { try $0.pause(kinds, of: pool, until: span == 0 ? 0 : $1.now.adding(span), at: $1) }
      }
    case .define(let isDefined): try host.define(condition: "c", isDefined)
    case .meet(let isSatisfied): try host.set(condition: "c", isSatisfied)
    case .used: try host.enter { try $0.reportUse(from: $1.now - Time.minute, to: $1.now, at: $1) }
    }
    return "done"
  }

  private func withMember(_ body: (Scheduler, Member, Moment) throws -> String) throws -> String {
    guard member != 0 else { return "none" }
    return try host.enter { scheduler, moment in
      guard let found = scheduler.crews.members[member] else { return "gone" }
      return try body(scheduler, found, moment)
    }
  }

  func attempt(_ step: Step) -> String {
    do {
      return try take(step)
    } catch let error as SeleneError {
      return "refused \(error.code)"
    } catch {
      return "\(error)"
    }
  }

  enum Step {
    case register(Recipe)
    case batch([Recipe])
    case join
    case memberBegins(kinds: UInt32, lanes: UInt32)
    case memberNext(Int)
    case memberCompletes(Int, Outcome)
    case memberEnds(Int)
    case leave(Leaving)
    case cancel(String)
    case retry(String)
    case cancelTag, cancelAll, prune, reset
    case begin(kinds: UInt32, budget: Span, lanes: UInt32)
    case beginNow(String)
    case next(Int)
    case complete(Int, Outcome)
    case end(Int)
    case satisfy(Constraints)
    case signal(Signal, Int64, Span)
    case clear(Signal)
    case profile(BuiltInProfile)
    case use(Int64)
    case used
    case pause(Bool, String)
    case pauseTag(Bool)
    case due(String, Span)
    case limit(UInt32)
    case pauseGroup(Bool)
    /// Kinds of a pool for a span; 0: they go on, `Time.never`: without an end.
    case hold(kinds: UInt32, pool: String, span: Span)
    case define(Bool)
    case meet(Bool)
  }
}

@Suite("Transaction") struct TransactionTests {
  private static let ids = ["a", "b", "c", "d", "e", "f"]

  private static func recipe(_ chance: inout Chance) -> Recipe {
    let schedule = chance.pick([Schedule.standing, .once, .once, .periodic])
    let existing = chance.pick([ExistingPolicy.keep, .replace, .update, .append, .appendOrReplace])
    return Recipe(
      chance.pick(ids), schedule, kind: chance.once(in: 3) ? .processing : .refresh,
      priority: Int32(1 + chance.below(5)), existing: existing
    ) {
      $0.handler = chance.once(in: 3) ? "m" : "h"
      $0.tags = ["t"]
      $0.backoff = Int32(BackoffPolicy.exponential.rawValue)
      $0.constraints = UInt32(chance.below(4))
      $0.recurrence = schedule == .periodic ? Int32(chance.below(3)) : 0
      $0.jitter = chance.pick([0, 100])
      $0.group = chance.once(in: 3) ? "g" : ""
      $0.conditions = chance.once(in: 5) ? ["c"] : []
      $0.latestBegin = schedule == .once && chance.once(in: 3) ? chance.pick([Time.minute, Time.hour]) : 0
      if schedule == .once && chance.once(in: 3) { $0.flags |= TaskDefinition.expedited }
      if schedule == .once && chance.once(in: 3) { $0.after = [chance.pick(ids)] }
    }
  }

  private static func step(_ chance: inout Chance) -> Subject.Step {
    switch chance.below(46) {
    case 0...4: return .register(recipe(&chance))
    case 32...33: return .batch((0..<1 + chance.below(4)).map { _ in recipe(&chance) })
    case 34: return .join
    case 35...37: return .memberBegins(kinds: UInt32(1 + chance.below(3)), lanes: UInt32(1 + chance.below(3)))
    case 38...40: return .memberNext(chance.below(100))
    case 41: return .memberCompletes(chance.below(100), chance.pick([.newData, .failed, .abandoned]))
    case 42: return .memberEnds(chance.below(100))
    case 43: return chance.once(in: 2) ? .leave(chance.pick([.orderly, .died, .broken])) : .join
    case 5: return chance.once(in: 3) ? .cancelAll : .cancel(chance.pick(ids))
    case 25: return .pause(chance.once(in: 2), chance.pick(ids))
    case 26: return chance.once(in: 3) ? .pauseTag(chance.once(in: 2)) : .pause(false, chance.pick(ids))
    case 27: return .due(chance.pick(ids), chance.pick([0, Time.second, Time.hour]))
    case 28: return .limit(UInt32(chance.below(3)))
    case 29: return .pauseGroup(chance.once(in: 3))
    case 30: return .define(!chance.once(in: 3))
    case 31: return .meet(!chance.once(in: 3))
    case 24: return .retry(chance.pick(ids))
    case 44...45:
      return .hold(
        kinds: UInt32(1 + chance.below(3)), pool: chance.pick(["", "p", "q"]),
        span: chance.pick([0, 0, Time.minute, Time.hour, Time.never]))
    case 6: return chance.once(in: 3) ? .cancelTag : .prune
    case 7: return chance.once(in: 3) ? .reset : .used
    case 8...10:
      return .begin(
        kinds: UInt32(1 + chance.below(3)), budget: Time.second * Int64(1 + chance.below(60)),
        lanes: UInt32(1 + chance.below(3)))
    case 11: return .beginNow(chance.pick(ids))
    case 12...15: return .next(chance.below(100))
    case 16...17: return .complete(chance.below(100), chance.pick([Outcome.newData, .noData, .failed, .abandoned]))
    case 18: return .end(chance.below(100))
    case 19: return .satisfy(Constraints(rawValue: UInt32(chance.below(4))))
    case 20...21:
      let (signal, value): (Signal, Int64) = chance.pick([
        (.thermal, 3), (.thermal, 0), (.backgroundSwitch, 0), (.backgroundSwitch, 1), (.lowPowerMode, 1),
        (.hostPresence, 2), (.batteryLevel, 10),
      ])
      return .signal(signal, value, chance.pick([0, Time.minute]))
    case 22: return chance.once(in: 2) ? .clear(chance.pick([.thermal, .backgroundSwitch])) : .use(1 << 20)
    default: return .profile(chance.pick([.open, .apple, .server, .strict]))
    }
  }

  @Test("D2 a call that the store refuses changes nothing, wherever it is refused", arguments: 0..<40)
  func refused(number: Int) throws {
    var chance = Chance("transaction \(number)")
    let start = 1_700_000_000 * Time.second
    let holds = chance.once(in: 2)
    let (subject, twin) = (try Subject(start, holds: holds), try Subject(start, holds: holds))
    var history: [String] = []
    for _ in 0..<Effort.of(120) {
      if chance.once(in: 3) {
        let time = chance.pick([1, Time.second, 20 * Time.second, Time.minute, Time.hour])
        subject.host.now += time
        twin.host.now += time
      }
      let step = Self.step(&chance)
      history.append("\(step)".prefix(60) + "")
      let before = try subject.describe()
      // What time does by itself is told to both before the call.
      _ = try twin.describe()
      subject.store.refuse(in: 1 + chance.below(2))
      var answer = subject.attempt(step)
      subject.store.refusesIn = 0
      if answer == "refused storeFull" {
        try verify(subject.store.hasRefused, "\(history.suffix(8)): refused by nobody")
        let after = try subject.describe()
        try verify(
          after == before,
          "\(history.suffix(8)): changed by a call that was refused:\n\(Self.difference(before, after))")
        answer = subject.attempt(step)
      }
      let expected = twin.attempt(step)
      try verify(answer == expected, "\(history.suffix(8)): \(answer), the twin \(expected)")
      let (mine, its) = (try subject.describe(), try twin.describe())
      try verify(mine == its, "\(history.suffix(8)): not as the twin:\n\(Self.difference(its, mine))")
    }
  }

  /// The lines in which two differ.
  private static func difference(_ before: String, _ after: String) -> String {
    let (old, new) = (before.split(separator: "\n"), after.split(separator: "\n"))
    return new.difference(from: old).map {
      switch $0 {
      case .insert(_, let line, _): "+ \(line)"
      case .remove(_, let line, _): "- \(line)"
      }
    }.joined(separator: "\n")
  }
}

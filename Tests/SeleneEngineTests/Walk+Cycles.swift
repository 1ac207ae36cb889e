// The steps of a random walk that open, use and end windows.

import SeleneCore

@testable import SeleneEngine

extension Walk {
  func randomWindow() -> WindowDraft {
    var draft = WindowDraft()
    draft.kinds = chance.pick([0, 1, 1, 2, 3])
    draft.lanes = chance.pick([1, 1, 2, 3])
    draft.budget = chance.pick([Time.second, 10 * Time.second, 30 * Time.second, 5 * Time.minute])
    draft.reserve = chance.pick([-1, 0, draft.budget / 2, draft.budget])
    draft.strictFit = chance.once(in: 4)
    draft.isRolling = chance.once(in: 3)
    return draft
  }

  func begin() throws {
    var draft = randomWindow()
    let said = draft
    var handle: UInt64 = 0
    let begun = try both("begin \(draft.kinds) for \(draft.budget)") {
      draft.kinds = try admitted(draft.kinds).rawValue
      return 0
    } engine: {
      handle = try host.begin(said.budget) { $0 = said }
      return 0
    }
    if begun != nil { model.begin(handle, draft, task: nil) }
  }

  /// C1: the kinds that are named, or all that may begin.
  private func admitted(_ kinds: UInt32) throws -> KindSet {
    let wanted = kinds != 0 ? KindSet(rawValue: kinds) : model.enabled.isEmpty ? .all : model.enabled
    do {
      try model.refuse(wanted)
      return wanted
    } catch {
      guard kinds == 0 else { throw error }
      let free = Kind.allCases.filter { wanted.contains($0) && (try? model.refuse(KindSet($0))) != nil }
      guard !free.isEmpty else { throw error }
      return free.reduce(into: []) { $0.formUnion(KindSet($1)) }
    }
  }

  func beginNow() throws {
    let id = chance.pick(Self.ids)
    let budget = chance.pick([Time.second, 30 * Time.second])
    var handle: UInt64 = 0
    let begun = try both("begin now \(id)") {
      try model.refuseNow(id)
      return 0
    } engine: {
      handle = try host.beginNow(id, budget)
      return 0
    }
    guard begun != nil else { return }
    var draft = WindowDraft()
    draft.budget = budget
    model.begin(handle, draft, task: id)
  }

  func next() throws {
    let useful = model.cycles.filter { model.next($0.handle) != .done }
    guard !useful.isEmpty || chance.once(in: 4), !model.cycles.isEmpty else {
      return try model.cycles.count < 2 ? begin() : end()
    }
    let cycle = chance.pick(useful.isEmpty ? model.cycles : useful)
    let expected = model.next(cycle.handle)
    let step = try host.next(cycle.handle)
    note("\(host.now) next of \(cycle.handle & 0xFFFF): \(step.words), expected \(expected)")
    switch (expected, step) {
    case (.done, .done): break
    case (.wait(let until), .wait(let at)): try verify(until == at, "wait until \(until) expected, got \(at)")
    case (.run(let sequence), .run(let run)):
      try dispatch(run, of: sequence, in: cycle)
    default: throw Differs("next: \(expected) expected, got \(step.words)")
    }
  }

  private func dispatch(_ run: Run, of sequence: UInt64, in cycle: ModelCycle) throws {
    guard let sight = model.records[sequence] else { throw Differs("a run of no record") }
    try verify(run.definition === sight.definition, "\(sight.id) expected, got \(run.definition.id.text)")
    try verify(!tokens.contains(run.token), "token \(run.token) was given twice")
    try verify(run.token > (tokens.last ?? 0), "token \(run.token) is not the greatest")
    let estimate = model.estimate(sight)
    try verify(run.estimate == estimate, "estimate \(estimate) expected, got \(run.estimate)")
    try verify(run.attempt == sight.attempts + 1, "attempt \(run.attempt) after \(sight.attempts)")
    let timeout = sight.definition.timeout
    let deadline = timeout > 0 ? min(cycle.deadline, host.now + timeout + model.stopGrace) : cycle.deadline
    try verify(run.startedAt == host.now && run.deadline == deadline, "the run's times are wrong")
    if let score = model.candidates(cycle).first(where: { $0.sequence == sequence })?.score.value {
      try verify(abs(score - run.score) < 1e-9, "score \(score) expected, got \(run.score)")
    }
    tokens.append(run.token)
    model.dispatch(run, of: sequence)
  }

  func complete() throws {
    guard !tokens.isEmpty, !chance.once(in: 20) else {
      let bogus = chance.pick([0, 1, 1 << 62, (tokens.last ?? host.handle) + 1, host.handle])
      try both("complete \(bogus)") { () -> Int in
        throw Refused(.invalidHandle)
      } engine: {
        try host.complete(bogus, .newData)
        return 0
      }
      return
    }
    let out = tokens.filter { model.runs[$0]?.isBack == false }
    let token = out.isEmpty || chance.once(in: 5) ? chance.pick(tokens.suffix(12)) : chance.pick(out)
    let outcome = chance.pick([Outcome.newData, .newData, .noData, .failed, .failed, .abandoned])
    let delay = outcome == .failed && chance.once(in: 3) ? chance.pick([0, Time.second, Time.hour]) : nil
    let next = chance.once(in: 8) ? soon() : nil
    if chance.once(in: 3) {
      let output = chance.pick([nil, "left by \(token & 0xFFFF)", String(repeating: "long", count: 700)])
      try both("leave of \(token & 0xFFFF)") {
        try model.leave(token, output)
        return 0
      } engine: {
        try host.leave(token, output)
        return 0
      }
    }
    try both("complete \(token & 0xFFFF) of \(model.runs[token]?.id ?? "") \(outcome)") {
      try model.complete(token, outcome, retryDelay: delay, until: next)
      return 0
    } engine: {
      try host.complete(token, outcome, retryDelay: delay, until: next)
      return 0
    }
  }

  func end() throws {
    guard !model.cycles.isEmpty else { return }
    let handle = chance.pick(model.cycles).handle
    note("\(host.now) end of \(handle & 0xFFFF)")
    let report = try host.end(handle)
    guard let cycle = model.end(handle) else { throw Differs("the model has no such cycle") }
    let runs = cycle.runs.compactMap { model.runs[$0] }
    try verify(report.runs.map(\.token) == cycle.runs, "the report has other runs")
    try verify(report.runs.map(\.finalOutcome) == runs.map { $0.outcome ?? .newData }, "the report has other outcomes")
    try verify(report.runs.map(\.stopReason) == runs.map(\.reason), "the report has other stop reasons")
    try verify(
      report.runs.map(\.responseTime) == runs.map { $0.endedAt - $0.startedAt },
      "the report has other response times")
    try verify(report.endedAt == min(host.now, cycle.deadline), "ended at \(report.endedAt)")
    try verify(report.eligible == cycle.eligible, "\(report.eligible) were eligible, \(cycle.eligible) expected")
    let remaining = model.remaining(cycle)
    try verify(report.didNotFit == remaining, "\(report.didNotFit) did not fit, \(remaining) expected")
    model.renew(cycle)
    let outcomes = runs.compactMap(\.outcome)
    let isFailed = outcomes.contains { [.failed, .expired, .abandoned].contains($0) }
    let result = outcomes.contains(.newData) ? Outcome.newData : isFailed ? .failed : .noData
    try verify(report.tally.result == result, "result \(report.tally.result), \(result) expected")
    try both("next after the end") { () -> Int in
      throw Refused(.invalidHandle)
    } engine: {
      _ = try host.next(handle)
      return 0
    }
  }

  // MARK: Calls that change nothing

  func look() throws {
    switch chance.below(4) {
    case 0:
      try both("wake-up") {
        expectedWakeup()
      } engine: {
        try host.nextWakeup()
      }
    case 1:
      var draft = randomWindow()
      draft.lanes = 1
      if draft.kinds == 0 { draft.kinds = KindSet.all.rawValue }
      try both("plan") {
        expectedPlan(draft)
      } engine: {
        try host.plan(draft.budget) { $0 = draft }.entries.map { $0.definition.id.text }
      }
    case 2:
      guard let run = tokens.suffix(12).randomElement(using: &chance) else { return }
      try both("stopping \(run & 0xFFFF)") {
        try expectedStop(run)
      } engine: {
        let (reason, remaining) = try host.stopping(run)
        return [Int64(reason.rawValue), remaining]
      }
    default:
      let id = chance.pick(Self.ids)
      guard let sight = model[id] else { return }
      let eligible = model.enabled.contains(sight.kind) ? model.ranked(KindSet(sight.kind)) : []
      let rank = (eligible.firstIndex { $0.sequence == sight.sequence }).map { $0 + 1 } ?? 0
      try both("rank of \(id)") {
        rank
      } engine: {
        try host.explain(id).rank
      }
      if let diary = model.diary {
        try both("turn of \(id)") {
          Turn(sight, in: diary)
        } engine: {
          try host.explain(id).pace.map(Turn.init)
        }
      }
    }
  }

  /// C16.
  private func expectedWakeup() -> Instant? {
    // The next begin ends what was forgotten (C5).
    let kinds = model.cycles.filter { model.now <= $0.deadline }.reduce(model.enabled) { $0.subtracting($1.kinds) }
    let tooLate = model.records.values.compactMap(\.latestAt).map { $0 + 1_000 - ($0 % 1_000 + 1_000) % 1_000 }
    return
      (model.records.values.filter { model.isRunnable($0, kinds: kinds) }.map { sight in
        let (last, interval) = (model.lastBegin[sight.kind], model.intervals[sight.kind])
        if sight.definition.schedule == .standing && sight.earliestBegin <= model.now {
          return max(model.now, last.map { $0 + (interval > 0 ? interval : 15 * Time.minute) } ?? model.now)
        }
        let paced = max(model.now, sight.earliestBegin, last.map { $0 + interval } ?? .min)
        guard sight.definition.isExpedited, let freeAt = model.freeAt else { return paced }
        return min(paced, max(model.now, sight.earliestBegin, freeAt))
      } + tooLate).min()
  }

  /// C15: what one lane would pick if every run took its estimate.
  private func expectedPlan(_ window: WindowDraft) -> [String] {
    let reserve = window.reserve == -1 ? window.budget / 20 : window.reserve
    var waiting = model.ranked(KindSet(rawValue: window.kinds)).compactMap { model.records[$0.sequence] }
    var picked: [String] = []
    var left = window.budget
    while left > 0 {
      let takesAny = picked.isEmpty && !window.strictFit && left > reserve
      let index = waiting.firstIndex {
        model.isGroupOpen($0)
          && (takesAny || $0.isUnknown && !window.strictFit && left > reserve
            || (window.strictFit || !$0.isUnknown) && model.estimate($0) <= left - reserve)
      }
      guard let index else { break }
      let sight = waiting.remove(at: index)
      picked.append(sight.id)
      left -= model.estimate(sight)
    }
    return picked
  }

  /// Why a run shall stop, and how long it has until then.
  private func expectedStop(_ token: UInt64) throws -> [Int64] {
    guard let run = model.runs[token] else { throw Refused(.invalidHandle) }
    if run.isBack { throw Refused(run.outcome == .stopped || run.outcome == .expired ? .staleRun : .alreadyCompleted) }
    let remaining = run.isOpen && run.reason == .none ? max(0, run.expiresAt - model.now) : 0
    return [Int64(run.reason.rawValue), remaining]
  }
}

extension Step {
  var words: String {
    switch self {
    case .run(let run): "run of \(run.definition.id.text)"
    case .wait(let until): "wait until \(until)"
    case .done: "done"
    }
  }
}

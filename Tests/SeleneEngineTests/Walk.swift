// A random walk through all calls on a virtual clock: each is made on the engine and on the model, and all is compared.

import Foundation
import SeleneCore

@testable import SeleneEngine

/// How often each run's stop function was called.
private final class StopCalls {
  var of: [UInt64: Int] = [:]
}

/// One random walk.
final class Walk {
  let name: String
  private(set) var host: Host
  let model: Model
  private(set) var mirror = EventMirror()
  var chance: Chance
  /// What was done, for people.
  private(set) var history: [String] = []
  private var stopCalls = StopCalls()
  /// Where its host keeps its tasks, if it has several lives.
  private let lives: Lives?
  private let open: (Instant, Store) throws -> Host
  var tokens: [UInt64] = []
  /// What the calls answered, by their first word.
  private(set) var answers: Set<String> = []

  static let ids = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "x"]
  static let handlers = ["h1", "h2", "h3", "a", "b"]
  static let tags = ["t", "u", "v"]
  static let groups = ["g1", "g2"]
  static let conditions = ["c1", "c2", "c3"]

  /// - Parameter hasLives: the host keeps its tasks in a file, and crashes or closes now and then.
  init(_ name: String, hasLives: Bool = false) throws {
    var chance = Chance(name)
    self.name = name
    let permitted = (Self.ids + Self.handlers).filter { !$0.hasPrefix(Model.forbidden) }.map { Bytes($0) }
    let start = chance.pick([1_000 * Time.second, 1_700_000_000 * Time.second, -50 * Time.day])
    var options = OptionsDraft()
    options.holds = chance.once(in: 2)
    options.seed = 1 + UInt64(chance.below(1 << 20))
    let order = chance.below(3)
    (options.observedRange, options.freshness) = (order == 1, order == 2)
    options.maxPendingRefresh = chance.pick([1, 2, 0, .max])
    options.maxPendingProcessing = chance.pick([10, 1, 3, .max])
    options.minimumIntervalRefresh = chance.pick([0, 0, Time.minute, Time.hour])
    options.minimumIntervalProcessing = chance.pick([0, 0, Time.minute])
    options.stopGrace = chance.pick([5 * Time.second, 0, Time.second, Time.minute, Time.day])
    // What a life that was cut short had under way counts until it was last stored, which the model does not know.
    options.expeditedQuota =
      hasLives ? chance.pick([Time.never, 0]) : chance.pick([10 * Time.minute, 3 * Time.second, Time.minute])
    options.releaseAfter = chance.pick([10 * Time.minute, 0, Time.second, Time.day])
    open = { now, store in
      try withExtendedLifetime(permitted) {
        try Host(at: now, store: store) { draft in
          draft = options
          draft.permitted = permitted.map { $0.buffer }
        }
      }
    }
    lives = hasLives ? try Lives() : nil
    host = try open(start, try lives?.open() ?? Store())
    model = Model(options, at: start)
    self.chance = chance
    let mirror = mirror
    try host.observe { mirror.hear($0) }
    for handler in Self.handlers.prefix(3) { try addHandler(handler) }
  }

  /// Takes so many steps.
  func take(_ steps: Int) throws {
    for step in 0..<steps {
      do {
        try takeOne()
        try check()
      } catch {
        throw Differs("\(name), step \(step): \(error)\nbefore it:\n  \(history.suffix(12).joined(separator: "\n  "))")
      }
    }
    try host.close()
  }

  private func takeOne() throws {
    model.advance(to: host.now)
    switch chance.below(100) {
    case 0..<24: try register()
    case 24..<27: try cancel()
    case 27..<30: try changeHandlers()
    case 30..<33: try chance.pick([changeConditions, setGroup, setCondition])()
    case 33..<34: try chance.once(in: 3) ? setNext() : pause()
    case 34..<35: try switchKinds()
    case 35..<40: try begin()
    case 40..<43: try beginNow()
    case 43..<64: try next()
    case 64..<79: try complete()
    case 79..<81: try end()
    case 81..<85: try look()
    case 85..<86: try chance.once(in: 4) ? prune() : retry()
    case 86..<88 where lives != nil: try beginNewLife()
    default: try passTime()
    }
  }

  // MARK: Lives

  /// The host crashes, or closes, and is there again some time later (D1, D3).
  private func beginNewLife() throws {
    guard let lives else { return }
    let crashes = !chance.once(in: 3)
    let pause = chance.pick([0, Time.second, Time.hour, 25 * Time.hour])
    note("\(host.now) \(crashes ? "crash" : "close"), and back after \(pause)")
    if crashes {
      // What was answered last is accepted, and durable with the next commit (D2).
      try host.enter { try $0.save(at: $1.now) }
      try lives.leave()
    } else {
      try host.close()
      model.shutDown()
    }
    let then = host.now + pause
    let old = host
    host = try open(then, try lives.open())
    // The first one is left to itself, as a process that is gone; it has files of its own.
    try old.close()
    model.restart(at: then)
    (stopCalls, tokens) = (StopCalls(), [])
    let mirror = try host.enter { EventMirror(Snapshot($0, at: $1.now)) }
    self.mirror = mirror
    // What opening changed is told to the first observer; by then the mirror knows it.
    try host.observe { mirror.skip($0) }
    try host.observe { mirror.hear($0) }
    for handler in Self.handlers.prefix(3) { try addHandler(handler) }
  }

  func note(_ what: String) { history.append(what) }

  /// Compares all that is there with the model, with what the events say, and with what always holds.
  private func check() throws {
    let snapshot = try host.enter { Snapshot($0, at: $1.now) }
    model.advance(to: host.now)
    try snapshot.check(limits: model.limits)
    try model.check(snapshot)
    let open = model.runs.values.filter { $0.isOpen }.map(\.token)
    try mirror.check(snapshot, openRuns: Set(open), openCycles: Set(model.cycles.map(\.handle)))
    for run in model.runs.values {
      let calls = stopCalls.of[run.token] ?? 0
      try verify(calls == (run.wasAsked ? 1 : 0), "the stop function of run \(run.token) was called \(calls) times")
    }
    try checkGroups()
    try checkConditions()
    for id in Self.ids {
      let out = model.runs.values.filter { $0.id == id && !$0.isBack }.count
      try verify(out <= 1, "\(out) runs of \(id) have not come back")
    }
  }

  // MARK: One call on both

  /// Makes a call on the model and on the engine; what both answer must be the same. Gives the engine's answer.
  @discardableResult
  func both<R: Equatable>(_ what: String, model expected: () throws -> R, engine call: () throws -> R) throws -> R? {
    let (expected, got) = (Self.answer(expected), Self.answer(call))
    note("\(host.now) \(what): \(got.words)")
    answers.insert("\(what.prefix { $0 != " " }) \(got.words)")
    try verify(expected == got, "\(what): \(expected.words) expected, got \(got.words)")
    if case .value(let value) = got { return value }
    return nil
  }

  enum Answer<R: Equatable>: Equatable {
    case value(R)
    case refusal(SeleneError.Code)

    var words: String {
      switch self {
      case .value(let value): "\(value)"
      case .refusal(let code): "\(code)"
      }
    }
  }

  private static func answer<R>(_ call: () throws -> R) -> Answer<R> {
    do {
      return .value(try call())
    } catch let error as Refused {
      return .refusal(error.code)
    } catch let error as SeleneError {
      return .refusal(error.code)
    } catch {
      return .refusal(.inconsistent)
    }
  }

  // MARK: Tasks, handlers, conditions

  private func register() throws {
    let schedule = chance.pick([Schedule.standing, .once, .once, .periodic])
    let policies: [ExistingPolicy?] = [nil, nil, .keep, .replace, .update, .skip]
    let existing = chance.pick(schedule == .once ? policies + [.append, .append, .appendOrReplace] : policies)
    // What is running is where most can go wrong.
    let running = model.records.values.filter { $0.state == .running }.map(\.id).sorted()
    let id = running.isEmpty || !chance.once(in: 5) ? chance.pick(Self.ids) : chance.pick(running)
    let recipe = Recipe(
      id, schedule, kind: chance.pick(Kind.allCases), priority: Int32(1 + chance.below(5)),
      existing: existing
    ) {
      $0.handler = chance.once(in: 5) ? chance.pick(Self.handlers) : chance.pick(Self.handlers.prefix(3))
      $0.tags = Self.tags.filter { _ in chance.once(in: 4) }
      $0.group = chance.once(in: 2) ? chance.pick(Self.groups) : ""
      $0.constraints = chance.pick([0, 0, 1, 2, 3])
      $0.conditions = chance.once(in: 4) ? (0...chance.below(2)).map { _ in chance.pick(Self.conditions) } : []
      $0.expectedResponse = chance.pick([0, Time.second, 3 * Time.second, 5 * Time.second, 20 * Time.second])
      $0.responseWindow = chance.pick([0, 1, 3, 30])
      if $0.responseWindow == 0 && chance.once(in: 2) { $0.expectedResponse = -1 }
      $0.initialDelay = chance.pick([0, 0, 0, Time.second, Time.minute])
      $0.jitter = chance.pick([0, 0, 1, 100, 1000])
      $0.maxAttempts = chance.pick([0, 0, 1, 2, 3])
      if schedule == .once && chance.once(in: 3) {
        $0.latestBegin = $0.initialDelay + chance.pick([1, Time.second, Time.minute, Time.hour, Time.day])
      }
      $0.timeout = chance.pick([0, 0, 0, 1, Time.second, 20 * Time.second, Time.hour])
      $0.backoff = chance.pick([-1, 0, 1, 2])
      $0.backoffDelay = chance.pick([0, 30 * Time.second, Time.hour])
      $0.recurrence = chance.pick([0, 1, 2])
      $0.flags = chance.once(in: 4) ? TaskDefinition.steady : 0
      if schedule == .once && chance.once(in: 2) {
        $0.flags |= TaskDefinition.expedited | (chance.once(in: 3) ? TaskDefinition.refuseOutOfQuota : 0)
      }
      // Of what is not periodic they are refused.
      if schedule == .periodic || chance.once(in: 20) {
        $0.period = chance.pick([10 * Time.second, Time.minute, Time.hour])
        $0.flex = chance.pick([0, 3 * Time.second, 10 * Time.second])
      }
      if schedule == .once && chance.once(in: 2) {
        // Most often such as can be waited for.
        let once = Self.ids.filter { model[$0]?.definition.schedule == .once && $0 != id }
        let ids = once.isEmpty || chance.once(in: 8) ? Self.ids : once
        $0.after = (0..<chance.pick([1, 1, 2, 3])).map { _ in chance.pick(ids) }
        if chance.once(in: 3) { $0.flags |= 2 }
      }
    }
    try both("register \(recipe.id) \(schedule) \(existing.map { "\($0)" } ?? "")") {
      try model.register(recipe.define())
    } engine: {
      try host.register(recipe)
    }
  }

  private func retry() throws {
    let failed = Self.ids.filter { model[$0]?.state == .failed }
    let id = failed.isEmpty || chance.once(in: 4) ? chance.pick(Self.ids) : chance.pick(failed)
    try both("retry \(id)") {
      try model.retry(id)
      return 0
    } engine: {
      try host.retry(id)
      return 0
    }
  }

  private func cancel() throws {
    switch chance.below(16) {
    case 0:
      try both("cancel all") {
        model.cancelAll()
      } engine: {
        try host.cancelAll()
      }
    case 1...4:
      let tag = chance.pick(Self.tags)
      try both("cancel tag \(tag)") {
        model.cancel(tag: tag)
      } engine: {
        try host.cancel(tag: tag)
      }
    default:
      let id = chance.pick(Self.ids)
      try both("cancel \(id)") {
        try model.cancel(id)
      } engine: {
        try host.cancel(id)
      }
    }
  }

  private func pause() throws {
    // Few at a time, or nothing would run.
    let isPaused = chance.once(in: 3)
    let verb = isPaused ? "pause" : "resume"
    if chance.once(in: 2) {
      let tag = chance.pick(Self.tags)
      try both("\(verb) tag \(tag)") {
        model.pause(isPaused, tag: tag)
      } engine: {
        try host.pause(isPaused, tag: tag)
      }
    } else {
      let paused = model.records.values.filter(\.isPaused).map(\.id).sorted()
      let id = isPaused || paused.isEmpty ? chance.pick(Self.ids) : chance.pick(paused)
      try both("\(verb) \(id)") {
        try model.pause(isPaused, id)
      } engine: {
        try host.pause(isPaused, id)
      }
    }
  }

  private func setGroup() throws {
    let (group, terms) = (
      chance.pick(Self.groups), GroupTerms(limit: UInt32(chance.below(4)), isPaused: chance.once(in: 5))
    )
    try both("set \(group) to \(terms.limit)\(terms.isPaused ? ", paused" : "")") {
      model.groups[group] = terms
      return 0
    } engine: {
      try host.set(group: group, terms)
      return 0
    }
  }

  private func checkGroups() throws {
    for name in Self.groups {
      let (terms, running, waiting) = try host.enter { scheduler, _ in
        let group = name.withBytes { scheduler.table.terms.groups.find($0) }
        return (
          GroupTerms(limit: group?.limit ?? 0, isPaused: group?.isPaused ?? false), Int(group?.running ?? 0),
          Int(group?.waiting ?? 0)
        )
      }
      try verify(terms == model.groups[name] ?? GroupTerms(limit: 0, isPaused: false), "what is set of \(name)")
      try verify(running == model.running(in: name), "\(running) runs of \(name), \(model.running(in: name)) expected")
      let expected = model.records.values
        .filter { $0.definition.groupName == name && [.enqueued, .held, .blocked].contains($0.state) }.count
      try verify(waiting == expected, "\(waiting) tasks of \(name) wait, \(expected) expected")
    }
  }

  private func setNext() throws {
    let (id, next) = (chance.pick(Self.ids), soon())
    try both("set next of \(id) to \(next)") {
      try model.setNext(id, next)
      return 0
    } engine: {
      try host.setNext(id, next)
      return 0
    }
  }

  /// An instant that a host may say (W7), also one that has passed.
  func soon() -> Instant {
    max(0, host.now + chance.pick([-Time.hour, 0, Time.second, 20 * Time.minute, Time.hour]))
  }

  private func addHandler(_ name: String) throws {
    try both("add handler \(name)") {
      guard !model.liveHandlers.contains(name), !model.retiredHandlers.contains(name) else {
        throw Refused(.alreadyExists)
      }
      model.liveHandlers.insert(name)
      return 0
    } engine: {
      try host.addHandler(name, stop: { [stopCalls] run, _ in stopCalls.of[run, default: 0] += 1 })
      return 0
    }
  }

  private func changeHandlers() throws {
    let name = chance.pick(Self.handlers)
    guard chance.once(in: 4) else { return try addHandler(name) }
    try both("remove handler \(name)") {
      guard model.liveHandlers.remove(name) != nil else { throw Refused(.notFound) }
      for sight in model.records.values where sight.definition.handler.text == name && !sight.state.isTerminal {
        model.write(sight)
      }
      if model.runs.values.contains(where: { !$0.isBack && $0.definition.handler.text == name }) {
        model.retiredHandlers.insert(name)
      }
      return 0
    } engine: {
      try host.removeHandler(name)
      return 0
    }
  }

  private func changeConditions() throws {
    let satisfied = model.satisfied != .all ? .all : chance.pick([Constraints.network, .externalPower, []])
    try both("conditions \(satisfied.rawValue)") {
      model.satisfied = satisfied
      for run in model.runs.values.sorted(by: { $0.token < $1.token })
      where run.isOpen && !model.hasAll(run.definition) {
        model.stop(run.token, .constraintLost)
      }
      return 0
    } engine: {
      try host.satisfy(satisfied)
      return 0
    }
  }

  /// Defines a condition, says whether it is satisfied, or takes it back.
  private func setCondition() throws {
    let (name, deed) = (chance.pick(Self.conditions), chance.below(8))
    try both("condition \(name) \(deed)") {
      if deed == 0 {
        guard model.conditions.removeValue(forKey: name) != nil else { throw Refused(.notFound) }
      } else if deed < 4 {
        model.conditions[name] = model.conditions[name] ?? false
      } else {
        guard model.conditions[name] != nil else { throw Refused(.notFound) }
        model.conditions[name] = deed != 4
      }
      for run in model.runs.values.sorted(by: { $0.token < $1.token })
      where run.isOpen && !model.hasAll(run.definition) {
        model.stop(run.token, .constraintLost)
      }
      return 0
    } engine: {
      if deed < 4 {
        try host.define(condition: name, deed > 0)
      } else {
        try host.set(condition: name, deed != 4)
      }
      return 0
    }
  }

  private func checkConditions() throws {
    for name in Self.conditions {
      let (known, isDefined, isSatisfied) = try host.enter { scheduler, _ in
        name.withBytes { bytes in
          guard let found = try? scheduler.condition(bytes) else { return (false, false, false) }
          return (true, found.isDefined, found.isSatisfied)
        }
      }
      try verify(isDefined == (model.conditions[name] != nil), "whether \(name) is defined")
      try verify(isSatisfied == (model.conditions[name] == true), "whether \(name) is satisfied")
      let isAsked = model.records.values.contains { $0.definition.conditionNames.contains(name) }
      try verify(known || !(isDefined || isAsked), "\(name) is known")
    }
  }

  private func switchKinds() throws {
    let kinds = model.enabled != .all ? .all : chance.pick([KindSet(.refresh), KindSet(.processing), []])
    model.enabled = kinds
    try host.enable(kinds)
    note("\(host.now) enable \(kinds.rawValue)")
  }

  private func prune() throws {
    if chance.once(in: 6) {
      try both("reset") {
        try model.reset()
        return 0
      } engine: {
        try host.reset()
        mirror.forgetTasks()
        return 0
      }
    } else {
      try both("prune") {
        model.prune(endedBy: nil)
      } engine: {
        try host.prune()
      }
    }
  }

  // MARK: Time

  private func passTime() throws {
    var interesting: [Instant] = []
    for cycle in model.cycles { interesting += [cycle.expiresAt, cycle.deadline] }
    for run in model.runs.values where !run.isBack && !run.isOpen {
      interesting.append(run.endedAt + model.releaseAfter)
    }
    for run in model.runs.values where run.isOpen && run.timesOutAt != Time.never {
      interesting += [run.timesOutAt, run.isOverAt]
    }
    for sight in model.records.values where sight.isLive { interesting.append(sight.earliestBegin) }
    // A dictionary's order is another one in each process.
    interesting.sort()
    var instant = host.now + chance.pick([0, 1, Time.second, 3 * Time.second])
    switch chance.below(10) {
    case 0: instant = host.now + chance.pick([Time.minute, Time.hour, Time.hour, 25 * Time.hour])
    case 1...5: if !interesting.isEmpty { instant = chance.pick(interesting) + chance.pick([-1, 0, 1]) }
    default: break
    }
    instant = max(instant, host.now)
    note("\(host.now) time passes to \(instant)")
    model.advance(to: instant)
    host.now = instant
  }
}

/// The files of a host that crashes: each life that was cut short leaves its files behind, and the next one has a copy.
private final class Lives {
  private let tree: Tree
  private var number = 0

  init() throws { tree = try Tree() }

  private var path: String { "\(tree.path)/store\(number)" }

  func open() throws -> Store {
    try path.withUTF8Bytes { try SQLiteStore.open($0, isRelaxed: true) }
  }

  /// The process that has the files is as good as gone.
  func leave() throws {
    let old = path
    number += 1
    for end in ["", "-wal"] where FileManager.default.fileExists(atPath: old + end) {
      try FileManager.default.copyItem(atPath: old + end, toPath: path + end)
    }
  }
}

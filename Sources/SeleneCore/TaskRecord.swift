// A task's record: its definition, where it stands, and what happened to it (T3).

/// What few tasks have besides. Never changed.
private final class TaskExtras {
  let failure: LastFailure?
  /// What its last success left (W5).
  let output: Bytes?
  /// How many bytes that left which were too many to be kept (V11).
  let lost: UInt64
  /// What its instants do not tell of its waiting (W8).
  let trail: WaitTrail?

  private init(_ failure: LastFailure?, _ output: Bytes?, _ lost: UInt64, _ trail: WaitTrail?) {
    (self.failure, self.output, self.lost, self.trail) = (failure, output, lost, trail)
  }

  @inline(never)
  static func make(_ failure: LastFailure?, _ output: Bytes?, _ lost: UInt64, _ trail: WaitTrail?) -> TaskExtras? {
    failure == nil && output == nil && lost == 0 && trail == nil ? nil : TaskExtras(failure, output, lost, trail)
  }
}

/// What a task has once it was dispatched; kept apart, because most tasks of a large population wait for their first run.
private final class TaskHistory {
  /// The last response times; once there are as many as are kept, the oldest gives its place to the next.
  private var times: [Span] = []
  /// What is expected of the next run; nil while there is no response time, or none counts.
  private(set) var estimate: Span?
  /// Small, so that it stands beside the estimate's flag.
  private var oldest: UInt8 = 0
  /// How many outcomes are known, at most 16.
  var outcomes: UInt8 = 0
  var suspicion = Suspicion.none
  /// How many of its runs their processes did not survive, since the last outcome; at most 255.
  var deaths: UInt8 = 0
  /// The run in flight is that of an instant which a host said (W7).
  var isOfNextSaid = false
  /// The last outcomes, the latest in the lowest bit: whether something new was found (F3).
  var news: UInt16 = 0
  var anchor: Instant
  var periodBase = TaskRecord.onRegistration
  var run: UInt64 = 0
  /// When the wait was due that its last run ended, or will end; `onRegistration` while there was none.
  var ranDue = TaskRecord.onRegistration
  var extras: TaskExtras?
  /// What the age counts from under the freshness rule (F2).
  var freshSince: Instant

  init(anchor: Instant, freshSince: Instant) { (self.anchor, self.freshSince) = (anchor, freshSince) }

  func copy() -> TaskHistory {
    let copy = TaskHistory(anchor: anchor, freshSince: freshSince)
    (copy.times, copy.oldest, copy.estimate, copy.periodBase, copy.run) = (times, oldest, estimate, periodBase, run)
    (copy.extras, copy.ranDue, copy.news, copy.outcomes) = (extras, ranDue, news, outcomes)
    (copy.suspicion, copy.deaths) = (suspicion, deaths)
    copy.isOfNextSaid = isOfNextSaid
    return copy
  }

  var isEmpty: Bool { times.isEmpty }
  var hasOne: Bool { times.count == 1 }

  var last: Span? { times.isEmpty ? nil : times[oldest > 0 ? Int(oldest) - 1 : times.count - 1] }

  /// The estimate before the last response time; nil if there was none.
  func estimateBefore(_ window: UInt8, byFreshness: Bool) -> Span? {
    let before = TaskHistory(anchor: 0, freshSince: 0)
    before.times = responseTimes.dropLast()
    before.average(window, byFreshness: byFreshness)
    return before.estimate
  }

  /// Oldest first.
  var responseTimes: [Span] {
    get { times.indices.map { times[(Int(oldest) + $0) % times.count] } }
    set {
      assert(newValue.count <= TaskDefinition.mostResponseTimes)
      (times, oldest) = (newValue, 0)
    }
  }

  /// Copies the response times, oldest first; how many.
  @_optimize(speed)
  func copyTimes(to target: UnsafeMutablePointer<Span>) -> Int {
    var place = Int(oldest)
    for index in times.indices {
      target[index] = times[place]
      place = place + 1 < times.count ? place + 1 : 0
    }
    return times.count
  }

  @_optimize(speed)
  func add(_ time: Span, window: UInt8, byFreshness: Bool) {
    // As many as the memory for four has room for; growing one by one costs more than the rest.
    if times.isEmpty { times.reserveCapacity(5) }
    if times.count < TaskDefinition.mostResponseTimes {
      times.append(time)
    } else {
      times[Int(oldest)] = time
      oldest = Int(oldest) + 1 < times.count ? oldest + 1 : 0
    }
    average(window, byFreshness: byFreshness)
  }

  /// An outcome is known (F3).
  func learn(_ hasNews: Bool) {
    news = news << 1 | (hasNews ? 1 : 0)
    outcomes = min(outcomes + 1, Freshness.outcomes)
  }

  /// Takes the estimate anew: the mean of the last response times (S5), or what fits four runs of five (F5).
  @_optimize(speed)
  func average(_ window: UInt8, byFreshness: Bool) {
    guard !byFreshness else { return estimate = window > 0 ? safeTime : nil }
    let count = min(Int(window), times.count)
    guard count > 0 else {
      estimate = nil
      return
    }
    let sum = sum(ofLast: count)
    estimate = count == 3 ? sum / 3 : sum / Int64(count)
  }

  /// A response time is at most 24 h in budgeted cycles, so thirty of them fit into 64 bits.
  @inline(__always)
  private func sum(ofLast count: Int) -> Span {
    var sum: Int64 = 0
    var place = Int(oldest)
    for _ in 0..<count {
      place = place > 0 ? place - 1 : times.count - 1
      sum = sum.adding(times[place])
    }
    return sum
  }

  /// The mean of the last twenty response times; nil while there is none (F4).
  var cost: Span? {
    let count = min(Freshness.samples, times.count)
    return count > 0 ? sum(ofLast: count) / Int64(count) : nil
  }

  /// Of the last twenty response times the one that at most every fifth is longer than (F5).
  private var safeTime: Span? {
    let count = min(Freshness.samples, times.count)
    guard count > 0 else { return nil }
    var sorted = InlineArray<20, Span>(repeating: 0)
    var place = Int(oldest)
    for filled in 0..<count {
      place = place > 0 ? place - 1 : times.count - 1
      var hole = filled
      while hole > 0 && sorted[hole - 1] > times[place] {
        sorted[hole] = sorted[hole - 1]
        hole -= 1
      }
      sorted[hole] = times[place]
    }
    return sorted[count - max(1, (count + 1) / 5)]
  }
}

/// What decisions ask most often of a definition, kept in the record.
struct TaskTraits {
  /// Priority, schedule and kind, and two bits more.
  private var choices: UInt8
  /// The constraints that most ask for, and two bits more.
  private let bits: UInt8

  private static let steady: UInt8 = 0x80
  private static let fresh: UInt8 = 0x80
  private static let grouped: UInt8 = 0x40
  private static let asksMore: UInt8 = 0x40

  @inline(__always)
  init(_ definition: TaskDefinition) {
    choices =
      definition.priority & 7 | definition.schedule.rawValue << 3 | UInt8(truncatingIfNeeded: definition.kind.index)
      << 5
      | (definition.group != nil ? Self.grouped : 0)
    let needs = definition.needs
    bits =
      UInt8(truncatingIfNeeded: needs.rawValue & Needs.usual.rawValue) | (definition.isSteady ? Self.steady : 0)
      | (needs.isSubset(of: .usual) ? 0 : Self.asksMore)
  }

  var kind: Kind { @inline(__always) get { choices & 0x20 == 0 ? .refresh : .processing } }
  var schedule: Schedule { @inline(__always) get { Schedule(rawValue: choices >> 3 & 3) ?? .standing } }
  /// Its schedule is standing.
  var isStanding: Bool { @inline(__always) get { choices & 0x18 == 0x18 } }
  var priority: UInt8 { @inline(__always) get { choices & 7 } }
  /// It is in a group.
  var isGrouped: Bool { @inline(__always) get { choices & Self.grouped != 0 } }
  /// It asks for more than those of `usualNeeds`.
  var asksMore: Bool { @inline(__always) get { bits & Self.asksMore != 0 } }
  /// Its class follows from its kind and from `usualNeeds`.
  var isUsual: Bool { @inline(__always) get { (choices | bits) & Self.grouped == 0 } }
  /// What it asks for, of what most ask for.
  var usualNeeds: Needs { @inline(__always) get { Needs(rawValue: UInt64(bits) & Needs.usual.rawValue) } }
  /// Its outcomes are not learnt from (F9).
  var isSteady: Bool { bits & Self.steady != 0 }

  /// Whether its table ranks by the freshness rule.
  var isFresh: Bool {
    @inline(__always) get { choices & Self.fresh != 0 }
    set { choices = newValue ? choices | Self.fresh : choices & ~Self.fresh }
  }
}

/// What keeps a record from running; one byte, so that one look tells that there is nothing.
struct Bars: OptionSet {
  let rawValue: UInt8

  static let taken = Bars(rawValue: 1)
  static let spent = Bars(rawValue: 2)
  static let notPermitted = Bars(rawValue: 4)
  static let paused = Bars(rawValue: 8)
  /// It is over; that it was kept when it should have been pruned does not bar it from anything.
  static let kept = Bars(rawValue: 16)

  @inline(__always)
  mutating func set(_ bar: Bars, _ isSet: Bool) { if isSet { formUnion(bar) } else { subtract(bar) } }
}

/// What few records have besides; one byte, as `Bars`.
struct Marks: OptionSet {
  let rawValue: UInt8

  static let nextSaid = Marks(rawValue: 1)
  /// Its definition has a latest begin (W9).
  static let limited = Marks(rawValue: 2)
  /// In which orders of `Urgency` it stands.
  static let expiring = Marks(rawValue: 4)
  static let ripening = Marks(rawValue: 8)
  static let urgent = Marks(rawValue: 16)
  /// It has a trail (W8).
  static let trailed = Marks(rawValue: 32)
  /// Its definition is expedited (W10), and it stands in a line of such.
  static let expedited = Marks(rawValue: 64)
  static let ahead = Marks(rawValue: 128)
  static let listed: Marks = [.expiring, .ripening, .urgent, .ahead]
  /// What a definition says.
  static let hurried: Marks = [.limited, .expedited]

  /// What a definition says of it.
  @inline(__always)
  init(_ definition: TaskDefinition) {
    self = definition.latestBegin > 0 ? .limited : []
    if definition.isExpedited { insert(.expedited) }
  }

  init(rawValue: UInt8) { self.rawValue = rawValue }

  @inline(__always)
  mutating func set(_ mark: Marks, _ isSet: Bool) { if isSet { formUnion(mark) } else { subtract(mark) } }
}

/// A task's record.
package struct TaskRecord {
  package internal(set) var definition: TaskDefinition {
    didSet {
      let isFresh = traits.isFresh
      traits = TaskTraits(definition)
      traits.isFresh = isFresh
      marks = marks.subtracting(.hurried).union(Marks(definition))
      expected = definition.expectedResponse
      let window = definition.responseWindow
      if history != nil { own { $0.average(window, byFreshness: isFresh) } }
    }
  }
  fileprivate var history: TaskHistory?
  /// What its run is expected to take while it has no response time: what its definition says, else what its handler's runs
  /// took when it was registered, updated, or started as a successor (R8); −1: unknown.
  package internal(set) var expected: Span
  /// Ever-growing number of the record, never reused.
  package let sequence: UInt64
  package var registeredAt: Instant
  package var earliestBegin: Instant
  /// What the age counts from; the registration until it ran.
  package var lastRun: Instant
  /// When it last changed: when it became terminal, if it is.
  package var changedAt: Instant
  /// Number of the last change; a ranking holds only what did not change since.
  package var stamp: UInt64 = 0
  package var attempts: UInt32 = 0
  /// How often the definition was updated.
  package var generation: UInt32 = 0
  /// The number of its handler, or −1 while there is none; below that it was set aside, because its handler is stuck (R4).
  package var handler: Int32 = -1
  package var state: TaskState
  package var lastOutcome: Outcome?
  package var stopReason: StopReason = .none
  /// What keeps it from running whatever the time is.
  var bars: Bars = []
  /// Where the index has it.
  var place = IndexPlace()
  /// The store has something else of its slot.
  var isUnsaved = false
  var marks: Marks = []
  private(set) var traits: TaskTraits

  /// What it asks for.
  @inline(__always)
  var needs: Needs { traits.asksMore ? definition.needs : traits.usualNeeds }

  /// Ranks by the freshness rule, or does not: as its table does.
  package var ranksByFreshness: Bool { traits.isFresh }

  mutating func rank(byFreshness isFresh: Bool) {
    traits.isFresh = isFresh
    let window = definition.responseWindow
    if history != nil { own { $0.average(window, byFreshness: isFresh) } }
  }

  /// A period base that says: the period stands on the registration.
  package static let onRegistration: Instant = .min

  /// A record that counts from now (T4).
  package init(
    _ definition: TaskDefinition, sequence: UInt64, state: TaskState, expected: Span? = nil, at now: Instant
  ) {
    self.definition = definition
    traits = TaskTraits(definition)
    marks = Marks(definition)
    self.expected = expected ?? definition.expectedResponse
    self.sequence = sequence
    self.state = state
    registeredAt = now
    lastRun = now
    earliestBegin = definition.firstBegin(from: now)
    changedAt = now
  }

  /// A record as it was stored.
  package init(
    stored definition: TaskDefinition, sequence: UInt64, state: TaskState, attempts: UInt32, generation: UInt32,
    lastOutcome: Outcome?, stopReason: StopReason, registeredAt: Instant, earliestBegin: Instant, anchor: Instant,
    periodBase: Instant, lastRun: Instant, changedAt: Instant, responseTimes: [Span], failure: LastFailure?,
    freshSince: Instant? = nil, outcomes: (count: UInt8, news: UInt16) = (0, 0), isPaused: Bool = false,
    isNextSaid: Bool = false, expected: Span? = nil, output: Bytes? = nil, outputLost: UInt64 = 0,
    suspicion: Suspicion = .none, deaths: UInt8 = 0, ranDue: Instant? = nil, trail: WaitTrail? = nil
  ) {
    self.definition = definition
    traits = TaskTraits(definition)
    marks = Marks(definition)
    self.expected = expected ?? definition.expectedResponse
    self.sequence = sequence
    self.state = state
    self.attempts = attempts
    self.generation = generation
    self.lastOutcome = lastOutcome
    self.stopReason = stopReason
    self.registeredAt = registeredAt
    self.earliestBegin = earliestBegin
    self.lastRun = lastRun
    self.changedAt = changedAt
    self.anchor = anchor
    self.periodBase = periodBase
    self.responseTimes = responseTimes
    self.failure = failure
    self.freshSince = freshSince ?? lastRun
    self.outcomes = outcomes
    self.isPaused = isPaused
    self.isNextSaid = isNextSaid
    self.output = output
    self.outputLost = outputLost
    (self.suspicion, self.deaths) = (suspicion, deaths)
    if let ranDue { self.ranDue = ranDue }
    self.trail = trail
  }

  // MARK: History

  /// The last response times, oldest first, at most 30.
  package var responseTimes: [Span] {
    get { history?.responseTimes ?? [] }
    set {
      guard history != nil || !newValue.isEmpty else { return }
      let window = definition.responseWindow
      let isFresh = traits.isFresh
      own {
        $0.responseTimes = newValue
        $0.average(window, byFreshness: isFresh)
      }
    }
  }

  /// Copies the response times, oldest first, to where there is room for thirty; how many.
  package func copyResponseTimes(to target: UnsafeMutablePointer<Span>) -> Int {
    history?.copyTimes(to: target) ?? 0
  }

  /// The first earliest begin: the grid of an anchored task.
  package var anchor: Instant {
    get { history?.anchor ?? earliestBegin }
    set { if history != nil || newValue != earliestBegin { own { $0.anchor = newValue } } }
  }

  /// The end of the last period, which the next one stands on; `onRegistration` while there was none.
  package var periodBase: Instant {
    get { history?.periodBase ?? Self.onRegistration }
    set { if history != nil || newValue != Self.onRegistration { own { $0.periodBase = newValue } } }
  }

  /// What its age counts from under the freshness rule: the registration until it ran (F2).
  package var freshSince: Instant {
    get { history?.freshSince ?? lastRun }
    set { if history != nil || newValue != lastRun { own { $0.freshSince = newValue } } }
  }

  /// How many of its last outcomes are known, at most 16, and a bit for each, the latest the lowest: it found something
  /// new (F3).
  package var outcomes: (count: UInt8, news: UInt16) {
    get { history.map { ($0.outcomes, $0.news) } ?? (0, 0) }
    set { if history != nil || newValue.count > 0 { own { ($0.outcomes, $0.news) = newValue } } }
  }

  /// The run in flight, or 0.
  package var run: UInt64 {
    get { history?.run ?? 0 }
    set { if history != nil || newValue != 0 { own { $0.run = newValue } } }
  }

  /// Why its last run failed; nil after a success.
  package var failure: LastFailure? {
    get { history?.extras?.failure }
    set {
      guard failure != nil || newValue != nil else { return }
      own { $0.extras = .make(newValue, $0.extras?.output, $0.extras?.lost ?? 0, $0.extras?.trail) }
    }
  }

  /// What its last success left, never empty (W5).
  package var output: Bytes? {
    get { history?.extras?.output }
    set {
      guard output != nil || newValue != nil else { return }
      own { $0.extras = .make($0.extras?.failure, newValue, $0.extras?.lost ?? 0, $0.extras?.trail) }
    }
  }

  /// How many bytes its last success left which were too many to be kept; 0: none (V11).
  package var outputLost: UInt64 {
    get { history?.extras?.lost ?? 0 }
    set {
      guard outputLost != newValue else { return }
      own { $0.extras = .make($0.extras?.failure, $0.extras?.output, newValue, $0.extras?.trail) }
    }
  }

  /// What its instants do not tell of its waiting (W8).
  package var trail: WaitTrail? {
    get { marks.contains(.trailed) ? history?.extras?.trail : nil }
    set {
      guard marks.contains(.trailed) || newValue != nil else { return }
      marks.set(.trailed, newValue != nil)
      own { $0.extras = .make($0.extras?.failure, $0.extras?.output, $0.extras?.lost ?? 0, newValue) }
    }
  }

  /// When the wait was due that its last run ended, or will end; its first begin while there was none.
  package var ranDue: Instant {
    get { history.flatMap { $0.ranDue == Self.onRegistration ? nil : $0.ranDue } ?? earliestBegin }
    set { own { $0.ranDue = newValue } }
  }

  mutating func shiftRanDue(by span: Span) {
    guard let due = history?.ranDue, due != Self.onRegistration else { return }
    ranDue = due.adding(span)
  }

  var lastResponse: Span? { history?.last }
  /// It has one response time, so its first run was its last.
  var hasRunOnce: Bool { history?.hasOne ?? false }
  /// The known duration of its last run, before it ran; −1: unknown.
  var knownEstimateBefore: Span {
    history?.estimateBefore(definition.responseWindow, byFreshness: traits.isFresh) ?? expected
  }

  /// A run of it begins.
  @inline(__always)
  mutating func begin(run: UInt64) {
    let due = earliestBegin
    own { history in
      history.run = run
      history.ranDue = due
    }
  }

  /// Whether it has a response time.
  package var hasRun: Bool { history?.isEmpty == false }

  /// Its run is over and took this long; the thirty-first response time pushes the first one out.
  @_optimize(speed)
  mutating func endRun(_ outcome: Outcome, at now: Instant, responseTime: Span) {
    let (window, isFresh) = (definition.responseWindow, traits.isFresh)
    own { history in
      history.run = 0
      (history.suspicion, history.deaths) = (.none, 0)
      history.add(responseTime, window: window, byFreshness: isFresh)
      history.learn(outcome == .newData)
      history.freshSince = outcome.isSuccess ? now : Freshness.freshSince(history.freshSince, afterFailureAt: now)
    }
  }

  /// Whether it may have ended its process (V7).
  package var suspicion: Suspicion {
    get { history?.suspicion ?? .none }
    set { if suspicion != newValue { own { $0.suspicion = newValue } } }
  }

  /// How many of its runs their processes did not survive, since the last outcome.
  package var deaths: UInt8 {
    get { history?.deaths ?? 0 }
    set { if deaths != newValue { own { $0.deaths = newValue } } }
  }

  /// Its process ended while it ran (D3).
  mutating func endInterruptedRun(at now: Instant) {
    own { history in
      history.run = 0
      history.learn(false)
      history.freshSince = Freshness.freshSince(history.freshSince, afterFailureAt: now)
    }
  }

  /// Changes a history that only this record refers to.
  @inline(__always)
  private mutating func own(_ change: (TaskHistory) -> Void) {
    if history == nil {
      history = TaskHistory(anchor: earliestBegin, freshSince: lastRun)
    } else if !isKnownUniquelyReferenced(&history) {
      history = history?.copy()
    }
    // This record holds it; counting it once more would cost more than most changes.
    if let own = history.map({ Unmanaged.passUnretained($0) }) { own._withUnsafeGuaranteedRef(change) }
  }

  /// It may begin at another instant from now on; its anchor stays (C9).
  mutating func wait(until begin: Instant) {
    // A history keeps the anchor, which is the earliest begin while there is none.
    if history == nil && begin != earliestBegin { own { _ in } }
    earliestBegin = begin
  }

  /// Its first begin is this one, and so is its anchor.
  mutating func wait(first begin: Instant) {
    earliestBegin = begin
    anchor = begin
  }

  /// A failed task is enqueued again: it counts from now, and may begin at once (R7).
  mutating func startAgain(as state: TaskState, _ definition: TaskDefinition, expected: Span, at now: Instant) {
    self.definition = definition
    self.expected = expected
    trail = nil
    registeredAt = now
    lastRun = now
    freshSince = now
    wait(first: now)
    self.state = state
    changedAt = now
    attempts = 0
    stopReason = .none
    (isPaused, isNextSaid) = (false, false)
    bars.subtract(.kept)
  }

  /// Counts from now as if registered at this moment: a successor whose time has come (T5).
  package mutating func restart(as state: TaskState, at now: Instant) {
    registeredAt = now
    lastRun = now
    periodBase = Self.onRegistration
    freshSince = now
    wait(first: definition.firstBegin(from: now))
    self.state = state
    changedAt = now
    if state.isTerminal { isPaused = false }
  }

  /// An earlier run of this id has not come back (C4).
  package var isTaken: Bool {
    get { bars.contains(.taken) }
    set { bars.set(.taken, newValue) }
  }

  /// It is standing and had its run of the rolling window that is open (R1).
  package var isSpent: Bool {
    get { bars.contains(.spent) }
    set { bars.set(.spent, newValue) }
  }

  /// Whether the scheduler permits its id (T7).
  package var isPermitted: Bool {
    get { !bars.contains(.notPermitted) }
    set { bars.set(.notPermitted, !newValue) }
  }

  /// Whether the host has paused it (W3).
  package var isPaused: Bool {
    get { bars.contains(.paused) }
    set { bars.set(.paused, newValue) }
  }

  /// A host said its earliest begin (W7): until it begins then, nothing computes another.
  package var isNextSaid: Bool {
    get { marks.contains(.nextSaid) }
    set { marks.set(.nextSaid, newValue) }
  }

  /// Its run in flight uses up what a host said; a run that is stopped gives it back.
  var isOfNextSaid: Bool {
    get { history?.isOfNextSaid ?? false }
    set { if newValue != isOfNextSaid { own { $0.isOfNextSaid = newValue } } }
  }

  /// What stands where no task is; its sequence is 0.
  nonisolated(unsafe) package static let vacant = TaskRecord(.vacant, sequence: 0, state: .cancelled, at: 0)

  /// The number of its handler, also where it was set aside, or −1.
  package var handlerNumber: Int32 { handler < -1 ? Self.setAside(handler) : handler }

  /// A handler's number as it stands in a record that was set aside, and back.
  static func setAside(_ handler: Int32) -> Int32 { -2 - handler }

  package var priority: UInt8 { traits.priority }
  package var kind: Kind { traits.kind }
  package var isLive: Bool { !state.isTerminal }
  /// The newest instant that it knows: time has come as far as that (P2).
  package var newestInstant: Instant { max(lastRun, changedAt) }

  /// Whether it takes one of the places of its kind (T6).
  package var holdsPlace: Bool { !traits.isStanding && (state == .enqueued || state == .running) }

  /// The response time expected of the next run (S5, F5).
  package var estimate: Span { TaskDefinition.planned(knownEstimate) }
  /// The known duration of the next run; −1: unknown.
  package var knownEstimate: Span { history?.estimate ?? expected }

  /// Its handler's runs say what is expected of it, and not the definition.
  package var isExpectationLearnt: Bool { expected != definition.expectedResponse }

  /// What its turn follows from (F2, F3, F4, F6); nil unless the freshness rule ranks.
  package var turn: PaceTerms? { traits.isFresh ? paceTerms : nil }

  /// The same, whatever ranks.
  package var paceTerms: PaceTerms {
    let isDeclared = definition.responseWindow == 0
    let measured = isDeclared ? nil : history?.cost
    let cost = Freshness.cost(measured: measured, declared: TaskDefinition.planned(expected), isDeclared: isDeclared)
    let known = traits.isSteady ? (count: 0, news: 0) : outcomes
    let news = UInt8(truncatingIfNeeded: known.news.nonzeroBitCount)
    let pace = Freshness.pace(cost: cost, priority: priority, runs: known.count, news: news, attempts: attempts)
    return PaceTerms(freshSince: freshSince, cost: cost, runs: known.count, news: news, pace: pace)
  }

  /// The class of its pace (F6).
  package var pace: Int { paceTerms.pace }
}

/// The same of a record where it is: a getter of the record itself is handed a copy, which counts references.
extension UnsafeMutablePointer<TaskRecord> {
  var kind: Kind { @inline(__always) get { pointee.traits.kind } }
  var priority: UInt8 { @inline(__always) get { pointee.traits.priority } }

  var holdsPlace: Bool {
    @inline(__always) get {
      !pointee.traits.isStanding && (pointee.state == .enqueued || pointee.state == .running)
    }
  }

  var estimate: Span { @inline(__always) get { TaskDefinition.planned(knownEstimate) } }
  var knownEstimate: Span { @inline(__always) get { pointee.history?.estimate ?? pointee.expected } }
  var leastRoom: Span { @inline(__always) get { TaskDefinition.leastRoom(for: knownEstimate) } }

  /// What it is ranked by in its line, the least first.
  var agesSince: Instant {
    @inline(__always) get { pointee.traits.isFresh ? pointee.freshSince : pointee.lastRun }
  }

  /// In which line of its class it stands.
  var line: Int {
    @inline(__always) get { pointee.traits.isFresh ? pointee.pace : Int(pointee.traits.priority) - 1 }
  }

  var run: UInt64 { @inline(__always) get { pointee.history?.run ?? 0 } }

  var hasTrail: Bool { @inline(__always) get { pointee.marks.contains(.trailed) } }

  /// It is enqueued, held or blocked.
  var isWaiting: Bool { pointee.state.rawValue < TaskState.running.rawValue }
}

// What stands in a scheduler at a moment, and what must hold at every moment: the ground of the random walks.

import SeleneCore

@testable import SeleneEngine

/// All that a host can see of a record.
struct Sight: Equatable, PlainTask {
  let definition: TaskDefinition
  let sequence: UInt64
  var state: TaskState
  var attempts: UInt32
  var generation: UInt32
  var registeredAt: Instant
  var earliestBegin: Instant
  var anchor: Instant
  var periodBase: Instant
  var lastRun: Instant
  /// When it became terminal; 0 while it lives.
  var endedAt: Instant
  var responseTimes: [Span]
  var lastOutcome: Outcome?
  var stopReason: StopReason
  /// When its last run failed, if none has succeeded since, and which attempt that was (R7).
  var failedAt: Instant?
  var failedAttempt: UInt32?
  var run: UInt64
  var isPaused: Bool
  /// A host said its earliest begin, which counts once (W7).
  var isNextSaid: Bool
  /// What its last success left (W5).
  var output: String?

  init(_ record: TaskRecord) {
    definition = record.definition
    sequence = record.sequence
    state = record.state
    attempts = record.attempts
    generation = record.generation
    registeredAt = record.registeredAt
    earliestBegin = record.earliestBegin
    anchor = record.anchor
    periodBase = record.periodBase
    lastRun = record.lastRun
    endedAt = record.state.isTerminal ? record.changedAt : 0
    responseTimes = record.responseTimes
    lastOutcome = record.lastOutcome
    stopReason = record.stopReason
    failedAt = record.failure?.at
    failedAttempt = record.failure?.attempt
    run = record.run
    isPaused = record.isPaused
    isNextSaid = record.isNextSaid
    output = record.output?.buffer.text
  }

  var id: String { definition.id.text }
  var kind: Kind { definition.kind }
  var isLive: Bool { !state.isTerminal }
  var takesPlace: Bool { definition.schedule != .standing && (state == .enqueued || state == .running) }
  var estimate: Span {
    Oracle.estimate(
      responseTimes, window: Int(definition.responseWindow),
      declared: definition.expectedResponse < 0 ? 5 * Time.second : definition.expectedResponse)
  }
  /// Nobody knows what it takes: it fits wherever anything is begun, unless the fit is strict (V17). The runs of its handler
  /// would say it (R8) if its definition asked for them.
  var isUnknown: Bool { definition.expectedResponse < 0 && definition.responseWindow == 0 }
  var entrant: Entrant { Entrant(id: id, priority: Int(definition.priority), sequence: sequence, lastRun: lastRun) }

  static func == (a: Sight, b: Sight) -> Bool {
    a.definition === b.definition && a.sequence == b.sequence && a.state == b.state && a.attempts == b.attempts
      && a.generation == b.generation && a.registeredAt == b.registeredAt && a.earliestBegin == b.earliestBegin
      && a.anchor == b.anchor && a.periodBase == b.periodBase && a.lastRun == b.lastRun && a.endedAt == b.endedAt
      && a.responseTimes == b.responseTimes && a.lastOutcome == b.lastOutcome && a.stopReason == b.stopReason
      && a.failedAt == b.failedAt && a.failedAttempt == b.failedAttempt && a.run == b.run
      && a.isPaused == b.isPaused && a.isNextSaid == b.isNextSaid && a.output == b.output
  }
}

/// What the turn of a task follows from (F2, F3, F4, F6).
struct Turn: Equatable {
  let freshSince: Instant
  let cost: Span
  let runs: Int
  let news: Int
  let pace: Int

  init(_ terms: PaceTerms) {
    (freshSince, cost, pace) = (terms.freshSince, terms.cost, terms.pace)
    (runs, news) = (Int(terms.runs), Int(terms.news))
  }

  init(_ sight: Sight, in diary: PlainFreshness) {
    (freshSince, cost, pace) = (diary.freshSince(sight), diary.cost(sight), diary.pace(sight))
    (runs, news) = diary.news(sight)
  }
}

/// All records of a scheduler at a moment.
struct Snapshot {
  let now: Instant
  /// Every record by its number.
  var sights: [UInt64: Sight] = [:]
  /// The number of the record that each id shows.
  var visible: [String: UInt64] = [:]
  /// The numbers of those who wait behind an id, in order.
  var chains: [String: [UInt64]] = [:]
  private(set) var counts: [TaskState: UInt64] = [:]
  /// Under the freshness rule what the turn of each record follows from.
  private(set) var turns: [UInt64: Turn] = [:]
  /// Which of those that a record comes after it still waits for: a bit for each.
  private(set) var waits: [UInt64: UInt32] = [:]

  init(_ scheduler: Scheduler, at now: Instant) {
    self.now = now
    let table = scheduler.table
    for slot in table.slots where !table.isVacant(slot) {
      let sight = Sight(table[slot])
      sights[sight.sequence] = sight
      turns[sight.sequence] = table[slot].turn.map(Turn.init)
      let waitsFor = table.waitsFor(slot)
      if waitsFor != 0 { waits[sight.sequence] = waitsFor }
      guard !table.isSuccessor(slot) else { continue }
      visible[sight.id] = sight.sequence
      let waiting = table.waiting(behind: slot)
      if !waiting.isEmpty { chains[sight.id] = waiting.map { table[$0].sequence } }
    }
    let census = scheduler.census
    for raw: UInt8 in 0...6 { if let state = TaskState(rawValue: raw) { counts[state] = census.count(state) } }
  }

  subscript(id: String) -> Sight? { visible[id].flatMap { sights[$0] } }

  func chain(_ id: String) -> [Sight] { (chains[id] ?? []).compactMap { sights[$0] } }

  /// Those of a kind that wait for a place.
  func held(_ kind: Kind) -> [Sight] { sights.values.filter { $0.state == .held && $0.kind == kind } }

  func takenPlaces(_ kind: Kind) -> Int { sights.values.filter { $0.takesPlace && $0.kind == kind }.count }

  // MARK: What must hold at every moment

  /// Checks what does not depend on how it came to be (T3, T5, T6).
  func check(limits: PerKind<UInt32?>) throws {
    for raw: UInt8 in 0...6 {
      guard let state = TaskState(rawValue: raw) else { continue }
      let count = sights.values.filter { $0.state == state }.count
      try verify(counts[state] == UInt64(count), "the census counts \(counts[state] ?? 0) \(state), there are \(count)")
    }
    for kind in Kind.allCases {
      if let limit = limits[kind] {
        try verify(takenPlaces(kind) <= Int(limit), "\(takenPlaces(kind)) \(kind) tasks are pending, limit \(limit)")
        try verify(
          held(kind).isEmpty || takenPlaces(kind) == Int(limit), "a \(kind) task is held while a place is free")
      }
    }
    let waiting = chains.values.joined()
    try verify(Set(waiting).count == waiting.count, "a record waits twice")
    for sight in sights.values {
      let what = "\(sight.id) number \(sight.sequence)"
      try verify((sight.run != 0) == (sight.state == .running), "\(what): run \(sight.run) while \(sight.state)")
      let waits = waiting.contains(sight.sequence) || waits[sight.sequence] != nil
      try verify((sight.state == .blocked) == waits, "\(what): blocked and waits for nobody")
      try verify(sight.state != .running || sight.attempts > 0, "\(what): runs without an attempt")
      try verify(sight.responseTimes.count <= 30, "\(what): \(sight.responseTimes.count) response times")
      try verify(sight.responseTimes.allSatisfy { (0...Time.day).contains($0) }, "\(what): \(sight.responseTimes)")
      try verify(sight.lastRun >= sight.registeredAt, "\(what): ran before it was registered")
      try verify(sight.lastRun <= now && sight.registeredAt <= now, "\(what): ran in the future")
      let maximum = sight.definition.maxAttempts
      if maximum > 0, sight.definition.schedule != .standing, sight.generation == 0 {
        try verify(sight.attempts <= maximum, "\(what): \(sight.attempts) attempts of \(maximum)")
        let isLast = sight.attempts == maximum && sight.state == .enqueued
        try verify(!isLast, "\(what): waits, though its attempts are used up")
      }
    }
  }
}

extension Sight {
  /// Whether its periods begin when its host says.
  var isByCalendar: Bool { definition.schedule == .periodic && definition.recurrence == .calendar }
}

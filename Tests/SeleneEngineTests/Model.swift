// The scheduler as the design's words have it, in plain lists: what random walks compare the engine with.

import SeleneCore

@testable import SeleneEngine

/// A run as the model knows it.
struct ModelRun {
  let token: UInt64
  let sequence: UInt64
  let definition: TaskDefinition
  let cycle: UInt64
  let startedAt: Instant
  let expiresAt: Instant
  let deadline: Instant
  /// nil while it is open.
  var outcome: Outcome?
  var endedAt: Instant = 0
  var reason: StopReason = .none
  var wasAsked = false
  var isBack = false
  /// What it leaves if it succeeds (W5).
  var output: String?
  /// When its timeout asks it to stop, and when it ends it; never without one (R3).
  let timesOutAt: Instant
  let isOverAt: Instant
  /// It counts for the quota of expedited tasks (W10).
  var isExpedited = false

  var id: String { definition.id.text }
  var isOpen: Bool { outcome == nil }
}

/// A cycle as the model knows it.
struct ModelCycle {
  let handle: UInt64
  let kinds: KindSet
  /// The kinds of its tasks, also of one task.
  let serves: KindSet
  let lanes: Int
  let begin: Instant
  let expiresAt: Instant
  let deadline: Instant
  let strictFit: Bool
  /// Each pick looks at what is eligible then (R1).
  let isRolling: Bool
  /// It is the window of one task (C14).
  let isOfOneTask: Bool
  /// Those who were eligible at begin, by score alone, without those who ran or changed since. Who goes before others
  /// is asked at each pick, since the quota of expedited tasks may be used up meanwhile (W10).
  var candidates: [(sequence: UInt64, score: Fraction)]
  let eligible: Int
  /// The kinds of which it is too early for others than expedited tasks (W10).
  var alone: KindSet = []
  /// Those who were near their latest begin when it began.
  var urgent: Set<UInt64> = []
  var runs: [UInt64] = []
  var hasExpired = false
}

/// All that the rules make of the calls so far.
final class Model {
  let limits: PerKind<UInt32?>
  let holds: Bool
  let observedRange: Bool
  /// The diary of all runs, if the freshness rule ranks.
  var diary: PlainFreshness?
  let intervals: PerKind<Span>
  let releaseAfter: Span
  let stopGrace: Span
  let bounds = BackoffBounds()
  /// Ids that begin so are not permitted.
  static let forbidden = "x"

  var now: Instant
  /// What jitter draws from (W11).
  var generator: Generator
  var records: [UInt64: Sight] = [:]
  var visible: [String: UInt64] = [:]
  var chains: [String: [UInt64]] = [:]
  var lastSequence: UInt64 = 0
  /// Of records whose runs their processes did not survive: 1 quarantined, 2 to blame, how often; and of runs at their
  /// dispatch (V7).
  var suspicion: [UInt64: Int] = [:]
  var suspicionOfRuns: [UInt64: Int] = [:]
  var deaths: [UInt64: Int] = [:]
  /// The task, and its window, for which nothing begins until it can run alone, and since when: for 30 s, and again 5 min later.
  var clears: (cycle: UInt64, sequence: UInt64, since: Instant)?
  /// The numbers of the records that a record comes after (W4), in the order of its definition; 0: none.
  var before: [UInt64: [UInt64]] = [:]
  var liveHandlers: Set<String> = []
  /// Names that were unregistered and whose last run has not come back.
  var retiredHandlers: Set<String> = []
  /// What the host has set of groups (W3).
  var groups: [String: GroupTerms] = [:]
  var satisfied = Constraints.all
  /// The conditions that the host has defined, and whether they are satisfied (W2).
  var conditions: [String: Bool] = [:]
  var enabled = KindSet.all
  var lastBegin = PerKind<Instant?>(repeating: nil)
  var cycles: [ModelCycle] = []
  /// Numbers of the standing records that had their run of the rolling cycle that is open (R1).
  var spent: Set<UInt64> = []
  /// Whose run in flight is that of an instant which a host said (W7).
  var ranAsSaid: Set<UInt64> = []
  var runs: [UInt64: ModelRun] = [:]
  let quota: Span
  /// The expedited runs that are over.
  var uses: [(begin: Instant, end: Instant)] = []

  init(_ draft: OptionsDraft, at now: Instant) {
    limits = PerKind(
      refresh: draft.maxPendingRefresh == .max ? nil : draft.maxPendingRefresh,
      processing: draft.maxPendingProcessing == .max ? nil : draft.maxPendingProcessing)
    (holds, observedRange, releaseAfter) = (draft.holds, draft.observedRange, draft.releaseAfter)
    stopGrace = draft.stopGrace
    quota = draft.expeditedQuota
    diary = draft.freshness ? PlainFreshness() : nil
    generator = Generator(seed: draft.seed)
    intervals = PerKind(refresh: draft.minimumIntervalRefresh, processing: draft.minimumIntervalProcessing)
    self.now = now
  }

  subscript(id: String) -> Sight? { visible[id].flatMap { records[$0] } }

  // MARK: What follows from the state

  /// An id is taken from a dispatch until the run is decided and back (C4).
  func isTaken(_ id: String) -> Bool { runs.values.contains { !$0.isBack && $0.id == id } }

  func isPlaceFree(_ kind: Kind) -> Bool {
    guard let limit = limits[kind] else { return true }
    return records.values.filter { $0.takesPlace && $0.kind == kind }.count < Int(limit)
  }

  /// Runs of a group that have not come back (W3).
  func running(in group: String) -> Int { runs.values.filter { !$0.isBack && $0.definition.groupName == group }.count }

  func isFull(_ group: String) -> Bool {
    let limit = groups[group]?.limit ?? 0
    return limit > 0 && running(in: group) >= Int(limit)
  }

  func isGroupOpen(_ sight: Sight) -> Bool {
    guard let group = sight.definition.groupName else { return true }
    return groups[group]?.isPaused != true && !isFull(group)
  }

  /// S1 without the time, and room in its group.
  func isRunnable(_ sight: Sight, kinds: KindSet) -> Bool { isEligible(sight, kinds: kinds) && isGroupOpen(sight) }

  /// Whether all that a task asks for is satisfied.
  func hasAll(_ definition: TaskDefinition) -> Bool {
    definition.constraints.isSubset(of: satisfied) && definition.conditionNames.allSatisfy { conditions[$0] == true }
  }

  /// S1 without the time.
  func isEligible(_ sight: Sight, kinds: KindSet) -> Bool {
    sight.state == .enqueued && kinds.contains(sight.kind) && liveHandlers.contains(sight.definition.handler.text)
      && hasAll(sight.definition) && !sight.id.hasPrefix(Self.forbidden)
      && !isTaken(sight.id) && !sight.isPaused
  }

  /// The eligible tasks of some kinds, best first.
  func ranked(_ kinds: KindSet, of cycle: ModelCycle? = nil) -> Ranked {
    inFront(rankedAlike(kinds, of: cycle)) { records[$0]?.isUrgent(at: now) == true }
  }

  /// The same by score alone, as if none went before others.
  func rankedAlike(_ kinds: KindSet, of cycle: ModelCycle? = nil) -> Ranked {
    ranked(
      records.values
        .filter { $0.earliestBegin <= now && isEligible($0, kinds: kinds) && !hadItsRun($0, of: cycle) })
  }

  /// Whether a standing task has had its run of a rolling window that is open: the given one, or any that is not past its
  /// deadline, where the next begin ends it (C5).
  private func hadItsRun(_ sight: Sight, of cycle: ModelCycle?) -> Bool {
    guard spent.contains(sight.sequence) else { return false }
    return cycle != nil || cycles.contains { $0.isRolling && $0.kinds.contains(sight.kind) && now <= $0.deadline }
  }

  /// What is near its latest begin goes first, the earliest of these before the others (W9); then what is expedited.
  func inFront(_ all: Ranked, isUrgent: (UInt64) -> Bool) -> Ranked {
    let order = { (sequence: UInt64) in (self.records[sequence]?.latestAt ?? .max, sequence) }
    return withExpedited(
      all.filter { isUrgent($0.sequence) }.sorted { order($0.sequence) < order($1.sequence) },
      all.filter { !isUrgent($0.sequence) })
  }

  typealias Ranked = [(sequence: UInt64, score: Fraction)]

  /// What is expedited goes behind what is urgent and before the others, while something of the quota is left (W10).
  func withExpedited(_ urgent: Ranked, _ others: Ranked) -> Ranked {
    guard hasQuota else { return urgent + others }
    let isExpedited = { (sequence: UInt64) in self.records[sequence]?.definition.isExpedited == true }
    let priority = { (sequence: UInt64) in self.records[sequence]?.definition.priority ?? 0 }
    return urgent
      + others.filter { isExpedited($0.sequence) }.sorted {
        (priority($1.sequence), $0.sequence) < (priority($0.sequence), $1.sequence)
      }
      + others.filter { !isExpedited($0.sequence) }
  }

  // MARK: The quota of expedited tasks (W10)

  func used(at instant: Instant) -> Span {
    uses.filter { $0.end > instant - Time.day }.reduce(0) { $0 + $1.end - $1.begin }
      + runs.values.filter { $0.isExpedited && $0.isOpen }.reduce(0) { $0 + instant - $1.startedAt }
  }

  var hasQuota: Bool { quota == Time.never || used(at: now) < quota }

  /// When something is left again; nil if never.
  var freeAt: Instant? {
    if hasQuota { return now }
    let open = runs.values.filter { $0.isExpedited && $0.isOpen }.reduce(0) { $0 + now - $1.startedAt }
    return uses.map { $0.end + Time.day }.filter { $0 > now }.sorted().first { at in
      uses.filter { $0.end > at - Time.day }.reduce(open) { $0 + $1.end - $1.begin } < quota
    }
  }

  /// Whether a window of a kind may be too early: for an expedited task.
  func hasExpedited(_ kind: Kind) -> Bool {
    hasQuota
      && records.values.contains {
        $0.definition.isExpedited && $0.earliestBegin <= now && isRunnable($0, kinds: KindSet(kind))
      }
  }

  /// Tasks in their order (S4, F7), with their scores among each other (S2, S3, F8).
  func ranked(_ eligible: [Sight]) -> [(sequence: UInt64, score: Fraction)] {
    guard let diary else {
      return Oracle.ranked(eligible.map(\.entrant), observedRange: observedRange, at: now)
        .map { ($0.entrant.sequence, $0.score) }
    }
    let indices = eligible.map { (sequence: $0.sequence, index: diary.index($0, at: now)) }
    let greatest = indices.map(\.index).max() ?? 0
    return indices.sorted { ($1.index, $0.sequence) < ($0.index, $1.sequence) }
      .map { ($0.sequence, greatest == 0 ? .zero : Fraction($0.index, greatest)) }
  }

  /// What its next run is expected to take (S5, F5).
  func estimate(_ sight: Sight) -> Span { diary?.estimate(sight) ?? sight.estimate }

  // MARK: Writing

  /// A record changed: it waits for the next cycle (C2).
  func write(_ sight: Sight) {
    records[sight.sequence] = sight
    // Nothing is left to pause of what is over, and it is due no more.
    if sight.state.isTerminal {
      records[sight.sequence]?.isPaused = false
      records[sight.sequence]?.isNextSaid = false
    }
    for index in cycles.indices { cycles[index].candidates.removeAll { $0.sequence == sight.sequence } }
  }

  func remove(_ sequence: UInt64) {
    records[sequence] = nil
    before[sequence] = nil
    for index in cycles.indices { cycles[index].candidates.removeAll { $0.sequence == sequence } }
  }

  /// A new record.
  func introduce(
    _ definition: TaskDefinition, _ state: TaskState, shows: Bool, isAgain: Bool = false, after named: [UInt64] = []
  ) {
    lastSequence += 1
    if !named.isEmpty { before[lastSequence] = named }
    var sight = Sight(TaskRecord(definition, sequence: lastSequence, state: state, at: now))
    if !isAgain && (state == .enqueued || state == .held) { begin(&sight, from: now) }
    if state == .failed && !named.isEmpty { (sight.failedAt, sight.failedAttempt) = (now, 0) }
    write(sight)
    if shows { visible[definition.id.text] = lastSequence }
  }

  func end(_ sequence: UInt64, as state: TaskState, at instant: Instant) {
    guard var sight = records[sequence] else { return }
    (sight.state, sight.run, sight.endedAt) = (state, 0, instant)
    write(sight)
  }

  /// Free places go to the held: the higher priority first, then the lower sequence (T6).
  func promote() {
    for kind in Kind.allCases {
      while isPlaceFree(kind) {
        let held = records.values.filter { $0.state == .held && $0.kind == kind }
        let best = held.min {
          ($1.definition.priority, $0.sequence) < ($0.definition.priority, $1.sequence)
        }
        guard var best else { break }
        best.state = .enqueued
        write(best)
      }
    }
  }

  // MARK: Stops and coming back

  /// A run is over for a reason that is not its own (C8).
  func stop(_ token: UInt64, _ reason: StopReason) {
    guard var run = runs[token], run.isOpen else { return }
    // What ends a run goes before any request.
    run.reason = reason
    (run.outcome, run.endedAt, run.wasAsked) = (.stopped, now, true)
    if run.isExpedited { uses.append((run.startedAt, now)) }
    runs[token] = run
    if var sight = records[run.sequence], sight.run == token {
      (sight.state, sight.run, sight.attempts) = (.enqueued, 0, sight.attempts - 1)
      (sight.stopReason, sight.lastOutcome) = (reason, .stopped)
      if ranAsSaid.remove(sight.sequence) != nil { sight.isNextSaid = true }
      if sight.isByCalendar && sight.isNextSaid { sight.earliestBegin = min(sight.earliestBegin, now) }
      write(sight)
    }
  }

  /// A run came back or was let go.
  func comeBack(_ token: UInt64) {
    guard let run = runs[token], !run.isBack else { return }
    runs[token]?.isBack = true
    let name = run.definition.handler.text
    if !runs.values.contains(where: { !$0.isBack && $0.definition.handler.text == name }) {
      retiredHandlers.remove(name)
    }
  }

  // MARK: Comparing

  /// Compares with what is there; takes over definitions that are new.
  func check(_ snapshot: Snapshot) throws {
    try verify(snapshot.now == now, "it is \(snapshot.now), \(now) expected")
    for (sequence, sight) in records {
      let turn = diary.map { Turn(sight, in: $0) }
      try verify(
        snapshot.turns[sequence] == turn, "\(sight.id): \(turn as Any) expected, \(snapshot.turns[sequence] as Any)")
      guard let there = snapshot.sights[sequence] else { throw Differs("\(sight.id) number \(sequence) is gone") }
      if there.definition !== sight.definition {
        try verify(
          there.definition.isSame(as: sight.definition), "\(sight.id) number \(sequence) has another definition")
        records[sequence] = sight.with(there.definition)
      }
      try verify(
        there == records[sequence], "\(sight.id) number \(sequence) is\n  \(there.words), expected\n  \(sight.words)")
    }
    for sight in snapshot.sights.values where records[sight.sequence] == nil {
      throw Differs("\(sight.id) number \(sight.sequence) should not be there: \(sight.words)")
    }
    try verify(snapshot.waits == waits, "waiting for others: \(snapshot.waits), \(waits) expected")
    try verify(snapshot.visible == visible, "ids show \(snapshot.visible), \(visible) expected")
    try verify(
      snapshot.chains == chains.filter { !$0.value.isEmpty }, "chains are \(snapshot.chains), \(chains) expected")
  }
}

extension Sight {
  /// The last instant at which it may begin, while it waits and has one (W9).
  var latestAt: Instant? {
    guard definition.latestBegin > 0, state == .enqueued || state == .held else { return nil }
    return registeredAt + definition.latestBegin
  }

  func isUrgent(at now: Instant) -> Bool {
    let wait = definition.latestBegin - definition.initialDelay
    return latestAt.map { now >= $0 - min(wait / 10, 15 * Time.minute) } ?? false
  }

  /// The same with another definition object.
  func with(_ definition: TaskDefinition) -> Sight {
    var record = TaskRecord(definition, sequence: sequence, state: state, at: 0)
    (record.attempts, record.generation, record.registeredAt) = (attempts, generation, registeredAt)
    (record.earliestBegin, record.anchor, record.periodBase) = (earliestBegin, anchor, periodBase)
    (record.lastRun, record.changedAt, record.responseTimes) = (lastRun, endedAt, responseTimes)
    (record.lastOutcome, record.stopReason, record.run) = (lastOutcome, stopReason, run)
    (record.isPaused, record.isNextSaid) = (isPaused, isNextSaid)
    record.output = output.map { Bytes($0) }
    if let failedAt, let failedAttempt { record.failure = LastFailure(at: failedAt, attempt: failedAttempt, nil) }
    return Sight(record)
  }

  /// For people.
  var words: String {
    """
    \(state), run \(run), attempts \(attempts), generation \(generation), registered \(registeredAt), earliest \
    \(earliestBegin), anchor \(anchor), base \(periodBase), last \(lastRun), ended \(endedAt), times \(responseTimes), \
    \(lastOutcome.map { "\($0)" } ?? "no outcome"), \(stopReason), failed \(failedAt ?? 0) in \(failedAttempt ?? 0), \
    output \(output ?? "none")
    """
  }
}

extension TaskDefinition {
  /// The name of its group, or nil.
  var groupName: String? { group.map { $0.name.buffer.text } }

  /// The names of the conditions of the host that it asks for, in the order of their bytes.
  var conditionNames: [String] { (0..<conditionCount).map { condition($0).text } }

  /// Whether both say the same.
  func isSame(as other: TaskDefinition) -> Bool {
    id.equals(other.id) && handler.equals(other.handler) && kind == other.kind && schedule == other.schedule
      && priority == other.priority && existing == other.existing && initialDelay == other.initialDelay
      && period == other.period && flex == other.flex && recurrence == other.recurrence && backoff == other.backoff
      && backoffDelay == other.backoffDelay && maxAttempts == other.maxAttempts && constraints == other.constraints
      && timeout == other.timeout && jitter == other.jitter && latestBegin == other.latestBegin
      && terms.numbers.flags == other.terms.numbers.flags
      && expectedResponse == other.expectedResponse
      && responseWindow == other.responseWindow && groupName == other.groupName
      && conditionNames == other.conditionNames
      && after.map { Array($0.id) } == other.after.map { Array($0.id) }
      && tagCount == other.tagCount && (0..<tagCount).allSatisfy { tag($0).equals(other.tag($0)) }
  }
}

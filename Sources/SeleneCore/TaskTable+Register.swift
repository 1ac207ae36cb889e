// Registering: what happens when an id is new, ended, or live (T4 to T7).

extension TaskTable {
  /// The longest chain of successors (T5).
  package static let mostWaiting = 1000

  /// Registers a checked definition.
  ///
  /// - Throws: `notPermitted`, `unavailable`, `invalidArgument` (the existing policy forbids it), `tooManyPending`.
  @_optimize(speed)
  package func register(
    _ new: TaskDefinition, at now: Instant, enabled: KindSet, _ changes: inout Changes
  ) throws(SeleneError) -> Disposition {
    try refuse(new, unlessIn: enabled)
    let hash = TextIndex.hash(new.id)
    let old = find(new.id, hash)
    guard let old, self[old].isLive else {
      if let old, new.existing == .skip, self[old].state == .succeeded || firstNeeding(old) != nil { return .kept }
      if let old { try refuseIfNeeded(old) }
      return try start(new, hash, after: old, at: now, &changes)
    }
    switch new.existing {
    case .keep, .skip: return .kept
    case .replace: return try replace(old, with: new, at: now, &changes)
    case .update: return try update(old, with: new, at: now, &changes)
    case .append, .appendOrReplace: return try append(new, behind: old, at: now, &changes)
    }
  }

  /// Adds a task that was taken from a fleet: limits were looked at there (T6), and here no live task has its id.
  ///
  /// - Throws: `notPermitted`, `unavailable`.
  package func receive(
    _ new: TaskDefinition, at now: Instant, enabled: KindSet, _ changes: inout Changes
  ) throws(SeleneError) -> Int {
    try refuse(new, unlessIn: enabled)
    let hash = TextIndex.hash(new.id)
    if let old = find(new.id, hash) { remove(old) }
    return introduce(new, hash, .enqueued, .added, at: now, &changes)
  }

  /// A live task is due at that instant, once, whatever would be computed (W7).
  ///
  /// - Throws: `notFound`, `invalidArgument` (it is over).
  package func setNext(_ id: UnsafeRawBufferPointer, _ next: Instant) throws(SeleneError) {
    guard let slot = find(id) else { throw .noTask(id) }
    let record = self[slot]
    guard record.isLive else {
      throw SeleneError(.invalidArgument, "id", name: id, "is \(record.state.name); only a live task can be due again")
    }
    step(slot, at: now) { $0.sayNext(next) }
  }

  /// A record that has ended stays while a task that is not over comes after it: what that one is to find there would be
  /// gone with it (V9).
  ///
  /// - Throws: `alreadyExists`, naming the task that waits.
  private func refuseIfNeeded(_ slot: Int) throws(SeleneError) {
    guard let needing = firstNeeding(slot) else { return }
    let record = self[slot]
    let wayOut: Detail = record.state == .failed ? "retry it" : "SELENE_EXISTING_SKIP keeps it"
    throw SeleneError(
      .alreadyExists, "id", name: record.definition.id,
      "has ended, and \"\(text: self[needing].definition.id)\", which comes after it, still needs its record; \(wayOut)"
    )
  }

  func refuse(_ task: TaskDefinition, unlessIn enabled: KindSet) throws(SeleneError) {
    guard policy.permits.permits(task.id) else {
      throw SeleneError(.notPermitted, "id", name: task.id, "is not among the permitted ids")
    }
    guard enabled.contains(task.kind) else {
      throw SeleneError(.unavailable, "kind", "is switched off").of(task.kind.name)
    }
  }

  /// A new record where no live one is.
  @_optimize(speed)
  private func start(
    _ new: TaskDefinition, _ hash: UInt32, after old: Int?, at now: Instant, _ changes: inout Changes
  ) throws(SeleneError) -> Disposition {
    let new = new.afterCount > 0 ? try resolve(new) : new
    var state = TaskState.enqueued
    if new.existing == .append, let old, self[old].state != .succeeded {
      state = self[old].state
    } else {
      state = try admit(new, freeing: nil)
    }
    if let old { remove(old) }
    let disposition = state == .held ? Disposition.held : .added
    introduce(new, hash, state, disposition, at: now, &changes)
    return disposition
  }

  private func replace(
    _ old: Int, with new: TaskDefinition, at now: Instant, _ changes: inout Changes
  ) throws(SeleneError) -> Disposition {
    let new = new.afterCount > 0 ? try resolve(new) : new
    var state = try admit(new, freeing: self[old].holdsPlace ? self[old].kind : nil)
    _ = cancel(old, .replaced, at: now, &changes)
    if new.afterCount > 0 {
      // What was cancelled with it may be what this comes after.
      switch admission(of: new) {
      case .waits: break
      case .starts: if state == .blocked { state = policy.places[new.kind] == nil ? .enqueued : .held }
      case .ends(let ended, _): state = ended
      }
    }
    if let ended = find(new.id) { remove(ended) }
    introduce(new, TextIndex.hash(new.id), state, .replaced, at: now, &changes)
    promote(&changes)
    return .replaced
  }

  private func update(
    _ slot: Int, with new: TaskDefinition, at now: Instant, _ changes: inout Changes
  ) throws(SeleneError) -> Disposition {
    let old = self[slot].definition
    guard old.kind == new.kind else {
      throw SeleneError(.invalidArgument, "kind", "cannot change in an update; use SELENE_EXISTING_REPLACE")
    }
    guard old.schedule == new.schedule else {
      throw SeleneError(.invalidArgument, "schedule", "cannot change in an update; use SELENE_EXISTING_REPLACE")
    }
    let new = try keepAfter(of: old, in: new)
    let (handler, expected) = (handlerNumber(new), expected(of: new))
    var generator = generator
    step(slot, always: index.hasRankings || records[slot].state == .running, at: now) {
      $0.update(new, at: now, using: &generator)
      $0.expected = expected
      $0.handler = handler
    }
    self.generator = generator
    redefine(slot, from: old)
    changes.add(Change(.registered, self[slot], detail: Disposition.updated.rawValue))
    return .updated
  }

  private func append(
    _ new: TaskDefinition, behind head: Int, at now: Instant, _ changes: inout Changes
  ) throws(SeleneError) -> Disposition {
    guard self[head].definition.schedule == .once else {
      throw SeleneError(
        .invalidArgument, "existing", "the live task of this id is not a once task and has no successors")
    }
    guard self[head].kind == new.kind else {
      throw SeleneError(.invalidArgument, "kind", "a successor must have the kind of the live task with its id")
    }
    let waiting = waiting(behind: head)
    guard waiting.count < Self.mostWaiting else {
      throw SeleneError.range("id", waiting.count + 1, 0, Int64(Self.mostWaiting)).code(.tooManyPending)
        .problem("successors of one task are too many, at most \(Self.mostWaiting) can wait")
    }
    let slot = add(new, .blocked, at: now)
    setWaiting(behind: head, waiting + [slot])
    changes.add(Change(.registered, self[slot], detail: Disposition.appended.rawValue))
    return .appended
  }

  /// Adds a record and shows it; its id, of this hash, shows nothing.
  @discardableResult
  private func introduce(
    _ new: TaskDefinition, _ hash: UInt32, _ state: TaskState, _ disposition: Disposition, at now: Instant,
    isMoved: Bool = true, _ changes: inout Changes
  ) -> Int {
    let slot = add(new, state, at: now, isMoved: isMoved)
    show(slot, firstOf: hash)
    if new.afterCount > 0 { connect(slot, at: now) }
    changes.add(Change(.registered, self[slot], detail: disposition.rawValue))
    if state == .held { changes.add(Change(.held, self[slot])) }
    return slot
  }

  /// Whether a new record finds a place, waits for one, or is refused (T6).
  private func admit(_ new: TaskDefinition, freeing kind: Kind?) throws(SeleneError) -> TaskState {
    if new.afterCount > 0 {
      switch admission(of: new) {
      case .starts: break
      case .waits: return .blocked
      case .ends(let state, _): return state
      }
    }
    return try place(new, freeing: kind)
  }

  /// Whether a task that waits for no other finds a place, waits for one, or is refused (T6).
  func place(_ new: TaskDefinition, freeing kind: Kind?) throws(SeleneError) -> TaskState {
    if new.isRefusedOutOfQuota && !hasQuota { throw outOfQuota }
    guard new.takesPlace, kind != new.kind, freePlaces(new.kind) == 0 else { return .enqueued }
    guard !policy.holds else { return .held }
    let limit = policy.places[new.kind] ?? .max
    throw SeleneError.range("kind", Int64(limit) + 1, 0, Int64(limit)).code(.tooManyPending).of(new.kind.name)
      .problem(
        "pending requests exceed max_pending_\(new.kind.name), which is \(limit); with SELENE_OPTIONS_HOLD more can wait"
      )
  }

  private var outOfQuota: SeleneError {
    let now = index.present
    let (used, freeAt) = (expedited.used(at: now), expedited.freeAt(now))
    let error = SeleneError.range("expedited_quota", used, 0, expedited.quota, .duration).code(.outOfQuota)
    let problem: Detail =
      "of expedited runs in the last 24 h leave nothing of the quota, which is \(span: expedited.quota)"
    guard freeAt != Time.never else { return error.problem(problem) }
    return error.problem("\(problem); something is left again in \(span: freeAt.subtracting(now))")
  }

  /// Free places go to the tasks that are held (T6).
  package func promote(_ changes: inout Changes) {
    guard count(.held) > 0 else { return }
    for kind in Kind.allCases {
      while freePlaces(kind) > 0, let best = index.bestHeld(kind) {
        step(best, at: now) { $0.state = .enqueued }
        changes.add(Change(.promoted, self[best]))
      }
    }
  }
}

// Registering: what happens when an id is new, ended, or live (T4 to T7).

extension TaskTable {
  /// The longest chain of successors (T5).
  package static let mostWaiting = 1000

  /// Registers a checked definition.
  ///
  /// - Throws: `notPermitted`, `unavailable`, `invalidArgument` (the existing policy forbids it), `tooManyPending`.
  package func register(
    _ new: TaskDefinition, at now: Instant, enabled: KindSet, _ changes: inout Changes
  ) throws(SeleneError) -> Disposition {
    guard policy.permits.permits(new.id) else {
      throw SeleneError(.notPermitted, "id: \(name: new.id) is not among the permitted ids")
    }
    guard enabled.contains(new.kind) else {
      throw SeleneError(.unavailable, "kind: \(new.kind.name) is switched off")
    }
    let old = find(new.id)
    guard let old, self[old].isLive else { return try start(new, after: old, at: now, &changes) }
    switch new.existing {
    case .keep: return .kept
    case .replace: return try replace(old, with: new, at: now, &changes)
    case .update: return try update(old, with: new, at: now, &changes)
    case .append, .appendOrReplace: return try append(new, behind: old, at: now, &changes)
    }
  }

  /// A new record where no live one is.
  private func start(
    _ new: TaskDefinition, after old: Int?, at now: Instant, _ changes: inout Changes
  ) throws(SeleneError) -> Disposition {
    var state = TaskState.enqueued
    if new.existing == .append, let old, self[old].state != .succeeded {
      state = self[old].state
    } else {
      state = try admit(new, freeing: nil)
    }
    if let old { remove(old) }
    let disposition = state == .held ? Disposition.held : .added
    introduce(new, state, disposition, at: now, &changes)
    return disposition
  }

  @_optimize(size)
  private func replace(
    _ old: Int, with new: TaskDefinition, at now: Instant, _ changes: inout Changes
  ) throws(SeleneError) -> Disposition {
    let state = try admit(new, freeing: self[old].holdsPlace ? self[old].kind : nil)
    _ = cancel(old, .replaced, at: now, &changes)
    if let ended = find(new.id) { remove(ended) }
    introduce(new, state, .replaced, at: now, &changes)
    promote(&changes)
    return .replaced
  }

  @_optimize(size)
  private func update(
    _ slot: Int, with new: TaskDefinition, at now: Instant, _ changes: inout Changes
  ) throws(SeleneError) -> Disposition {
    let old = self[slot].definition
    guard old.kind == new.kind else {
      throw SeleneError(.invalidArgument, "kind: an update may not change it, replace does")
    }
    guard old.schedule == new.schedule else {
      throw SeleneError(.invalidArgument, "schedule: an update may not change it, replace does")
    }
    let handler = handlerNumber(new)
    modify(slot) {
      $0.update(new, at: now)
      $0.handler = handler
    }
    changes.add(Change(.registered, self[slot], detail: Disposition.updated.rawValue))
    return .updated
  }

  @_optimize(size)
  private func append(
    _ new: TaskDefinition, behind head: Int, at now: Instant, _ changes: inout Changes
  ) throws(SeleneError) -> Disposition {
    guard self[head].definition.schedule == .once else {
      throw SeleneError(.invalidArgument, "existing: append was given, but the live task of this id is not a once task")
    }
    guard self[head].kind == new.kind else {
      throw SeleneError(.invalidArgument, "kind: append was given, but the live task of this id is of the other kind")
    }
    let waiting = waiting(behind: head)
    guard waiting.count < Self.mostWaiting else {
      throw SeleneError(
        .tooManyPending, "\(waiting.count) successors wait behind this id, at most \(Self.mostWaiting) are allowed")
    }
    let slot = add(new, .blocked, at: now)
    setWaiting(behind: head, waiting + [slot])
    changes.add(Change(.registered, self[slot], detail: Disposition.appended.rawValue))
    return .appended
  }

  /// Adds a record and shows it.
  private func introduce(
    _ new: TaskDefinition, _ state: TaskState, _ disposition: Disposition, at now: Instant, _ changes: inout Changes
  ) {
    let slot = add(new, state, at: now)
    show(slot)
    changes.add(Change(.registered, self[slot], detail: disposition.rawValue))
    if state == .held { changes.add(Change(.held, self[slot])) }
  }

  /// Whether a new record finds a place, waits for one, or is refused (T6).
  private func admit(_ new: TaskDefinition, freeing kind: Kind?) throws(SeleneError) -> TaskState {
    guard new.takesPlace, kind != new.kind, freePlaces(new.kind) == 0 else { return .enqueued }
    guard !policy.holds else { return .held }
    let limit = policy.places[new.kind] ?? .max
    throw SeleneError(
      .tooManyPending,
      "\(limit) \(new.kind.name) tasks are pending, at most \(limit) are allowed (max_pending_\(new.kind.name), HOLD)")
  }

  /// Free places go to those who are held (T6).
  @_optimize(size)
  package func promote(_ changes: inout Changes) {
    for kind in Kind.allCases {
      while freePlaces(kind) > 0, let best = index.bestHeld(kind) {
        modify(best) { $0.state = .enqueued }
        changes.add(Change(.promoted, self[best]))
      }
    }
  }
}

// Registering and cancelling as the design's words have it (T4 to T9).

import SeleneCore

@testable import SeleneEngine

extension Model {
  // MARK: Registering

  func register(_ new: TaskDefinition) throws -> Disposition {
    let id = new.id.text
    guard !id.hasPrefix(Self.forbidden) else { throw Refused(.notPermitted) }
    guard enabled.contains(new.kind) else { throw Refused(.unavailable) }
    guard let old = self[id], old.isLive else {
      // What a task that is not over comes after stays (V9).
      if let ended = self[id], new.existing == .skip, ended.state == .succeeded || isNeeded(ended.sequence) {
        return .kept
      }
      if let ended = self[id], isNeeded(ended.sequence) { throw Refused(.alreadyExists) }
      return try begin(new, after: self[id])
    }
    switch new.existing {
    case .keep, .skip: return .kept
    case .replace: return try replace(old, with: new)
    case .update: return try update(old, with: new)
    case .append, .appendOrReplace: return try append(new, behind: old)
    }
  }

  /// A terminal record, or none, has the id.
  private func begin(_ new: TaskDefinition, after old: Sight?) throws -> Disposition {
    let named = try named(new)
    var state = TaskState.enqueued
    if new.existing == .append, let old, old.state != .succeeded {
      state = old.state
    } else if case .ends(let ended) = admission(of: new, after: named) {
      state = ended
    } else if admission(of: new, after: named) == .waits {
      state = .blocked
    } else if new.isRefusedOutOfQuota && !hasQuota {
      throw Refused(.outOfQuota)
    } else if new.schedule != .standing && !isPlaceFree(new.kind) {
      guard holds else { throw Refused(.tooManyPending) }
      state = .held
    }
    if let old { remove(old.sequence) }
    introduce(new, state, shows: true, after: named)
    return state == .held ? .held : .added
  }

  private func replace(_ old: Sight, with new: TaskDefinition) throws -> Disposition {
    let named = try named(new)
    let takesItsPlace = old.takesPlace && old.kind == new.kind
    let finds = new.schedule == .standing || takesItsPlace || isPlaceFree(new.kind)
    let waited = admission(of: new, after: named) == .waits
    if new.isRefusedOutOfQuota && !hasQuota && admission(of: new, after: named) == .starts {
      throw Refused(.outOfQuota)
    }
    guard finds || holds || admission(of: new, after: named) != .starts else { throw Refused(.tooManyPending) }
    _ = cancel(old, .replaced)
    remove(old.sequence)
    var state = finds ? TaskState.enqueued : .held
    switch admission(of: new, after: named) {
    case .starts: if waited { state = limits[new.kind] == nil ? .enqueued : .held }
    case .waits: state = .blocked
    case .ends(let ended): state = ended
    }
    introduce(new, state, shows: true, after: named)
    promote()
    return .replaced
  }

  private func update(_ old: Sight, with new: TaskDefinition) throws -> Disposition {
    guard old.kind == new.kind, old.definition.schedule == new.schedule else { throw Refused(.invalidArgument) }
    let (kept, names) = (old.definition.after.map(\.id.text), new.after.map(\.id.text))
    guard names.isEmpty || Set(names) == Set(kept) else { throw Refused(.invalidArgument) }
    // What it comes after stays, and so does whether any end of that will do.
    let anyEnd = old.definition.terms.numbers.flags & 2 != 0
    let wantsAnyEnd = new.terms.numbers.flags & 2 != 0
    if !(names.isEmpty && kept.isEmpty) && wantsAnyEnd != anyEnd && !(names.isEmpty && !wantsAnyEnd) {
      throw Refused(.invalidArgument)
    }
    var sight = old.with(kept.isEmpty ? new : new.after(old.definition.after, anyEnd: anyEnd))
    if old.isByCalendar && !sight.isByCalendar {
      sight.isNextSaid = false
      ranAsSaid.remove(old.sequence)
    }
    sight.generation += 1
    let hasRun = new.schedule == .standing && !old.responseTimes.isEmpty
    let timing = { (task: TaskDefinition) in
      [task.initialDelay, task.period, task.flex, Int64(task.recurrence.rawValue), Int64(task.jitter)]
    }
    let isMovedAsBefore = new.jitter > 0 && timing(new) == timing(old.definition)
    if old.attempts == 0 && !hasRun && !sight.isNextSaid && !isMovedAsBefore {
      if new.schedule == .periodic && old.periodBase != TaskRecord.onRegistration {
        sight.earliestBegin = nextPeriod(sight, after: old.periodBase)
      } else {
        begin(&sight, from: old.registeredAt)
      }
    }
    write(sight)
    return .updated
  }

  private func append(_ new: TaskDefinition, behind head: Sight) throws -> Disposition {
    guard head.definition.schedule == .once, head.kind == new.kind else { throw Refused(.invalidArgument) }
    guard chains[head.id, default: []].count < 1_000 else { throw Refused(.tooManyPending) }
    introduce(new, .blocked, shows: false)
    chains[head.id, default: []].append(lastSequence)
    return .appended
  }

  /// A failed task starts again, with what it knows of its runs (R7).
  func retry(_ id: String) throws {
    guard let old = self[id] else { throw Refused(.notFound) }
    guard old.state == .failed else { throw Refused(.invalidArgument) }
    guard enabled.contains(old.kind) else { throw Refused(.unavailable) }
    // Those that have not succeeded are waited for again, or, where any end will do, those that are live (V10).
    let named = old.definition.after.map { predecessor in
      self[predecessor.id.text].map { $0.definition.schedule == .once ? $0.sequence : 0 } ?? 0
    }
    for number in named where isWaitedFor(number, by: old.definition) {
      if records[number]?.state == .cancelled || leads(from: number, to: old.sequence) {
        throw Refused(.invalidArgument)
      }
    }
    let waits = named.contains { isWaitedFor($0, by: old.definition) }
    if old.definition.isRefusedOutOfQuota && !hasQuota && !waits { throw Refused(.outOfQuota) }
    guard waits || isPlaceFree(old.kind) || holds else { throw Refused(.tooManyPending) }
    let state = waits ? TaskState.blocked : isPlaceFree(old.kind) ? .enqueued : .held
    before[old.sequence] = named.isEmpty ? nil : named
    diary?.carry(from: old.sequence, to: old.sequence, at: now)
    var sight = Sight(TaskRecord(old.definition, sequence: old.sequence, state: state, at: now))
    (sight.earliestBegin, sight.anchor, sight.generation) = (now, now, old.generation)
    (sight.responseTimes, sight.lastOutcome, sight.output) = (old.responseTimes, old.lastOutcome, old.output)
    (sight.failedAt, sight.failedAttempt) = (old.failedAt, old.failedAttempt)
    write(sight)
  }

  // MARK: Cancelling

  /// Cancels a live record and all behind it; how many.
  func cancel(_ head: Sight, _ reason: StopReason, spreads: Bool = true) -> UInt64 {
    let waiting = chains.removeValue(forKey: head.id) ?? []
    for sequence in waiting { remove(sequence) }
    end(head.sequence, as: .cancelled, at: now)
    if head.run != 0 {
      if var sight = records[head.sequence] {
        (sight.stopReason, sight.lastOutcome) = (reason, .stopped)
        write(sight)
      }
      stop(head.run, reason)
    }
    return UInt64(waiting.count) + 1 + (spreads ? spread(from: [head.sequence], at: now) : 0)
  }

  func cancel(_ id: String) throws -> UInt64 {
    guard let sight = self[id] else { throw Refused(.notFound) }
    guard sight.isLive else { return 0 }
    let count = cancel(sight, .cancelled)
    promote()
    return count
  }

  func cancel(tag: String) -> UInt64 {
    func carries(_ sight: Sight?) -> Bool { tag.withBytes { sight?.definition.carries(tag: $0) == true } }
    var count: UInt64 = 0
    var cancelled: [UInt64] = []
    for (id, sequence) in visible {
      guard let sight = records[sequence], sight.isLive else { continue }
      if carries(sight) {
        count += cancel(sight, .cancelled, spreads: false)
        cancelled.append(sequence)
      } else if let chain = chains[id], let first = chain.firstIndex(where: { carries(records[$0]) }) {
        for sequence in chain[first...] { remove(sequence) }
        chains[id] = Array(chain[..<first])
        count += UInt64(chain.count - first)
      }
    }
    for sequence in cancelled.sorted() { count += spread(from: [sequence], at: now) }
    promote()
    return count
  }

  func cancelAll() -> UInt64 {
    var count: UInt64 = 0
    for sequence in visible.values {
      if let sight = records[sequence], sight.isLive { count += cancel(sight, .cancelled, spreads: false) }
    }
    return count
  }

  // MARK: Pausing (W3)

  func pause(_ isPaused: Bool, _ id: String) throws -> UInt64 {
    guard let head = self[id] else { throw Refused(.notFound) }
    return pause(isPaused, [head] + (chains[id] ?? []).compactMap { records[$0] })
  }

  func pause(_ isPaused: Bool, tag: String) -> UInt64 {
    tag.withBytes { tag in pause(isPaused, records.values.filter { $0.definition.carries(tag: tag) }) }
  }

  private func pause(_ isPaused: Bool, _ sights: [Sight]) -> UInt64 {
    let changing = sights.filter { $0.isLive && $0.isPaused != isPaused }
    for var sight in changing {
      sight.isPaused = isPaused
      write(sight)
    }
    return UInt64(changing.count)
  }

  // MARK: Next time (W7)

  func setNext(_ id: String, _ next: Instant) throws {
    guard var sight = self[id] else { throw Refused(.notFound) }
    guard sight.isLive else { throw Refused(.invalidArgument) }
    (sight.earliestBegin, sight.isNextSaid) = (next, true)
    write(sight)
  }

  // MARK: Latest begin (W9)

  /// What still waits after its latest begin has failed, the earliest first.
  func expire() {
    while let late = records.values.filter({ $0.latestAt.map { $0 < now } ?? false })
      .min(by: { ($0.latestAt ?? .max, $0.sequence) < ($1.latestAt ?? .max, $1.sequence) })
    {
      var sight = late
      (sight.state, sight.endedAt, sight.stopReason) = (.failed, now, .tooLate)
      (sight.failedAt, sight.failedAttempt) = (now, late.attempts + 1)
      write(sight)
      _ = spread(from: [sight.sequence], at: now)
      settle(sight, hadPlace: late.state != .held, at: now)
    }
    promote()
  }

  /// There is no time left for another attempt.
  func endIfTooLate(_ sight: inout Sight, at instant: Instant) {
    guard let latest = sight.latestAt, sight.earliestBegin > latest else { return }
    (sight.state, sight.endedAt, sight.stopReason) = (.failed, instant, .tooLate)
  }

  // MARK: Retention

  /// Removes what ended at or before an instant; nil: all that ended.
  private func isOver(_ sight: Sight, by limit: Instant?) -> Bool { limit.map { sight.endedAt <= $0 } ?? true }

  func prune(endedBy limit: Instant?) -> UInt64 {
    var count: UInt64 = 0
    let ended = records.values.filter { $0.state.isTerminal && (isOver($0, by: limit)) }
    let kept = kept(among: Set(ended.map(\.sequence)))
    for sight in ended where !kept.contains(sight.sequence) {
      remove(sight.sequence)
      visible[sight.id] = nil
      count += 1
    }
    return count
  }

  func reset() throws {
    guard cycles.isEmpty else { throw Refused(.busy) }
    (records, visible, chains, before) = ([:], [:], [:], [:])
    uses = []
    lastBegin = PerKind(repeating: nil)
  }

  // MARK: Times

  func firstBegin(_ definition: TaskDefinition, from start: Instant) -> Instant {
    let flexed = definition.flex > 0 && definition.flex < definition.period
    return start + definition.initialDelay + (flexed ? definition.period - definition.flex : 0)
  }

  /// Its first begin, which chance may move, but not out of the flex, nor out of the period on a grid (W11).
  func begin(_ sight: inout Sight, from start: Instant) {
    let definition = sight.definition
    sight.anchor = firstBegin(definition, from: start)
    let isOnGrid = definition.schedule == .periodic && definition.recurrence == .anchored
    let bounds = [definition.flex > 0 ? [definition.flex - 1] : [], isOnGrid ? [definition.period - 1] : []]
    let wait = definition.latestBegin - definition.initialDelay
    let latest = definition.latestBegin > 0 ? [wait - min(wait / 10, 15 * Time.minute)] : []
    let bound = (bounds.joined() + latest).min()
    sight.earliestBegin = sight.anchor + moved(sight.anchor - start, definition, within: bound)
  }

  /// now + period, or the first instant after now of (anchor + k·period); chance moves both.
  func nextPeriod(_ sight: Sight, after now: Instant) -> Instant {
    let (definition, period) = (sight.definition, sight.definition.period)
    guard definition.recurrence == .anchored else { return now + period + moved(period, definition, within: nil) }
    let place = now < sight.anchor ? sight.anchor : sight.anchor + ((now - sight.anchor) / period + 1) * period
    return place + moved(period, definition, within: period - 1)
  }

  /// Up to so many per mille of a time, in whole microseconds.
  private func moved(_ time: Span, _ definition: TaskDefinition, within bound: Span?) -> Span {
    let most = min(time * Int64(definition.jitter) / 1000, bound ?? .max) / 1000
    return most > 0 ? 1000 * Int64(generator.upTo(UInt64(most))) : 0
  }
}

/// What the model refuses.
struct Refused: Error {
  let code: SeleneError.Code
  init(_ code: SeleneError.Code) { self.code = code }
}

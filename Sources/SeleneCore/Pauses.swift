// Pauses of kinds, everywhere or in a pool, each until an instant (W13).

/// Which kinds begin no run, and until when. A pause holds before its end, not at it.
package struct Pauses {
  /// Pools with a pause, at most.
  package static let most = 256

  package struct Entry: Equatable {
    /// The pool whose tasks it holds back; nil: all tasks.
    package let pool: Bytes?
    /// How the log of waits knows it.
    let subject: UInt64
    /// `.min` for a kind that is not paused, `Time.never` until it is resumed.
    package fileprivate(set) var until: PerKind<Instant>

    fileprivate init(_ pool: Bytes?) {
      (self.pool, subject, until) = (pool, WaitLog.pool(pool), PerKind(repeating: .min))
    }

    package static func == (one: Entry, other: Entry) -> Bool {
      one.subject == other.subject && one.until.refresh == other.until.refresh
        && one.until.processing == other.until.processing
    }

    fileprivate func isOf(_ pool: UnsafeRawBufferPointer?) -> Bool {
      guard let name = self.pool, let pool else { return self.pool == nil && pool == nil }
      return name.buffer.equals(pool)
    }

    /// The kinds that it holds back until time is found to have ended that.
    var kinds: KindSet {
      var kinds: KindSet = []
      for kind in Kind.allCases where until[kind] != .min { kinds.formUnion(KindSet(kind)) }
      return kinds
    }

    /// The kinds that it holds back at an instant.
    package func kinds(at now: Instant) -> KindSet {
      var kinds: KindSet = []
      for kind in Kind.allCases where until[kind] > now { kinds.formUnion(KindSet(kind)) }
      return kinds
    }
  }

  /// That of all tasks first, then those of pools in the order of their names; none without a kind.
  package private(set) var entries: [Entry] = []
  /// The store has to be told.
  package private(set) var isUnsaved = false
  /// How often anything of it changed.
  package private(set) var changes: UInt64 = 0
  /// The first instant at which one ends by itself.
  package private(set) var endsAt = Time.never

  package init() {}

  package var isEmpty: Bool { @inline(__always) get { entries.isEmpty } }

  // MARK: Questions

  /// The kinds of which no task of a pool begins, or none of this process's own.
  @inline(__always)
  package func kinds(of pool: Bytes?, at now: Instant) -> KindSet {
    entries.isEmpty ? [] : found(of: pool, at: now)
  }

  @inline(never)
  private func found(of pool: Bytes?, at now: Instant) -> KindSet {
    var kinds: KindSet = []
    for entry in entries where entry.pool == nil || entry.isOf(pool?.buffer) { kinds.formUnion(entry.kinds(at: now)) }
    return kinds
  }

  /// Until when no task of a kind and a pool begins; nil: it may now.
  package func until(_ kind: Kind, of pool: Bytes?, at now: Instant) -> Instant? {
    var until: Instant?
    for entry in entries where entry.until[kind] > now && (entry.pool == nil || entry.isOf(pool?.buffer)) {
      until = max(until ?? .min, entry.until[kind])
    }
    return until
  }

  /// Calls a body with each instant at which a pause that concerns a pool ends by itself.
  package func forEachEnd(of pool: Bytes?, after now: Instant, _ body: (Instant) -> Void) {
    for entry in entries where entry.pool == nil || entry.isOf(pool?.buffer) {
      for kind in Kind.allCases where entry.until[kind] > now && entry.until[kind] != Time.never {
        body(entry.until[kind])
      }
    }
  }

  /// The kinds of one entry, by its subject.
  func kinds(ofSubject subject: UInt64) -> KindSet { entries.first { $0.subject == subject }?.kinds ?? [] }

  // MARK: Changes

  /// Pauses kinds until an instant, or lets them go on (`.min`).
  ///
  /// - Returns: the kinds for which that is another, and nil where there is no room.
  mutating func set(_ kinds: KindSet, of pool: UnsafeRawBufferPointer?, until: Instant) -> KindSet? {
    let known = entries.firstIndex { $0.isOf(pool) }
    var entry = known.map { entries[$0] } ?? Entry(pool.map { Bytes(copying: $0) })
    var changed: KindSet = []
    for kind in Kind.allCases where kinds.contains(kind) && entry.until[kind] != until {
      entry.until[kind] = until
      changed.formUnion(KindSet(kind))
    }
    guard !changed.isEmpty else { return [] }
    if known == nil, pool != nil, entries.count(where: { $0.pool != nil }) >= Self.most { return nil }
    if let known { entries.remove(at: known) }
    if entry.until.refresh != .min || entry.until.processing != .min { insert(entry) }
    noteChange()
    return changed
  }

  private mutating func insert(_ entry: Entry) {
    let place =
      entries.firstIndex { other in
        guard let name = entry.pool else { return true }
        return other.pool.map { name.buffer.lexicographicallyPrecedes($0.buffer) } ?? false
      } ?? entries.count
    entries.insert(entry, at: place)
  }

  private mutating func noteChange() {
    isUnsaved = true
    changes &+= 1
    lookForEnd()
  }

  private mutating func lookForEnd() {
    endsAt = Time.never
    for entry in entries {
      for kind in Kind.allCases where entry.until[kind] != .min { endsAt = min(endsAt, entry.until[kind]) }
    }
  }

  /// Lets those go on that end at an instant, or before.
  ///
  /// - Returns: what went on, each entry with the kinds that did.
  mutating func end(by now: Instant) -> [(entry: Entry, kinds: KindSet)] {
    var ended: [(entry: Entry, kinds: KindSet)] = []
    for entry in entries {
      var kinds: KindSet = []
      for kind in Kind.allCases where entry.until[kind] != .min && entry.until[kind] <= now {
        kinds.formUnion(KindSet(kind))
      }
      if !kinds.isEmpty { ended.append((entry, kinds)) }
    }
    for (entry, kinds) in ended { _ = set(kinds, of: entry.pool?.buffer, until: .min) }
    return ended
  }

  /// The clock was set back: what was said goes with it.
  package mutating func shift(by span: Span) {
    guard !entries.isEmpty else { return }
    for place in entries.indices {
      for kind in Kind.allCases {
        let until = entries[place].until[kind]
        if until != .min && until != Time.never { entries[place].until[kind] = until.adding(span) }
      }
    }
    noteChange()
  }

  // MARK: The store

  /// Takes what a store has of a pool, or of all.
  ///
  /// - Returns: false if that cannot be.
  package mutating func load(_ pool: UnsafeRawBufferPointer?, _ until: PerKind<Instant>) -> Bool {
    if let pool, (try? Identifier.check(pool, "pool")) == nil { return false }
    guard !entries.contains(where: { $0.isOf(pool) }), entries.count <= Self.most else { return false }
    var entry = Entry(pool.map { Bytes(copying: $0) })
    entry.until = until
    guard until.refresh != .min || until.processing != .min else { return false }
    insert(entry)
    lookForEnd()
    return true
  }

  mutating func noteSaved() { isUnsaved = false }

  /// What they were before a call that is taken back; the store has to be told again.
  mutating func restore(_ old: Pauses) {
    let changes = changes
    self = old
    (isUnsaved, self.changes) = (true, changes &+ 1)
  }
}

extension TaskTable {
  /// Pauses kinds of a pool, or of all tasks, until an instant; `.min` lets them go on.
  ///
  /// - Returns: the kinds for which that is another.
  /// - Throws: `exhausted`.
  package func pause(
    _ kinds: KindSet, of pool: UnsafeRawBufferPointer?, until: Instant
  ) throws(SeleneError) -> KindSet {
    let old = pauses
    guard let changed = pauses.set(kinds, of: pool, until: until) else {
      throw SeleneError(.exhausted, "pool", "at most \(Pauses.most) pools have a pause")
    }
    if !changed.isEmpty {
      journal?.note(.paused(Journal.OldPauses(old)))
      notePauses(since: old)
    }
    return changed
  }

  /// Lets those go on whose end has come. Accepted, not yet stored.
  package func endPauses(by now: Instant) -> [(entry: Pauses.Entry, kinds: KindSet)] {
    let old = pauses
    let ended = pauses.end(by: now)
    notePauses(since: old, at: now)
    return ended
  }

  /// Where the time of tasks goes is told by what holds them back from now on.
  func notePauses(since old: Pauses, at now: Instant? = nil) {
    let now = now ?? self.now
    let new = pauses.entries.filter { entry in !old.entries.contains { $0.subject == entry.subject } }
    for entry in old.entries + new {
      let (before, after) = (old.kinds(ofSubject: entry.subject), pauses.kinds(ofSubject: entry.subject))
      waits.set(pauses: after, of: entry.subject, from: before, at: now)
    }
  }
}

// Groups of tasks: how many of their runs may go on at a time, and whether any may begin (W3).

/// A group. Its name may be read anywhere; the rest is guarded by the lock of the scheduler that has it.
package final class TaskGroup: @unchecked Sendable {
  package let name: Bytes
  /// How the log of waits knows it.
  let subject: UInt64
  /// Runs at a time; 0 is no limit.
  package fileprivate(set) var limit: UInt32 = 0
  package fileprivate(set) var isPaused = false
  /// Runs that have not come back (C4).
  package fileprivate(set) var running: UInt32 = 0
  /// Tasks that are enqueued, held or blocked.
  package internal(set) var waiting: UInt64 = 0
  /// Where the store has it, from 1; 0 while it needs no place there.
  package fileprivate(set) var place: Int64 = 0
  /// The store has something else of it.
  fileprivate var isUnsaved = false

  fileprivate init(_ name: Bytes) { (self.name, subject) = (name, WaitLog.subject(name.buffer)) }

  /// As many runs as it may have are out.
  package var isFull: Bool { limit > 0 && running >= limit }
  /// Whether another run may begin.
  package var isOpen: Bool { @inline(__always) get { !isPaused && (limit == 0 || running < limit) } }
  /// A store keeps it.
  package var isSet: Bool { limit > 0 || isPaused }
  /// Somebody knows it: it is set, or has tasks that wait or runs.
  package var isInUse: Bool { isSet || waiting > 0 || running > 0 }
}

/// What a host sets of a group.
package struct GroupTerms: Equatable, Sendable {
  package var limit: UInt32
  package var isPaused: Bool

  package init(limit: UInt32, isPaused: Bool) { (self.limit, self.isPaused) = (limit, isPaused) }
}

/// The groups of a scheduler, by name.
package struct TaskGroups {
  private var entries: [TaskGroup] = []
  private var index = TextIndex()
  /// With as many those that nobody knows any more are forgotten.
  private var mostBeforeSweep = 64
  /// Those that the store has to be told of; some twice.
  private var unsaved: [TaskGroup] = []
  private var lastPlace: Int64 = 0
  private var freePlaces: [Int64] = []
  /// How often one was opened that was full or paused: those who passed over its tasks look again.
  package private(set) var openings: UInt64 = 0
  /// The same, and the runs of a plan, before that was made.
  private var planned: (openings: UInt64, runs: [(group: TaskGroup, until: Instant)])?

  init() {}

  // MARK: Finding

  package func find(_ name: UnsafeRawBufferPointer) -> TaskGroup? {
    index.find(name) { entries[$0].name.buffer }.map { entries[$0] }
  }

  /// The group of a name, which exists from now on.
  mutating func group(_ name: UnsafeRawBufferPointer) -> TaskGroup {
    if let found = find(name) { return found }
    if entries.count >= mostBeforeSweep { sweep() }
    let group = TaskGroup(Bytes(copying: name))
    index.set(name, to: entries.count) { entries[$0].name.buffer }
    entries.append(group)
    return group
  }

  /// Those that somebody knows.
  package var inUse: [TaskGroup] { entries.filter { $0.isInUse } }

  /// Forgets groups to which nothing leads.
  private mutating func sweep() {
    var kept: [TaskGroup] = []
    for place in entries.indices {
      let isNeeded = entries[place].isInUse || entries[place].place > 0 || entries[place].isUnsaved
      if isNeeded || !isKnownUniquelyReferenced(&entries[place]) { kept.append(entries[place]) }
    }
    entries = kept
    index = TextIndex()
    for place in entries.indices { index.set(entries[place].name.buffer, to: place) { entries[$0].name.buffer } }
    mostBeforeSweep = max(64, entries.count * 2)
  }

  // MARK: Runs

  @inline(__always)
  mutating func begin(_ group: TaskGroup) { group.running += 1 }

  /// A run of a group has come back; whether that opened it.
  mutating func end(_ group: TaskGroup) -> Bool {
    let wasOpen = group.isOpen
    group.running -= group.running > 0 ? 1 : 0
    return noteOpening(group, wasOpen)
  }

  private mutating func noteOpening(_ group: TaskGroup, _ wasOpen: Bool) -> Bool {
    guard !wasOpen, group.isOpen else { return false }
    openings &+= 1
    return true
  }

  // MARK: Plans

  /// A plan is made: what it begins and ends here is undone with its end, and nobody hears of it.
  package mutating func beginPlan() { planned = (openings, []) }

  /// A planned run of a group takes room in it for a while.
  package mutating func plan(_ group: TaskGroup, until: Instant) {
    begin(group)
    planned?.runs.append((group, until))
  }

  /// Planned runs are over by an instant.
  package mutating func endPlanned(by now: Instant) {
    guard var runs = planned?.runs, !runs.isEmpty else { return }
    for index in runs.indices.reversed() where runs[index].until <= now { _ = end(runs.remove(at: index).group) }
    planned?.runs = runs
  }

  /// When the first planned run of a group is over, or nil.
  package func firstEnd(ofPlanned group: TaskGroup) -> Instant? {
    planned?.runs.filter { $0.group === group }.map { $0.until }.min()
  }

  package mutating func endPlan() {
    endPlanned(by: Time.never)
    openings = planned?.openings ?? openings
    planned = nil
  }

  // MARK: Terms

  /// Sets a group; whether that opened it.
  ///
  /// - Parameter isKept: the store has to be told.
  mutating func set(_ group: TaskGroup, _ terms: GroupTerms, isKept: Bool) -> Bool {
    let wasOpen = group.isOpen
    (group.limit, group.isPaused) = (terms.limit, terms.isPaused)
    if isKept && !group.isUnsaved {
      group.isUnsaved = true
      unsaved.append(group)
    }
    return noteOpening(group, wasOpen)
  }

  /// Takes what a store has of a group.
  ///
  /// - Returns: false if that cannot be.
  package mutating func load(_ name: UnsafeRawBufferPointer, _ terms: GroupTerms, at place: Int64) -> Bool {
    guard place > lastPlace, (try? Identifier.check(name, "group")) != nil, find(name)?.isSet != true else {
      return false
    }
    let group = group(name)
    (group.limit, group.isPaused, group.place) = (terms.limit, terms.isPaused, place)
    guard group.isSet else { return false }
    while lastPlace + 1 < place, freePlaces.count < 1_024 {
      lastPlace += 1
      freePlaces.append(lastPlace)
    }
    lastPlace = place
    return true
  }

  // MARK: The store

  package var isUnsaved: Bool { !unsaved.isEmpty }

  /// Those that differ from the store, each with its place there; one that is set for the first time gets a place.
  package mutating func takeUnsaved() -> [TaskGroup] {
    for group in unsaved where group.isSet && group.place == 0 {
      if let free = freePlaces.popLast() {
        group.place = free
      } else {
        lastPlace += 1
        group.place = lastPlace
      }
    }
    return unsaved.filter { $0.place > 0 }
  }

  mutating func noteSaved() {
    guard !unsaved.isEmpty else { return }
    for group in unsaved {
      group.isUnsaved = false
      guard !group.isSet, group.place > 0 else { continue }
      freePlaces.append(group.place)
      group.place = 0
    }
    unsaved.removeAll(keepingCapacity: unsaved.count <= 64)
  }

  /// No task is left; what was set stays.
  func removeTasks() { for group in entries { group.waiting = 0 } }
}

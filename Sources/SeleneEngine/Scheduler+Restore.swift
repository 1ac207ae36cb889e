// Opening on a store: what was kept is loaded, what was running was interrupted or is waited for, time goes on (D1, D3, L10, P2).

import SeleneCore

extension Scheduler {
  /// A last-seen time that is further ahead of the clock than this is a mistake (P2).
  private static let longestLead = Time.day

  /// Takes over what the store has, in one commit of this life.
  ///
  /// - Throws: a status of stores.
  func restore(_ reading: Instant?) throws(SeleneError) {
    let wall = clock.tick(reading)
    guard store.isDurable else {
      table.now = wall
      table.expedited.start(at: wall)
      return table.waits.begin(
        at: wall, satisfied: satisfied.rawValue, isOutOfQuota: table.expedited.isUsedUp, isKept: false)
    }
    try store.load(into: table)
    let state = store.opened
    pace.refresh.lastBegin = state.lastRefresh
    pace.processing.lastBegin = state.lastProcessing
    if state.life > 0 { table.generator = Generator(seed: state.generator) }

    table.journal = Journal()
    var changes = Changes(isObserved: true)
    var span: Span = 0
    if state.lastSeen > wall.adding(Self.longestLead) {
      span = wall.subtracting(state.lastSeen)
      move(by: span, &changes)
    } else if state.lastSeen > wall {
      clock.start(at: state.lastSeen)
    }
    let now = clock.last
    table.now = now
    if span != 0 { table.waits.forget(before: now) }
    if let books = try store.loadBooks() {
      try governance.restore(books, movedBy: span, at: now)
      if try table.expedited.restore(books.expedited, movedBy: span, seen: state.lastSeen, at: now) {
        // Or it would end later with each opening.
        governance.isUnsaved = true
      }
    }
    table.expedited.start(at: now)
    nextDue = min(nextDue, table.expedited.changesAt)
    table.waits.begin(
      at: now, satisfied: satisfied.rawValue, groups: table.terms.groups.inUse, pauses: table.pauses,
      isOutOfQuota: table.expedited.isUsedUp, isKept: true)
    endPauses(at: now, &changes)
    table.noteOpening(at: now)
    let taken = try store.loadRuns()
    var interrupted = 0
    for slot in table.slots where table[slot].state == .running && !table.isVacant(slot) {
      guard !await(slot, among: taken, movedBy: span, at: now) else { continue }
      table.interrupt(slot, at: now, &changes)
      interrupted += 1
    }
    for run in taken where !adoption.awaits(run.token) { forgetStored(run.token) }
    table.startOrphans(at: now, &changes)
    _ = table.prune(endedBefore: now.subtracting(Time.retention))
    table.expire(at: now, &changes)
    table.promote(&changes)
    try save(at: now)
    log(.info, "opened, tasks: \(TaskState.allCases.reduce(0) { $0 + table.count($1) })")
    if span != 0 {
      log(.warning, "it was last used after the present time: all its times were moved back by \(span: -span)")
    }
    if interrupted > 0 {
      log(.warning, "\(interrupted) tasks were running when their process ended; that counts as a failed attempt")
    }
    if !adoption.awaited.isEmpty {
      log(.info, "\(adoption.awaited.count) runs of other processes wait for these to connect again")
    }
    outbox.keep(changes.list, at: clock.last)
  }

  /// The clock was set back by more than is believable: all that was stored moves with it, so no order and no delay changes.
  private func move(by span: Span, _ changes: inout Changes) {
    for slot in table.slots where !table.isVacant(slot) { table.modify(slot) { $0.shift(by: span) } }
    table.sortEnds()
    table.pauses.shift(by: span)
    for kind in Kind.allCases { pace[kind].lastBegin = pace[kind].lastBegin.map { $0.adding(span) } }
    let change = Change(.clockMoved)
    change.timeAt = span
    changes.add(change)
  }

  // MARK: The store itself

  package func storeFacts() throws(SeleneError) -> StoreFacts { try store.facts() }

  /// Copies the store into a new file.
  ///
  /// - Throws: `unsupported` in memory, a status of stores.
  package func backUp(to path: UnsafeRawBufferPointer, at moment: Moment) throws(SeleneError) {
    let target = try SQLiteStore.located(try SQLiteStore.checked(path, "path"))
    try save(at: moment.now)
    guard !isClosing else { throw .closedHandle }
    defer { payBack() }
    let store = store
    try withoutLock { () throws(SeleneError) in try store.backUp(to: target) }
  }
}

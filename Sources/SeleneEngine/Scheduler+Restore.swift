// Opening on a store: what was kept is loaded, what was running was interrupted or is waited for, time goes on (D1, D3, L10, P2).

import CPlatform
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
    table.findSuspects()
    let (interrupted, blamed) = interruptRuns(among: taken, movedBy: span, at: now, &changes)
    table.startOrphans(at: now, &changes)
    _ = table.prune(endedBefore: now.subtracting(Time.retention))
    table.expire(at: now, &changes)
    table.promote(&changes)
    // A full disk does not keep the store from opening: the trouble `store` is on and no run begins until a commit succeeds (V23).
    accept()
    do throws(SeleneError) {
      try save(at: now)
    } catch {
      guard error.code == .storeFull && store.canGoOn else { throw error }
    }
    log(.info, "opened, tasks: \(TaskState.allCases.reduce(0) { $0 + table.count($1) })")
    if span != 0 {
      log(.warning, "it was last used after the present time: all its times were moved back by \(span: -span)")
    }
    if interrupted > 0 {
      log(
        .warning,
        "\(interrupted) tasks were running when their process ended; for \(blamed) of them that counts as a failed attempt"
      )
    }
    if !adoption.awaited.isEmpty {
      log(.info, "\(adoption.awaited.count) runs of other processes wait for these to connect again")
    }
    outbox.keep(changes.list, at: clock.last)
  }

  /// What was running is interrupted, but for what other processes may still run: each process that has ended had its own (V7).
  ///
  /// - Returns: how many there were, and how many of them are to blame.
  private func interruptRuns(
    among taken: [StoredRun], movedBy span: Span, at now: Instant, _ changes: inout Changes
  ) -> (all: Int, blamed: Int) {
    var own: [Int] = []
    var others: [(process: ProcessMark, slots: [Int])] = []
    for slot in table.slots where table[slot].state == .running && !table.isVacant(slot) {
      guard !await(slot, among: taken, movedBy: span, at: now) else { continue }
      let sequence = table.sequence(slot)
      guard let process = taken.first(where: { $0.sequence == sequence })?.process else {
        own.append(slot)
        continue
      }
      if let place = others.firstIndex(where: { $0.process == process }) {
        others[place].slots.append(slot)
      } else {
        others.append((process, [slot]))
      }
    }
    let owner = taken.first { $0.token == StoredRun.ownerToken }?.process
    var blamed = table.processEnded(
      with: own, machineWentDown: owner.map { !$0.isOfThisBoot } ?? false, at: now, &changes)
    var all = own.count
    for (process, slots) in others {
      blamed += table.processEnded(with: slots, machineWentDown: !process.isOfThisBoot, at: now, &changes)
      all += slots.count
    }
    for run in taken where run.token != StoredRun.ownerToken && !adoption.awaits(run.token) { forgetStored(run.token) }
    noteOwner()
    return (all, blamed)
  }

  /// The next commit says which process has the store open.
  func noteOwner() {
    guard let process = ProcessMark(platform_process()) else { return }
    adoption.unsaved.append(StoredRunChange(token: StoredRun.ownerToken, run: StoredRun(owner: process)))
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

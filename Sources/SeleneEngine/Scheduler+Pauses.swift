// Pauses of kinds, everywhere or in a pool: nothing of them begins until their end (W13).

import SeleneCore

extension Scheduler {
  /// Lets no run of some kinds begin until an instant, or lets them begin again (0).
  ///
  /// - Parameters:
  ///   - kinds: bits; 0: both, if a pool is given.
  ///   - pool: whose tasks; empty: all.
  ///   - until: `Time.never`: until they are resumed.
  /// - Throws: `invalidArgument`, `exhausted`, a status of stores; then nothing has changed.
  package func pause(
    _ kinds: UInt32, of pool: UnsafeRawBufferPointer, until: Instant, at moment: Moment
  ) throws(SeleneError) {
    let now = moment.now
    guard kinds & ~KindSet.all.rawValue == 0, kinds != 0 || !pool.isEmpty else {
      throw .kinds("kinds", kinds, atLeastOne: pool.isEmpty)
    }
    if !pool.isEmpty { try Identifier.check(pool, "pool") }
    if until != 0 && until != Time.never { try checkEnd(until, at: now) }
    let kinds = kinds == 0 ? KindSet.all : KindSet(rawValue: kinds)
    // What others change meanwhile is seen from here on.
    awaitStore()
    let changed = try transaction(at: now) { () throws(SeleneError) in
      try table.pause(kinds, of: pool.isEmpty ? nil : pool, until: until == 0 ? .min : until)
    }
    guard !changed.isEmpty else { return }
    nextDue = min(nextDue, table.pauses.endsAt)
    let name = pool.isEmpty ? nil : Bytes(copying: pool)
    publish(Self.change(changed, name, until: until == 0 ? nil : until), at: now)
    letLook()
  }

  private func checkEnd(_ until: Instant, at now: Instant) throws(SeleneError) {
    try units.check(
      instant: "until", until, now.adding(1), now.adding(Time.tenYears), "instants after now, up to 10 years ahead")
  }

  /// What is paused, that of all tasks first: kinds that end together are one.
  package var pauses: [(pool: Bytes?, kinds: KindSet, until: Instant)] {
    var pauses: [(pool: Bytes?, kinds: KindSet, until: Instant)] = []
    for entry in table.pauses.entries {
      for kind in Kind.allCases where entry.until[kind] > clock.last {
        if let last = pauses.last, last.pool === entry.pool, last.until == entry.until[kind] {
          pauses[pauses.count - 1].kinds.formUnion(KindSet(kind))
        } else {
          pauses.append((entry.pool, KindSet(kind), entry.until[kind]))
        }
      }
    }
    return pauses
  }

  /// The end of pauses has come.
  func endPauses(at instant: Instant) {
    for (entry, kinds) in table.endPauses(by: instant) {
      publish(Self.change(kinds, entry.pool, until: nil), at: instant)
    }
    // The store has them until it is told, by the next call that changes something.
    if store.isDurable { saver.mustSaveAgain = true }
    letLook()
  }

  /// The same at the opening, before anybody can hear of it.
  func endPauses(at now: Instant, _ changes: inout Changes) {
    for (entry, kinds) in table.endPauses(by: now) { changes.add(Self.change(kinds, entry.pool, until: nil)) }
    nextDue = min(nextDue, table.pauses.endsAt)
  }

  private static func change(_ kinds: KindSet, _ pool: Bytes?, until: Instant?) -> Change {
    let change = Change(until == nil ? .resumed : .paused)
    change.kinds = kinds
    change.timeAt = until ?? 0
    change.message = pool
    return change
  }

  private func letLook() {
    forEachDriver { $0.welcome() }
    lookAgain()
    wake()
  }
}

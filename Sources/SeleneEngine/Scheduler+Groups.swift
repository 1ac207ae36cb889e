// Groups of tasks: how many of their runs go on at a time, and whether any may begin (W3).

import SeleneCore

extension Scheduler {
  /// Sets how many runs of a group may go on at a time; 0 is no limit.
  ///
  /// - Throws: `invalidArgument`, a status of stores; then nothing has changed.
  package func limit(group name: UnsafeRawBufferPointer, to limit: UInt32, at moment: Moment) throws(SeleneError) {
    _ = try set(group: name, at: moment) { $0.limit = limit }
  }

  /// Lets no more runs of a group begin, or lets them again.
  ///
  /// - Throws: as `limit`.
  package func pause(_ isPaused: Bool, group name: UnsafeRawBufferPointer, at moment: Moment) throws(SeleneError) {
    guard try set(group: name, at: moment, { $0.isPaused = isPaused }) else { return }
    let change = Change(isPaused ? .paused : .resumed)
    change.message = Bytes(copying: name)
    publish(change, at: moment.now)
  }

  /// Whether that changed anything.
  private func set(
    group name: UnsafeRawBufferPointer, at moment: Moment, _ change: (inout GroupTerms) -> Void
  ) throws(SeleneError) -> Bool {
    try Identifier.check(name, "name")
    // What others change meanwhile is seen from here on.
    awaitStore()
    let known = table.terms.groups.find(name)
    let old = GroupTerms(limit: known?.limit ?? 0, isPaused: known?.isPaused ?? false)
    var new = old
    change(&new)
    guard new != old else { return false }
    var isOpened = false
    try transaction(at: moment.now) { isOpened = table.set(group: name, new) }
    guard isOpened else { return true }
    forEachDriver { $0.welcome() }
    lookAgain()
    wake()
    return true
  }

  /// A group that is set, or has tasks that wait or runs.
  ///
  /// - Throws: `invalidArgument`, `notFound`.
  package func group(_ name: UnsafeRawBufferPointer) throws(SeleneError) -> TaskGroup {
    try Identifier.check(name, "name")
    guard let group = table.terms.groups.find(name), group.isInUse else {
      throw SeleneError(.notFound, "name", name: name, "is not a group in use")
    }
    return group
  }

  /// The names of all such groups, in the order of their bytes.
  package var groupNames: [Bytes] {
    table.terms.groups.inUse.map { $0.name }.sorted { $0.buffer.lexicographicallyPrecedes($1.buffer) }
  }
}

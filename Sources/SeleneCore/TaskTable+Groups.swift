// Setting groups (W3).

extension TaskTable {
  /// Sets how many runs of a group may go on at a time, and whether any may begin; whether that opened it.
  @discardableResult
  package func set(group name: UnsafeRawBufferPointer, _ new: GroupTerms) -> Bool {
    let group = terms.groups.group(name)
    let old = GroupTerms(limit: group.limit, isPaused: group.isPaused)
    guard new != old else { return false }
    journal?.note(.grouped(group, old))
    let bars = group.bars
    let isOpened = terms.groups.set(group, new, isKept: journal != nil)
    waits.set(group, from: bars, at: now)
    guard isOpened else { return false }
    noteOpening()
    return true
  }
}

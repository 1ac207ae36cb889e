// The memory of what happened to all tasks alike: the last so many entries, the oldest first.

/// What stands in a ring.
protocol WaitEntry: BitwiseCopyable {
  var at: Instant { get }
}

/// Entries in the order of their instants; beyond a number, and after 30 days, the oldest are dropped.
final class WaitRing<Entry: WaitEntry> {
  private var memory: UnsafeMutablePointer<Entry>?
  private var room = 0
  private var head = 0
  private(set) var count = 0
  private let most: Int
  private var untilLook = 64
  /// How many were dropped, which is the number of the first that is there.
  private(set) var dropped: UInt64 = 0
  /// What was before this instant is not known any more.
  private(set) var knownSince: Instant = .min

  /// How long entries are kept.
  static var kept: Span { 30 * Time.day }

  /// How many entries a store has, and how many it was given last.
  private var stored: UInt64 = 0
  private var given: UInt64 = 0

  init(most: Int) { self.most = most }

  deinit { memory?.deallocate() }

  var last: Entry? { count > 0 ? self[count - 1] : nil }

  @inline(__always)
  subscript(place: Int) -> Entry {
    get { memory.unsafelyUnwrapped[(head + place) & (room - 1)] }
    set { memory.unsafelyUnwrapped[(head + place) & (room - 1)] = newValue }
  }

  @_optimize(speed)
  func append(_ entry: Entry) {
    if count == room { makeRoom() }
    memory.unsafelyUnwrapped[(head + count) & (room - 1)] = entry
    count += 1
    untilLook -= 1
    if untilLook == 0 { dropOld(entry.at) }
  }

  /// Looks for what is too old, once in a while.
  @inline(never)
  private func dropOld(_ now: Instant) {
    untilLook = 64
    while self[0].at < now.subtracting(Self.kept) { dropFirst() }
  }

  func removeLast() { count -= 1 }

  @inline(never)
  private func makeRoom() {
    guard room < most else { return dropFirst() }
    let wider = max(8, room * 2)
    let new = UnsafeMutablePointer<Entry>.allocate(capacity: wider)
    for place in 0..<count { (new + place).initialize(to: self[place]) }
    memory?.deallocate()
    (memory, room, head) = (new, wider, 0)
  }

  private func dropFirst() {
    knownSince = max(knownSince, self[0].at)
    head = (head + 1) & (room - 1)
    count -= 1
    dropped += 1
  }

  /// The place of the first entry after an instant.
  func firstAfter(_ at: Instant) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if self[middle].at > at { high = middle } else { low = middle + 1 }
    }
    return low
  }

  // MARK: Keeping

  /// The number that the next entry gets.
  var total: UInt64 { dropped + UInt64(count) }

  /// The last entry may still change: no store was given it.
  var isLastOpen: Bool { count > 0 && total > max(stored, given) }

  /// Where what a store does not have begins, and whether some of that was dropped.
  func firstToKeep(_ isWhole: Bool) -> (place: Int, isBroken: Bool) {
    guard !isWhole else { return (0, false) }
    return stored < dropped ? (0, true) : (min(count, Int(stored - dropped)), false)
  }

  /// All but the entries from a number on are given to a store.
  func seal(_ open: UInt64? = nil) { given = min(open ?? total, total) }

  func noteKept() { stored = given }

  /// An entry of a number, which may be there already; numbers that are left out are lost.
  func put(_ entry: Entry, at number: UInt64) {
    if number < dropped { return }
    if number < total { return self[Int(number - dropped)] = entry }
    if number > total {
      if count > 0 { knownSince = max(knownSince, entry.at) }
      (head, count, dropped) = (0, 0, number)
    }
    append(entry)
  }

  func forget(before at: Instant) { knownSince = max(knownSince, at) }

  func removeAll() {
    dropped = total
    (head, count) = (0, 0)
  }
}

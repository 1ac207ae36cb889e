// Finds the tasks that carry a tag.

/// The tags of a table with the records that carry them.
///
/// A record that gives a tag up stays listed until as many are stale as are not; so the records are looked at.
struct TagIndex {
  typealias Member = (slot: Int, sequence: UInt64)

  private struct Tag {
    let name: Bytes
    var members: [Member] = []
    /// How many records carry it.
    var count = 0
  }

  private var tags: [Tag?] = []
  private var free: [Int] = []
  private var index = TextIndex()

  private func name(_ number: Int) -> UnsafeRawBufferPointer {
    tags[number]?.name.buffer ?? UnsafeRawBufferPointer(start: nil, count: 0)
  }

  /// All that carry a tag, and some that did once.
  func members(_ tag: UnsafeRawBufferPointer) -> [Member] {
    index.find(tag, textOf: name).flatMap { tags[$0]?.members } ?? []
  }

  /// A record carries a tag from now on.
  mutating func add(
    _ tag: UnsafeRawBufferPointer, _ slot: Int, _ sequence: UInt64,
    carries: (Int, UInt64, UnsafeRawBufferPointer) -> Bool
  ) {
    let number = index.find(tag, textOf: name) ?? make(tag)
    guard var entry = tags[number] else { return }
    tags[number] = nil
    if entry.members.count > 2 * entry.count + 16 {
      entry.members = Self.swept(entry.members) { carries($0.slot, $0.sequence, tag) }
    }
    entry.members.append((slot, sequence))
    entry.count += 1
    tags[number] = entry
  }

  /// Each of those that carry the tag, once: one that gave it up and took it again is listed twice.
  private static func swept(_ members: [Member], carries: (Member) -> Bool) -> [Member] {
    var order: [Ordered] = []
    for member in members where carries(member) { order.append(Ordered(Int64(member.sequence), member.slot)) }
    Ordered.sort(&order)
    var kept: [Member] = []
    for member in order where kept.last?.sequence != UInt64(member.key) {
      kept.append((member.slot, UInt64(member.key)))
    }
    return kept
  }

  /// A record gave a tag up.
  mutating func remove(_ tag: UnsafeRawBufferPointer) {
    guard let number = index.find(tag, textOf: name) else { return }
    tags[number]?.count -= 1
    guard tags[number]?.count == 0 else { return }
    index.remove(tag, textOf: name)
    tags[number] = nil
    free.append(number)
  }

  mutating func removeAll() { self = TagIndex() }

  private mutating func make(_ tag: UnsafeRawBufferPointer) -> Int {
    let new = Tag(name: Bytes(copying: tag))
    let number = free.popLast() ?? tags.count
    if number == tags.count { tags.append(new) } else { tags[number] = new }
    let names = tags
    index.set(tag, to: number) { names[$0]?.name.buffer ?? UnsafeRawBufferPointer(start: nil, count: 0) }
    return number
  }
}

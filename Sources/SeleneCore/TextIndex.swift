// Finds things by their text without making a key object: ids to tasks, names to handlers.

/// A hash index from text to small numbers; the text itself stays with its owner.
///
/// Open addressing with linear probing and backward-shift deletion; the hash is keyed at random for each process.
package struct TextIndex {
  private struct Entry {
    var hash: UInt32
    /// The number, or −1 where the place is free.
    var value: Int32
  }

  private var entries: [Entry] = []
  package private(set) var count = 0

  package init() {}

  /// Known inside this process only, so that a host cannot choose texts that collide.
  private static let seed = UInt64(bitPattern: Int64(Hasher().finalize()))

  /// Eight bytes at a time, each folded into the product with a number that depends on all before (after wyhash).
  @_optimize(speed)
  package static func hash(_ text: UnsafeRawBufferPointer) -> UInt32 {
    var hash = seed ^ UInt64(text.count)
    var index = 0
    while index + 8 <= text.count {
      hash = fold(hash ^ text.loadUnaligned(fromByteOffset: index, as: UInt64.self), 0x9E37_79B9_7F4A_7C15)
      index += 8
    }
    var rest: UInt64 = 0
    if text.count >= 8 {
      // With some of what was hashed before it.
      rest = text.loadUnaligned(fromByteOffset: text.count - 8, as: UInt64.self)
    } else {
      while index < text.count {
        rest = rest << 8 | UInt64(text[index])
        index += 1
      }
    }
    hash = fold(hash ^ rest, 0xA076_1D64_78BD_642F ^ seed)
    return UInt32(truncatingIfNeeded: hash ^ hash >> 32)
  }

  private static func fold(_ a: UInt64, _ b: UInt64) -> UInt64 {
    let product = a.multipliedFullWidth(by: b)
    return product.high ^ product.low
  }

  /// The number whose text this is. `textOf` gives the text of a number.
  @_optimize(speed)
  package func find(_ text: UnsafeRawBufferPointer, textOf: (Int) -> UnsafeRawBufferPointer) -> Int? {
    find(text, Self.hash(text), textOf: textOf)
  }

  /// The same for a text whose hash is known.
  @inline(__always)
  package func find(_ text: UnsafeRawBufferPointer, _ hash: UInt32, textOf: (Int) -> UnsafeRawBufferPointer) -> Int? {
    guard let place = place(of: text, hash, textOf) else { return nil }
    return Int(entries[place].value)
  }

  /// Adds a number, or replaces the one that has the same text.
  ///
  /// - Returns: the one that was replaced.
  @discardableResult
  @_optimize(speed)
  package mutating func set(
    _ text: UnsafeRawBufferPointer, to value: Int, textOf: (Int) -> UnsafeRawBufferPointer
  ) -> Int? {
    let hash = Self.hash(text)
    if let place = place(of: text, hash, textOf) {
      let old = Int(entries[place].value)
      entries[place].value = Int32(truncatingIfNeeded: value)
      return old
    }
    add(hash, value)
    return nil
  }

  /// Adds a number whose text, of this hash, has none.
  package mutating func add(_ hash: UInt32, _ value: Int) {
    if (count + 1) * 4 > entries.count * 3 { grow() }
    insert(Entry(hash: hash, value: Int32(truncatingIfNeeded: value)))
    count += 1
  }

  /// Removes the number whose text this is; nothing if there is none.
  package mutating func remove(_ text: UnsafeRawBufferPointer, textOf: (Int) -> UnsafeRawBufferPointer) {
    guard var hole = place(of: text, Self.hash(text), textOf) else { return }
    let mask = entries.count - 1
    var next = (hole + 1) & mask
    while entries[next].value >= 0 {
      let home = Int(truncatingIfNeeded: entries[next].hash) & mask
      if (next - home) & mask >= (next - hole) & mask {
        entries[hole] = entries[next]
        hole = next
      }
      next = (next + 1) & mask
    }
    entries[hole].value = -1
    count -= 1
  }

  package mutating func removeAll() {
    entries = []
    count = 0
  }

  private func place(of text: UnsafeRawBufferPointer, _ hash: UInt32, _ textOf: (Int) -> UnsafeRawBufferPointer) -> Int?
  {
    guard !entries.isEmpty else { return nil }
    let mask = entries.count - 1
    var index = Int(truncatingIfNeeded: hash) & mask
    while entries[index].value >= 0 {
      if entries[index].hash == hash && textOf(Int(entries[index].value)).equals(text) { return index }
      index = (index + 1) & mask
    }
    return nil
  }

  private mutating func insert(_ entry: Entry) {
    let mask = entries.count - 1
    var index = Int(truncatingIfNeeded: entry.hash) & mask
    while entries[index].value >= 0 { index = (index + 1) & mask }
    entries[index] = entry
  }

  private mutating func grow() {
    let old = entries
    entries = [Entry](repeating: Entry(hash: 0, value: -1), count: max(16, old.count * 2))
    for entry in old where entry.value >= 0 { insert(entry) }
  }
}

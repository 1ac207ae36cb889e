// The handlers' names, and which of them can be pushed (T10).

/// The names under which handlers stand, each with a small number that records keep.
package struct HandlerRoster {
  private struct Entry {
    var name: Bytes
    var isLive: Bool
  }

  private var entries: [Entry?] = []
  /// Who among them can be called by the library.
  private var pushing: [Bool] = []
  /// Who among them is stuck (R4).
  private var stuck: [Bool] = []
  private var index = TextIndex()

  package init() {}

  /// The number of a live handler, or nil.
  package func find(_ name: UnsafeRawBufferPointer) -> Int? {
    guard let number = number(of: name), entries[number]?.isLive == true else { return nil }
    return number
  }

  /// Adds a name.
  ///
  /// - Throws: `alreadyExists` while the name is live, or its last runs have not come back.
  package mutating func add(_ name: UnsafeRawBufferPointer, pushes: Bool) throws(SeleneError) -> Int {
    if let taken = number(of: name) {
      let why: Literal =
        entries[taken]?.isLive == true ? "already has a handler" : "has a run that has not returned yet"
      throw SeleneError(.alreadyExists, "name", name: name, why)
    }
    let entry = Entry(name: Bytes(copying: name), isLive: true)
    let number = entries.firstIndex { $0 == nil } ?? entries.count
    if number == entries.count {
      entries.append(entry)
      pushing.append(pushes)
      stuck.append(false)
    } else {
      entries[number] = entry
      pushing[number] = pushes
      stuck[number] = false
    }
    index.set(name, to: number) { entries[$0]?.name.buffer ?? UnsafeRawBufferPointer(start: nil, count: 0) }
    return number
  }

  /// Makes a handler unavailable; its name stays taken until `free`.
  package mutating func retire(_ number: Int) { entries[number]?.isLive = false }

  /// Frees the name of a retired handler.
  package mutating func free(_ number: Int) {
    guard let entry = entries[number] else { return }
    index.remove(entry.name.buffer) { entries[$0]?.name.buffer ?? UnsafeRawBufferPointer(start: nil, count: 0) }
    entries[number] = nil
  }

  /// Whether the library can call it.
  package func pushes(_ number: Int) -> Bool { pushing[number] }

  func name(_ number: Int) -> Bytes? { entries.indices.contains(number) ? entries[number]?.name : nil }

  package func isStuck(_ number: Int) -> Bool { stuck.indices.contains(number) && stuck[number] }

  package mutating func set(_ number: Int, isStuck: Bool) { stuck[number] = isStuck }

  package var hasStuck: Bool { stuck.contains(true) }

  private func number(of name: UnsafeRawBufferPointer) -> Int? {
    index.find(name) { entries[$0]?.name.buffer ?? UnsafeRawBufferPointer(start: nil, count: 0) }
  }
}

// The handlers' names, and which of them can be pushed (T10).

/// The names under which handlers stand, each with a small number that records keep.
package struct HandlerRoster {
  private struct Entry {
    var name: Bytes
    var isLive: Bool
  }

  /// How the runs of a handler are made.
  package enum Way: UInt8, Sendable {
    /// The host takes them.
    case pulled = 0
    /// The library can call it.
    case pushed = 1
    /// Other processes take them, which offer it (L5).
    case crewed = 2
  }

  private var entries: [Entry?] = [] {
    didSet { changes &+= 1 }
  }
  private var ways: [Way] = []
  /// Who among those of other processes is offered by none now.
  private var absent: [Bool] = [] {
    didSet { changes &+= 1 }
  }
  /// Who among them is stuck (R4).
  private var stuck: [Bool] = [] {
    didSet { changes &+= 1 }
  }
  /// How often anything of it changed.
  package private(set) var changes: UInt64 = 0
  private var index = TextIndex()

  package init() {}

  /// The number of a live handler, or nil.
  package func find(_ name: UnsafeRawBufferPointer) -> Int? {
    guard let number = number(of: name), entries[number]?.isLive == true else { return nil }
    return number
  }

  /// Whether a task of a handler would find it now.
  func isOffered(_ name: UnsafeRawBufferPointer) -> Bool {
    find(name).map { !isAbsent($0) && !isStuck($0) } ?? false
  }

  /// Adds a name.
  ///
  /// - Throws: `alreadyExists` while the name is live, or its last runs have not come back.
  package mutating func add(_ name: UnsafeRawBufferPointer, pushes: Bool) throws(SeleneError) -> Int {
    try add(name, pushes ? .pushed : .pulled)
  }

  package mutating func add(_ name: UnsafeRawBufferPointer, _ way: Way) throws(SeleneError) -> Int {
    if let taken = number(of: name) {
      let why: Literal =
        entries[taken]?.isLive == true ? "already has a handler" : "has a run that has not returned yet"
      throw SeleneError(.alreadyExists, "name", name: name, why)
    }
    let entry = Entry(name: Bytes(copying: name), isLive: true)
    let number = entries.firstIndex { $0 == nil } ?? entries.count
    if number == entries.count {
      entries.append(entry)
      ways.append(way)
      stuck.append(false)
      absent.append(false)
    } else {
      entries[number] = entry
      ways[number] = way
      stuck[number] = false
      absent[number] = false
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
  package func pushes(_ number: Int) -> Bool { ways[number] == .pushed }

  @inline(__always)
  package func way(_ number: Int) -> Way { ways[number] }

  /// Whether other processes offered it, and none does now.
  package func isAbsent(_ number: Int) -> Bool { absent.indices.contains(number) && absent[number] }

  package mutating func set(_ number: Int, isAbsent: Bool) { absent[number] = isAbsent }

  /// Whether a window can use it.
  func suits(_ number: Int, _ offer: Offer) -> Bool {
    guard ways[number] == .crewed else { return offer.isOwn && (ways[number] == .pushed || !offer.pushes) }
    return offer.has(number)
  }

  func name(_ number: Int) -> Bytes? { entries.indices.contains(number) ? entries[number]?.name : nil }

  package func isStuck(_ number: Int) -> Bool { stuck.indices.contains(number) && stuck[number] }

  package mutating func set(_ number: Int, isStuck: Bool) { stuck[number] = isStuck }

  package var hasStuck: Bool { stuck.contains(true) }

  private func number(of name: UnsafeRawBufferPointer) -> Int? {
    index.find(name) { entries[$0]?.name.buffer ?? UnsafeRawBufferPointer(start: nil, count: 0) }
  }
}

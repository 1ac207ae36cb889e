// What a task comes after (W4).

/// One of the tasks that another comes after: its id, and the number of the record that the id showed then.
package struct Predecessor {
  /// Valid as long as the definition that it is of.
  package let id: UnsafeRawBufferPointer
  /// 0: no record is waited for.
  package let sequence: UInt64

  package init(id: UnsafeRawBufferPointer, sequence: UInt64) { (self.id, self.sequence) = (id, sequence) }

  /// Those of a host, each once.
  static func named(_ ids: [UnsafeRawBufferPointer]) -> [Predecessor] {
    var found: [Predecessor] = []
    for id in ids where !found.contains(where: { $0.id.equals(id) }) { found.append(Predecessor(id: id, sequence: 0)) }
    return found
  }
}

/// What comes after a record: the slots and the numbers of the records that name it and hold it (V9).
final class Dependents {
  /// Some of them may hold it no more; whoever needs them looks.
  private(set) var all: [(slot: Int, sequence: UInt64)] = []
  /// How many do.
  private(set) var count = 0

  func add(_ slot: Int, _ sequence: UInt64) {
    all.append((slot, sequence))
    count += 1
  }

  /// One of them holds it no more. Those that do not are dropped once they are most of all.
  func remove(keeping isThere: (Int, UInt64) -> Bool) {
    count -= 1
    if all.count > 2 * count + 16 { all = all.filter { isThere($0.slot, $0.sequence) } }
  }
}

/// By slot what comes after a record. An array, which nobody has who uses none of it: slots that follow each other are what
/// a graph has most.
final class DependentsList {
  private var lists: [Dependents?] = []
  private var count = 0

  var isEmpty: Bool { count == 0 }

  subscript(slot: Int) -> Dependents? {
    get { slot < lists.count ? lists[slot] : nil }
    set {
      if slot >= lists.count {
        guard newValue != nil else { return }
        lists.append(contentsOf: repeatElement(nil, count: max(slot + 1, lists.count * 2) - lists.count))
      }
      count += (newValue == nil ? 0 : 1) - (lists[slot] == nil ? 0 : 1)
      lists[slot] = newValue
    }
  }

  func forEach(_ body: (Dependents) -> Void) { for list in lists { if let list { body(list) } } }

  func removeAll() { (lists, count) = ([], 0) }
}

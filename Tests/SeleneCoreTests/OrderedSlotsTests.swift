// The tree against a sorted array: the same answers, while it grows, shrinks, splits and merges.

import SeleneCore
import Testing

@Suite("OrderedSlots") struct OrderedSlotsTests {
  private struct Entry: Equatable {
    var key: Int64
    var sequence: UInt64
    var slot: Int
    var span: Span
  }

  /// A sorted array that answers the same.
  private func verify(_ slots: inout OrderedSlots, _ model: [Entry], _ chance: inout Chance) throws {
    try SeleneCoreTests.verify(slots.count == model.count, "\(slots.count) of \(model.count)")
    try SeleneCoreTests.verify(slots.first?.slot == model.first?.slot, "first")
    try SeleneCoreTests.verify(slots.last?.slot == model.last?.slot, "last")
    for _ in 0..<4 {
      let from = chance.once(in: 3) || model.isEmpty ? nil : model[chance.below(model.count)]
      let room = chance.pick([0, 1 << 16, 1 << 20, Span.max])
      let expected = model.first { entry in
        Cost(entry.span) <= Cost(room)
          && (from.map { OrderKey($0.key, $0.sequence) < OrderKey(entry.key, entry.sequence) } ?? true)
      }
      let found = slots.next(after: from.map { OrderKey($0.key, $0.sequence) }, costing: Cost(room))
      try SeleneCoreTests.verify(found?.slot == expected?.slot, "next after \(String(describing: from))")
      guard let limit = from else { continue }
      let bound = OrderKey(limit.key, limit.sequence)
      let before = model.count { OrderKey($0.key, $0.sequence) < bound }
      try SeleneCoreTests.verify(slots.count { $0 < bound } == before, "\(before) before \(limit)")
    }
  }

  @Test("random inserts and removals keep the order, the least costs and the counts", arguments: [3, 400, 12_000])
  func random(size: Int) throws {
    var chance = Chance("ordered slots \(size)")
    var slots = OrderedSlots()
    defer { slots.removeAll() }
    var model: [Entry] = []
    for step in 0..<(size * 3) {
      // It grows, then shrinks.
      if model.isEmpty || chance.below(size * 3) > step {
        let isBehind = chance.once(in: 2)
        let entry = Entry(
          key: isBehind ? Int64(step) : Int64(chance.below(step + 1)), sequence: UInt64(step + 1), slot: step,
          span: chance.pick([0, 1 << 16, 1 << 18, 1 << 40]))
        slots.insert(entry.slot, at: OrderKey(entry.key, entry.sequence), cost: Cost(entry.span))
        let place = model.partitioningIndex {
          OrderKey(entry.key, entry.sequence) < OrderKey($0.key, $0.sequence)
        }
        model.insert(entry, at: place)
      } else {
        let place = chance.once(in: 2) ? 0 : chance.below(model.count)
        let entry = model.remove(at: place)
        slots.remove(at: OrderKey(entry.key, entry.sequence))
        slots.remove(at: OrderKey(entry.key, entry.sequence))
      }
      if size < 1_000 || step % 500 == 0 { try verify(&slots, model, &chance) }
    }
    for entry in model { slots.remove(at: OrderKey(entry.key, entry.sequence)) }
    #expect(slots.count == 0 && slots.first == nil && slots.last == nil)
    #expect(slots.next(after: nil, costing: .any) == nil)
  }

  /// Nodes that are thinned out until neighbours merge: the bound of a merged node is the least of both.
  @Test("what costs little is found whatever its node was merged with", arguments: [1, 16, 64])
  func merged(each: Int) throws {
    var chance = Chance("merged slots \(each)")
    let count = 8_000
    var slots = OrderedSlots()
    defer { slots.removeAll() }
    var model: [Entry] = []
    for number in 0..<count {
      // Mostly dear: where the cheap ones are, a bound that is too high hides them.
      let span: Span = chance.once(in: 300) ? Int64(chance.below(8)) << 16 : 1 << 40
      model.append(Entry(key: Int64(number), sequence: 1, slot: number, span: span))
      slots.insert(number, at: OrderKey(Int64(number), 1), cost: Cost(span))
    }
    let kept = Set(model.indices.filter { model[$0].span < 1 << 40 || chance.once(in: each * 2) })
    var removed = model.indices.filter { !kept.contains($0) }
    // From the front, from the back, and in any order, so that left and right are merged.
    if each == 16 { removed.reverse() }
    if each == 64 { removed.shuffle(using: &chance) }
    for index in removed { slots.remove(at: OrderKey(model[index].key, 1)) }
    model = kept.sorted().map { model[$0] }
    for room in 0...8 {
      let cost = Cost(Int64(room) << 16)
      var found: [Int] = []
      var place: OrderKey?
      while let next = slots.next(after: place, costing: cost) {
        found.append(next.slot)
        place = next.at
      }
      let expected = model.filter { Cost($0.span) <= cost }.map { $0.slot }
      try SeleneCoreTests.verify(found == expected, "at most \(room): \(found.count) of \(expected.count)")
    }
  }
}

extension Array {
  /// The first place whose element fulfils a condition that all behind it fulfil.
  fileprivate func partitioningIndex(where condition: (Element) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if condition(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}

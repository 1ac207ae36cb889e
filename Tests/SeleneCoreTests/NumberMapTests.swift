import Testing

@testable import SeleneCore

@Suite("NumberMap, RecordList and Ordered: what the engine's own memory and sort answer") struct NumberMapTests {
  private final class Token {}

  @Test("random inserts and removals answer as a dictionary does", arguments: [4, 60, 3_000])
  func random(size: Int) throws {
    var chance = Chance("number map \(size)")
    let map = NumberMap<Int>()
    var model: [UInt64: Int] = [:]
    for step in 1...(size * 8) {
      // Numbers that follow one another, and some that meet.
      let number = chance.once(in: 4) ? UInt64(1 + chance.below(size)) << 12 : UInt64(step)
      if model.count > size, let gone = model.keys.first {
        model[gone] = nil
        map[gone] = nil
      }
      model[number] = step
      if map[number] == nil { map.insert(number, step) } else { map[number] = step }
      try verify(map.count == model.count, "\(map.count) of \(model.count)")
      try verify(map[number] == step, "the new one")
      if step % 512 == 0 || step == size * 8 {
        try verify(model.allSatisfy { map[$0.key] == $0.value }, "step \(step)")
      }
    }
    var found: [Int] = []
    map.forEach { found.append($0) }
    #expect(found.sorted() == model.values.sorted())
    for number in model.keys { map.remove(number) }
    #expect(map.isEmpty)
    #expect(map[1] == nil)
  }

  @Test("values live as long as they are in it")
  func lifetimes() {
    let map = NumberMap<Token>()
    weak var first: Token?
    weak var last: Token?
    for number in 1...100 {
      let token = Token()
      if number == 1 { first = token }
      if number == 100 { last = token }
      map.insert(UInt64(number), token)
    }
    #expect(first != nil && last != nil)
    map.remove(1)
    #expect(first == nil && last != nil)
    map.removeAll()
    #expect(last == nil && map.isEmpty)
  }

  @Test("records stay where they are while others are added, and go when all are removed")
  func places() throws {
    var records = RecordList()
    var places: [UnsafeMutablePointer<TaskRecord>] = []
    weak var definition: TaskDefinition?
    for slot in 0..<3_000 {
      let made = try Recipe("task").define()
      if slot == 2_000 { definition = made }
      records.append(TaskRecord(made, sequence: UInt64(slot) + 1, state: .enqueued, at: 0))
      places.append(records.at(slot))
    }
    try verify(records.count == 3_000, "\(records.count) records")
    for slot in places.indices {
      try verify(records.at(slot) == places[slot], "record \(slot) has moved")
      try verify(records[slot].sequence == UInt64(slot) + 1, "record \(slot) is another")
    }
    #expect(definition != nil)
    records.removeAll()
    #expect(definition == nil && records.count == 0)
    records.append(TaskRecord(try Recipe("task").define(), sequence: 7, state: .held, at: 0))
    #expect(records[0].sequence == 7)
    records.removeAll()
  }

  @Test("sorting keeps equal keys in their order", arguments: [0, 1, 2, 7, 100, 5_000])
  func sorting(count: Int) {
    var chance = Chance("ordered \(count)")
    var items = (0..<count).map { Ordered(Int64(chance.below(max(1, count / 3))), $0) }
    let expected = items.sorted { ($0.key, $0.slot) < ($1.key, $1.slot) }
    Ordered.sort(&items)
    #expect(items.map(\.slot) == expected.map(\.slot))
  }
}

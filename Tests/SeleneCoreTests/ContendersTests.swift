// The heap of heads against sorting.

import Testing

@testable import SeleneCore

@Suite("Contenders") struct ContendersTests {
  private func contender(_ head: Int, below numerator: Int, _ chance: inout Chance) -> Contender {
    Contender(
      numerator: UInt128(chance.below(numerator)), sequence: UInt64(head), priority: UInt8(chance.below(3)), head: head)
  }

  @Test("S4 F7 the first of all is the one that sorting puts first, while heads move and go")
  func random() throws {
    var chance = Chance("contenders")
    for round in 0..<200 {
      let count = chance.below(round < 100 ? 6 : 80)
      var heap = Contenders(room: count)
      defer { heap.free() }
      // Few different scores make many ties.
      let most = chance.pick([1, 4, 1_000])
      for _ in 0..<2 {
        heap.removeAll()
        var model = (0..<count).map { contender($0, below: most, &chance) }
        for new in model { heap.append(new) }
        heap.arrange()
        while true {
          model.sort { $0.precedes($1) }
          try verify(heap.first?.head == model.first?.head, "round \(round): \(model.count) are left")
          guard let first = model.first else { break }
          if chance.once(in: 2) || first.numerator == 0 {
            heap.removeFirst()
            model.removeFirst()
          } else {
            model[0] = contender(first.head, below: Int(first.numerator), &chance)
            heap.replaceFirst(model[0])
          }
        }
      }
    }
  }
}

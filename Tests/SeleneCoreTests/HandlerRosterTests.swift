// The names of handlers: live, retired, free again (T10).

import SeleneCore
import Testing

@Suite("HandlerRoster") struct HandlerRosterTests {
  @Test("T10 a name is found while its handler is live")
  func live() throws {
    var roster = HandlerRoster()
    let number = try "a".withBytes { try roster.add($0, pushes: true) }
    #expect("a".withBytes { roster.find($0) } == number)
    #expect("b".withBytes { roster.find($0) } == nil)
    roster.retire(number)
    #expect("a".withBytes { roster.find($0) } == nil)
  }

  @Test("T10 a second handler under a name is refused until the name is free")
  func taken() throws {
    var roster = HandlerRoster()
    let number = try "a".withBytes { try roster.add($0, pushes: true) }
    #expect(refusal { try "a".withBytes { try roster.add($0, pushes: true) } } == .alreadyExists)
    roster.retire(number)
    #expect(refusal { try "a".withBytes { try roster.add($0, pushes: true) } } == .alreadyExists)
    roster.free(number)
    #expect(refusal { try "a".withBytes { try roster.add($0, pushes: false) } } == nil)
  }

  @Test("T10 a handler without a run function cannot be pushed")
  func pushes() throws {
    var roster = HandlerRoster()
    let pushed = try "a".withBytes { try roster.add($0, pushes: true) }
    let pulled = try "b".withBytes { try roster.add($0, pushes: false) }
    #expect(roster.pushes(pushed))
    #expect(!roster.pushes(pulled))
  }

  @Test("T10 a number is given again only after its name is free")
  func numbers() throws {
    var roster = HandlerRoster()
    let numbers = try ["a", "b", "c"].map { try $0.withBytes { try roster.add($0, pushes: true) } }
    #expect(Set(numbers).count == 3)
    roster.retire(numbers[1])
    let fourth = try "d".withBytes { try roster.add($0, pushes: true) }
    #expect(!numbers.contains(fourth))
    roster.free(numbers[1])
    let fifth = try "e".withBytes { try roster.add($0, pushes: true) }
    #expect(fifth != numbers[0] && fifth != numbers[2] && fifth != fourth)
    #expect("b".withBytes { roster.find($0) } == nil)
  }

  // MARK: What tasks see of it

  private let offer = Offer(kinds: .all, satisfied: Needs(.all), pushes: false, observedRange: false)

  @Test("T10 a task without handler stays and is not eligible; it is once a handler has its name")
  func eligible() throws {
    let desk = Desk()
    try desk.register(Recipe("a") { $0.handler = "h" })
    let slot = try #require(desk.slot("a"))
    #expect(!desk.table.isEligible(slot, offer, at: desk.now))
    let number = try desk.addHandler("h")
    #expect(desk.table.isEligible(slot, offer, at: desk.now))
    desk.table.retireHandler(number)
    #expect(!desk.table.isEligible(slot, offer, at: desk.now))
    #expect(desk.state("a") == .enqueued)
    desk.table.freeHandler(number)
    _ = try desk.addHandler("h")
    #expect(desk.table.isEligible(slot, offer, at: desk.now))
  }

  @Test("T10 a handler without run function serves pulled windows only")
  func pulledOnly() throws {
    let desk = Desk()
    _ = try desk.addHandler("a", pushes: false)
    try desk.register(Recipe("a"))
    let slot = try #require(desk.slot("a"))
    var pushed = offer
    pushed.pushes = true
    #expect(desk.table.isEligible(slot, offer, at: desk.now))
    #expect(!desk.table.isEligible(slot, pushed, at: desk.now))
  }

  @Test("T5 an update to another handler's name takes that handler")
  func updatedHandler() throws {
    let desk = Desk()
    let first = try desk.addHandler("one")
    let second = try desk.addHandler("two")
    try desk.register(Recipe("a") { $0.handler = "one" })
    #expect(desk.record("a")?.handler == Int32(first))
    try desk.register(Recipe("a") { $0.handler = "two" })
    #expect(desk.record("a")?.handler == Int32(second))
    try desk.register(Recipe("a") { $0.handler = "nobody" })
    #expect(desk.record("a")?.handler == -1)
  }
}

// Conditions: the system's or the host's, and why a task does not run (C15, C17).

import SeleneCore
import Testing

@testable import SeleneEngine

@Suite("Conditions") struct ConditionsTests {
  @Test("C17 the host sets bits and gives them back; only its own can be satisfied by it")
  func set() throws {
    let host = try Host()
    try host.satisfy(.network)
    var conditions = try host.enter { $0.conditions(at: $1) }
    #expect(conditions.satisfied == [.network])
    #expect(conditions.host == .all)
    try host.enter { try $0.setConditions(1, satisfied: 0, at: $1) }
    conditions = try host.enter { $0.conditions(at: $1) }
    #expect(conditions.host == .network)
    #expect(!conditions.satisfied.contains(.network))
    #expect(refusal { try host.enter { try $0.setConditions(1, satisfied: 2, at: $1) } } == .invalidArgument)
    #expect(refusal { try host.enter { try $0.setConditions(256, satisfied: 0, at: $1) } } == .invalidArgument)
  }

  @Test("C17 a task waits for each of its constraints", arguments: [0, 1, 2, 3] as [UInt32])
  func eligible(satisfied: UInt32) throws {
    let host = try Host()
    for wanted: UInt32 in 0...3 {
      try host.addHandler("t\(wanted)")
      try host.register(Recipe("t\(wanted)") { $0.constraints = wanted })
    }
    try host.satisfy(Constraints(rawValue: satisfied))
    let plan = try host.plan(Time.minute).entries.map { $0.definition.id.text }
    #expect(plan == (0...3).filter { satisfied & $0 == $0 }.map { "t\($0)" })
    for wanted: UInt32 in 0...3 where satisfied & wanted != wanted {
      let entries = try host.explain("t\(wanted)").entries
      #expect(entries.map(\.reason) == [.constraints])
      #expect(entries.map(\.missing.rawValue) == [wanted & ~satisfied])
    }
  }

  @Test("C17 a condition that is lost and comes back between two picks leaves the task in its cycle")
  func lostAndBack() throws {
    let host = try Host()
    try host.addHandler("a")
    try host.register(Recipe("a") { $0.constraints = 1 })
    let cycle = try host.begin(20 * Time.second)
    try host.satisfy([])
    guard case .done = try host.next(cycle) else { throw Differs("it ran without network") }
    try host.satisfy(.all)
    _ = try host.nextRun(cycle)
  }

  // MARK: Why

  @Test("C15 every reason is said, with the time at which it may change")
  func everyReason() throws {
    let host = try Host { $0.minimumIntervalRefresh = Time.hour }
    try host.register(Recipe("a") { ($0.constraints, $0.initialDelay) = (3, Time.minute) })
    _ = try host.end(try host.begin(Time.second))
    try host.satisfy(.network)
    try host.enable(KindSet(.processing))
    let explanation = try host.explain("a")
    #expect(Set(explanation.entries.map(\.reason)) == [.notDue, .constraints, .noHandler, .kindOff, .tooSoon])
    for entry in explanation.entries {
      let expected: Instant =
        switch entry.reason {
        case .notDue: host.now + Time.minute
        case .tooSoon: host.now + Time.hour
        default: Time.never
        }
      #expect(entry.mayChangeAt == expected, "\(entry.reason)")
    }
    #expect(explanation.rank == 0)
    #expect(explanation.estimate == 5 * Time.second)
  }

  @Test("C15 states are reasons: running, held, blocked behind, terminal")
  func states() throws {
    let host = try Host { ($0.holds, $0.maxPendingRefresh) = (true, 1) }
    for id in ["a", "b"] {
      try host.addHandler(id)
      try host.register(Recipe(id, .once))
    }
    #expect(try host.reasons("b") == [.held])
    let cycle = try host.begin(20 * Time.second)
    let run = try host.nextRun(cycle)
    let explanation = try host.explain("a")
    #expect(explanation.entries.map(\.reason) == [.running])
    #expect(explanation.entries.map(\.mayChangeAt) == [run.deadline])
    try host.complete(run.token, .newData)
    #expect(try host.reasons("a") == [.terminal])
    #expect(try host.reasons("b") == [.nextCycle])
    #expect(refusal { try host.reasons("nobody") } == .notFound)
  }

  @Test("C15 rank and score are those of the eligible tasks of its kind now")
  func rank() throws {
    let host = try Host()
    for (id, priority) in [("low", 1), ("top", 5), ("mid", 3)] as [(String, Int32)] {
      try host.addHandler(id)
      try host.register(Recipe(id, priority: priority))
    }
    try host.addHandler("other")
    try host.register(Recipe("other", kind: .processing, priority: 5))
    host.now += Time.minute
    for (index, id) in ["top", "mid", "low"].enumerated() {
      let explanation = try host.explain(id)
      #expect(explanation.rank == index + 1)
      #expect(explanation.eligible == 3)
      #expect(abs(explanation.score - Double(5 - 2 * index) / 5) < 1e-12)
      #expect(explanation.entries.isEmpty)
    }
  }
}

// Thousands of fleets whose nodes are killed, paused and cut off, and whose database is away or changes its clock (N9 to N15).

import SeleneCore
import Testing

@testable import SeleneNode

@Suite("Fleets of nodes") struct SimulationTests {
  @Test(
    "N9 to N15 no task is run by two that believe, nothing hangs, no decision counts twice, whatever happens",
    arguments: 0..<20)
  func fleets(batch: Int) throws {
    for number in 0..<Effort.of(25) {
      try Simulation("fleet \(batch).\(number)").play(leases: 8)
    }
  }

  @Test("N34 the same of relaxed nodes whose server loses what it last committed", arguments: 0..<10)
  func relaxedFleets(batch: Int) throws {
    for number in 0..<Effort.of(25) {
      try Simulation("relaxed fleet \(batch).\(number)", relaxed: true).play(leases: 8)
    }
  }

  @Test(
    "N34 a server that crashes and lacks one of its rules is noticed",
    arguments: [FleetRules.farNumbers, .keeping, .asking])
  func relaxedRules(missing: FleetRules) {
    let found = (0..<1_000).contains { number in
      let simulation = Simulation(
        "relaxed without \(missing.rawValue) \(number)", rules: .all.subtracting(missing), relaxed: true)
      return (try? simulation.play(leases: 8)) == nil
    }
    #expect(found)
  }

  @Test(
    "a database without one of its rules is noticed",
    arguments: [FleetRules.fence, .freshNumbers, .takingBack, .steadiness, .jumps, .belief])
  func rules(missing: FleetRules) {
    let found = (0..<1_000).contains { number in
      (try? Simulation("without \(missing.rawValue) \(number)", rules: .all.subtracting(missing)).play(leases: 8))
        == nil
    }
    #expect(found)
  }

  @Test("fleets reach every call, every end of a run, and everything that nodes are told")
  func coverage() throws {
    var missing: Set<String> = [
      "hello", "beat", "classes", "turn", "fate", "bye", "counted", "returned", "taken", "told true", "told false",
      "stop leaseLost", "cancelled", "stop taken(SeleneCore.StopReason.cancelled)", "clocks differ", "took back",
      "draining",
      "suspect", "refused",
    ]
    for number in 0..<300 where !missing.isEmpty {
      let simulation = Simulation("coverage \(number)")
      try simulation.play(leases: 8)
      missing.subtract(simulation.reached)
    }
    try verify(missing.isEmpty, "missing \(missing)")
  }
}

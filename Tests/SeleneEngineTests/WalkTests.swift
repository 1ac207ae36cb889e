// Random walks through all calls (properties of rules T3 to T10, C1 to C18, F1 to F11).

import SeleneCore
import Testing

@Suite("Walks") struct WalkTests {
  @Test(
    "T3 to C18, F1 to F10 random calls do what the design's words say, call by call", arguments: 0..<Effort.of(40))
  func walk(number: Int) throws {
    try Walk("walk \(number)").take(400)
  }

  @Test(
    "D1 D3 F11 the same through crashes and closings of a host that keeps its tasks", arguments: 0..<Effort.of(8))
  func lives(number: Int) throws {
    try Walk("life \(number)", hasLives: true).take(300)
  }

  @Test("random walks reach every answer of every call, every event, every end of a run")
  func coverage() throws {
    let expected: Set<String> = [
      "add 0", "add alreadyExists", "remove 0", "remove notFound", "begin 0", "begin unavailable", "begin busy",
      "begin tooSoon", "begin notFound", "begin immediateRunIneligible", "next invalidHandle", "complete 0",
      "complete invalidHandle", "complete alreadyCompleted", "complete staleRun", "cancel 0", "cancel 1", "cancel 2",
      "cancel notFound", "prune 0", "prune 1", "reset 0", "reset busy", "conditions 0", "rank 0", "rank 2",
      "register added", "register replaced", "register updated", "register kept", "register appended", "register held",
      "register invalidArgument", "register notFound", "register notPermitted", "register unavailable",
      "register tooManyPending",
    ]
    let types: Set<String> = [
      "registered 0", "registered 1", "registered 2", "registered 4", "registered 5", "started 0", "stopped 1",
      "stopped 3", "stopped 4", "stopped 5", "stopped 6", "stopped 8", "completed 0", "completed 1", "completed 2",
      "completed 3",
      "completed 4", "retry 0", "held 0", "promoted 0", "cancelled 0", "cycleBegun 0", "cycleEnded 0", "cycleEnded 1",
      "cycleEnded 2", "unblocked 0", "released 0",
    ]
    var missing = expected.union(types)
    for number in 0..<300 where !missing.isEmpty {
      let walk = try Walk("coverage \(number)")
      try walk.take(300)
      missing.subtract(walk.answers)
      missing.subtract(walk.mirror.heard)
    }
    try verify(missing.isEmpty, "missing \(missing)")
  }
}

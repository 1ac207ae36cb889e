// Random walks through all calls (properties of rules T3 to T10, C1 to C18).

import SeleneCore
import Testing

@Suite("Walks") struct WalkTests {
  @Test("T3 to C18 random calls do what the design's words say, call by call", arguments: 0..<40)
  func walk(number: Int) throws {
    try Walk("walk \(number)").take(400)
  }

  @Test("the walks reach every answer of every call, every event, every end of a run")
  func coverage() throws {
    var answers: Set<String> = []
    var heard: Set<String> = []
    for number in 0..<40 {
      let walk = try Walk("coverage \(number)")
      try walk.take(250)
      answers.formUnion(walk.answers)
      heard.formUnion(walk.mirror.heard)
    }
    print(answers.filter{!$0.hasPrefix("plan")&&(!$0.hasPrefix("wake"))&&(!$0.hasPrefix("stopping"))}.sorted(), heard.sorted())
  }
}

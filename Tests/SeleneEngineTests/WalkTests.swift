// Random walks through all calls (properties of rules T3 to T10, C1 to C18).

import Testing

@Suite("Walks") struct WalkTests {
  @Test("T3 to C18 random calls do what the design's words say, call by call", arguments: 0..<40)
  func walk(number: Int) throws {
    try Walk("walk \(number)").take(400)
  }
}

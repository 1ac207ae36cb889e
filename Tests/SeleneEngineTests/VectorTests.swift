// The conformance vectors, as every language plays them.

import Testing

@Suite("Vectors") struct VectorTests {
  @Test("the engine plays every conformance vector", arguments: Vector.all)
  func play(vector: Vector) throws {
    try VectorPlayer.play(vector.scenario)
  }

  @Test("the vectors are all there")
  func count() {
    #expect(Vector.all.count >= 85)
  }

  @Test("a vector that says something unheard fails", arguments: ["step", "expect", "options", "register", "scenario"])
  func unheard(place: String) {
    func object(_ name: String, _ members: [String: Json]) -> Json {
      .object(members.merging(name == place ? ["unheard": .null] : [:]) { $1 })
    }
    let step = object(
      "step",
      [
        "at_ms": .integer(0), "register": object("register", ["id": .text("a")]),
        "expect": object("expect", ["status": .text("OK"), "disposition": .text("added")]),
      ])
    let scenario = object("scenario", ["name": .text(""), "options": object("options", [:]), "steps": .list([step])])
    #expect(throws: Differs.self) { try VectorPlayer.play(scenario) }
  }
}

// Which ids a scheduler accepts (T7).

import SeleneCore
import Testing

@Suite("Permits") struct PermitsTests {
  private func permits(_ entries: [String]) throws -> Permits {
    let texts = entries.map { Bytes($0) }
    return try withExtendedLifetime(texts) { try Permits(texts.map { $0.buffer }) }
  }

  private func allows(_ entries: [String], _ id: String) throws -> Bool {
    let permits = try permits(entries)
    return id.withBytes { permits.permits($0) }
  }

  @Test("T7 without a list every id is permitted")
  func noList() { #expect("anything".withBytes { Permits().permits($0) }) }

  @Test("T7 an empty list permits nothing")
  func emptyList() throws { #expect(try !allows([], "a")) }

  @Test(
    "T7 an entry permits itself, one that ends in .* what begins with it up to the dot",
    arguments: [
      ("app.sync", true), ("app.sync2", false), ("app", false), ("app.", false), ("App.sync", false),
      ("mail.*", true), ("mail.", true), ("mail.a", true), ("mail.a.b", true), ("mail", false), ("mailx", false),
      ("*", true), ("x", false), ("star*", true), ("starry", false), (".x", false),
    ])
  func entries(id: String, permitted: Bool) throws {
    #expect(try allows(["app.sync", "mail.*", "*", "star*"], id) == permitted)
  }

  @Test("T7 the entry .* permits what begins with a dot")
  func bareWildcard() throws {
    #expect(try allows([".*"], ".hidden"))
    #expect(try !allows([".*"], "plain"))
  }

  @Test("T7 an entry that is no identifier is refused", arguments: ["", "a\u{0}", String(repeating: "x", count: 256)])
  func badEntry(entry: String) {
    #expect(refusal { try allows(["good", entry], "good") } == .invalidArgument)
  }

  @Test("T7 a table refuses other ids with NOT_PERMITTED and changes nothing")
  func table() throws {
    let permits = try permits(["app.*"])
    let desk = Desk { $0.permits = permits }
    #expect(try desk.register(Recipe("app.a")) == .added)
    #expect(refusal { try desk.register(Recipe("other")) } == .notPermitted)
    #expect(desk.table.lastSequence == 1)
    #expect(desk.types == [])
  }

  @Test("T4 an id that is not permitted is refused before its kind is looked at")
  func order() throws {
    let permits = try permits(["app.*"])
    let desk = Desk { $0.permits = permits }
    desk.enabled = []
    #expect(refusal { try desk.register(Recipe("other")) } == .notPermitted)
    #expect(refusal { try desk.register(Recipe("app.a")) } == .unavailable)
  }
}

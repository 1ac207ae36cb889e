// What may be an id, a handler's name or a tag (T1).

import SeleneCore
import Testing

@Suite("Identifier") struct IdentifierTests {
  private func isAccepted(_ bytes: [UInt8]) -> Bool {
    bytes.withUnsafeBytes { text in refusal { try Identifier.check(text, "id") } == nil }
  }

  @Test("T1 an identifier has 1 to 255 bytes", arguments: [1, 2, 100, 254, 255])
  func lengthWithin(count: Int) {
    #expect(isAccepted([UInt8](repeating: UInt8(ascii: "x"), count: count)))
  }

  @Test("T1 nothing and more than 255 bytes are no identifier", arguments: [0, 256, 257, 100_000])
  func lengthOutside(count: Int) {
    #expect(!isAccepted([UInt8](repeating: UInt8(ascii: "x"), count: count)))
  }

  @Test("T1 255 bytes count, not characters")
  func lengthInBytes() {
    #expect(isAccepted(Array(String(repeating: "ö", count: 127).utf8)))
    #expect(!isAccepted(Array(String(repeating: "ö", count: 128).utf8)))
  }

  @Test(
    "T1 texts of every length of encoding are identifiers",
    arguments: ["a", "\u{1}", "ß", "ह", "😀", "\u{10FFFF}", "a.b-c d"])
  func wellFormed(text: String) {
    #expect(isAccepted(Array(text.utf8)))
  }

  @Test(
    "T1 what is no UTF-8 is no identifier",
    arguments: [
      [0x80], [0xBF], [0xC0, 0x80], [0xC1, 0xBF], [0xE0, 0x9F, 0xBF], [0xF0, 0x8F, 0xBF, 0xBF],  // overlong
      [0xED, 0xA0, 0x80], [0xED, 0xBF, 0xBF],  // surrogates
      [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xFF], [0xFE],  // beyond the last code point
      [0x61, 0xC3], [0xE2, 0x82], [0xF0, 0x9F, 0x98], [0xC3, 0x28], [0xE2, 0x28, 0xA1],  // cut
      [0xF0, 0x9F, 0x28, 0x80],
    ] as [[UInt8]])
  func malformed(bytes: [UInt8]) {
    #expect(!isAccepted(bytes))
  }

  @Test("T1 a NUL anywhere is refused", arguments: [0, 1, 2, 4])
  func nul(position: Int) {
    var bytes = Array("abcd".utf8)
    bytes.insert(0, at: position)
    #expect(!isAccepted(bytes))
  }

  @Test("T1 every pair of bytes is judged as the standard library judges it")
  func everyPair() throws {
    for first in UInt8.min...UInt8.max {
      for second in UInt8.min...UInt8.max {
        try agree([first, second])
      }
    }
  }

  @Test("T1 random bytes are judged as the standard library judges them")
  func randomBytes() throws {
    var chance = Chance("T1")
    // The bytes at which a rule begins or ends are likelier than the others.
    let edges: [UInt8] = [
      0x01, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1, 0xEC, 0xED, 0xEE, 0xEF, 0xF0, 0xF1,
      0xF3, 0xF4, 0xF5,
    ]
    for _ in 0..<40_000 {
      try agree(
        (0..<1 + chance.below(6)).map { _ in chance.once(in: 8) ? UInt8(chance.below(256)) : chance.pick(edges) })
    }
  }

  private func agree(_ bytes: [UInt8]) throws {
    let expected = !bytes.contains(0) && String(validating: bytes, as: UTF8.self) != nil
    try verify(isAccepted(bytes) == expected, "\(bytes) is \(expected ? "" : "not ")an identifier")
  }

  @Test("T1 a refusal names the field, what was found and where")
  func refusalSaysWhere() throws {
    func detail(_ bytes: [UInt8]) -> String {
      bytes.withUnsafeBytes { text in
        do throws(SeleneError) {
          try Identifier.check(text, "handler")
          return ""
        } catch {
          return String(decoding: error.detail.bytes, as: UTF8.self)
        }
      }
    }
    #expect(detail([]) == "handler: 0 bytes is out of range, allowed are 1 … 255 bytes")
    let longer = detail([UInt8](repeating: 65, count: 300))
    #expect(longer == "handler: 300 bytes is out of range, allowed are 1 … 255 bytes")
    // A text that ends with a NUL is measured no further than this.
    let long = detail([UInt8](repeating: 65, count: 256))
    #expect(long == "handler: 256 bytes or more is out of range, allowed are 1 … 255 bytes")
    #expect(detail([65, 66, 0xFF]) == "handler: not valid UTF-8 at byte 2")
    #expect(detail([65, 0]) == "handler: NUL at byte 1")
  }

  @Test("T1 identifiers are equal when their bytes are, not when they look alike")
  func equalByBytes() throws {
    let desk = Desk { $0.places = PerKind(repeating: nil) }
    #expect(try desk.register(Recipe("caf\u{E9}")) == .added)
    #expect(try desk.register(Recipe("cafe\u{301}")) == .added)
    #expect(try desk.register(Recipe("caf\u{E9}")) == .updated)
    #expect(desk.table.count(.enqueued) == 2)
  }
}

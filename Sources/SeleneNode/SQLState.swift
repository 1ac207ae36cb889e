// Why the database refused a call.

import SeleneCore

/// The five characters of a SQLSTATE.
package struct SQLState: Equatable, Sendable {
  /// As a number.
  package let characters: UInt64

  /// The first five characters; missing ones are zeros.
  package init(_ text: UnsafeRawBufferPointer) {
    characters = text.prefix(5).reduce(0) { $0 << 8 | UInt64($1) }
  }

  package init(_ text: StaticString) {
    self.init(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  /// The five characters.
  package var text: Bytes {
    Bytes(count: 5) {
      for place in 0..<5 { $0[place] = UInt8(truncatingIfNeeded: characters >> UInt64(8 * (4 - place))) }
    }
  }

  /// The incarnation is not known any more: it was taken for dead, or it has said bye.
  static let overIncarnation = SQLState("SE017")

  static let undefinedFunction = SQLState("42883")

  /// Whether the call itself is at fault, so that it fails however often it is made: a value (22), or an argument of the fleet's
  /// functions (SE).
  var isOfValues: Bool {
    let kind = characters >> 24
    return self != Self.overIncarnation && (kind == 0x3232 || kind == 0x5345)
  }

  /// Whether a node is refused for what it is, or where: by the fleet (SE), for its role (28, 42), for there is no such database
  /// or schema (3D, 3F).
  var isOfNode: Bool {
    let kind = characters >> 24
    return kind == 0x5345 || kind == 0x3238 || kind == 0x3432 || kind == 0x3344 || kind == 0x3346
  }

  /// Whether it may be done nevertheless: the connection was lost (08), the server is going down (57P), or says so (40003).
  var leavesOpen: Bool {
    characters >> 24 == 0x3038 || characters >> 16 == 0x353750 || characters == SQLState("40003").characters
  }
}

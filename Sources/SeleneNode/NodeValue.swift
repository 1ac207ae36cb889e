// What goes into a statement and comes out of it, whatever the client library of the database is.

import SeleneCore

/// A value of a statement, or a cell of a row.
package enum NodeValue: Sendable {
  case null
  case integer(Int64)
  case boolean(Bool)
  /// UTF-8.
  case text(Bytes)
  case bytes(Bytes)
  case array([NodeValue])

  package init(_ number: Int64?) { self = number.map { .integer($0) } ?? .null }

  static func integers(_ numbers: [Int64]) -> NodeValue { .array(numbers.map { .integer($0) }) }
  static func integers(_ numbers: [Int32]) -> NodeValue { .array(numbers.map { .integer(Int64($0)) }) }

  var integer: Int64? { if case .integer(let number) = self { number } else { nil } }
  var small: Int32? { integer.flatMap { Int32(exactly: $0) } }
  var text: Bytes? { if case .text(let text) = self { text } else { nil } }
  var bytes: Bytes? { if case .bytes(let bytes) = self { bytes } else { nil } }
  var isNull: Bool { if case .null = self { true } else { false } }

  /// The entries of an array of texts.
  var texts: [Bytes]? {
    guard case .array(let values) = self else { return nil }
    let texts = values.compactMap { $0.text }
    return texts.count == values.count ? texts : nil
  }
}

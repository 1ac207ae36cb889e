// The text of an error, put together without String: its Unicode tables would outweigh the whole library.

/// A message as bytes; written as a string literal with interpolations.
package struct Detail: ExpressibleByStringInterpolation, Sendable {
  package let bytes: [UInt8]

  package init(stringLiteral literal: StaticString) {
    var text = StringInterpolation(literalCapacity: 0, interpolationCount: 0)
    text.appendLiteral(literal)
    bytes = text.bytes
  }

  package init(stringInterpolation text: StringInterpolation) { bytes = text.bytes }

  package struct StringInterpolation: StringInterpolationProtocol {
    fileprivate var bytes: [UInt8] = []

    package init(literalCapacity: Int, interpolationCount: Int) {}

    package mutating func appendLiteral(_ literal: StaticString) {
      bytes.append(contentsOf: UnsafeBufferPointer(start: literal.utf8Start, count: literal.utf8CodeUnitCount))
    }

    package mutating func appendInterpolation(_ text: StaticString) { appendLiteral(text) }

    /// A field, or one entry of a field that is an array.
    package mutating func appendInterpolation(_ field: StaticString, entry: Int?) {
      appendLiteral(field)
      guard let entry else { return }
      appendLiteral("[")
      appendInterpolation(entry)
      appendLiteral("]")
    }

    @inline(never)
    package mutating func appendInterpolation(_ number: Int64) {
      if number < 0 { bytes.append(UInt8(ascii: "-")) }
      appendInterpolation(number.magnitude)
    }

    @inline(never)
    package mutating func appendInterpolation(_ number: UInt64) {
      if number > 9 { appendInterpolation(number / 10) }
      bytes.append(UInt8(ascii: "0") + UInt8(number % 10))
    }

    package mutating func appendInterpolation(_ number: Int) { appendInterpolation(Int64(number)) }
    package mutating func appendInterpolation(_ number: Int32) { appendInterpolation(Int64(number)) }
    package mutating func appendInterpolation(_ number: UInt32) { appendInterpolation(UInt64(number)) }

    /// Words from elsewhere, as they are.
    package mutating func appendInterpolation(text: UnsafeRawBufferPointer) { bytes.append(contentsOf: text) }

    /// The name of a file: quoted, of a long one the end.
    package mutating func appendInterpolation(path: Bytes) {
      let longest = 160
      var start = max(0, path.count - longest)
      while start < path.count && start > 0 && path.buffer[start] & 0xC0 == 0x80 { start += 1 }
      bytes.append(UInt8(ascii: "\""))
      if start > 0 { appendLiteral("…") }
      for byte in path.buffer[start...] { appendPrintable(byte) }
      bytes.append(UInt8(ascii: "\""))
    }

    private mutating func appendPrintable(_ byte: UInt8) {
      bytes.append(byte < 0x20 || byte == 0x7f ? UInt8(ascii: "?") : byte)
    }

    /// A name that a host gave: quoted, cut after at most 64 bytes between characters, without what cannot be printed.
    package mutating func appendInterpolation(name: UnsafeRawBufferPointer) {
      var end = min(64, name.count)
      if end < name.count {
        while end > 0 && name[end] & 0xC0 == 0x80 { end -= 1 }
      }
      bytes.append(UInt8(ascii: "\""))
      for byte in name.prefix(end) { appendPrintable(byte) }
      if end < name.count { appendLiteral("…") }
      bytes.append(UInt8(ascii: "\""))
    }
  }
}

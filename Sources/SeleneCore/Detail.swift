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
    package init() {}

    package mutating func appendLiteral(_ literal: StaticString) {
      bytes.append(contentsOf: UnsafeBufferPointer(start: literal.utf8Start, count: literal.utf8CodeUnitCount))
    }

    package mutating func appendInterpolation(_ text: StaticString) { appendLiteral(text) }

    @inline(never)
    package mutating func appendInterpolation(_ text: Literal) {
      var next = text.cString
      while next.pointee != 0 {
        bytes.append(UInt8(bitPattern: next.pointee))
        next += 1
      }
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

    package mutating func appendInterpolation(_ text: Detail) { bytes.append(contentsOf: text.bytes) }

    /// A length of time, exactly, in the largest unit that divides it.
    package mutating func appendInterpolation(span: Int64) {
      let (size, name): (Int64, StaticString) =
        span == 0
        ? (1, "")
        : span == Time.tenYears
          ? (Time.tenYears / 10, " years")
          : span % Time.hour == 0
            ? (Time.hour, " h")
            : span % Time.second == 0
              ? (Time.second, " s")
              : span % Time.millisecond == 0
                ? (Time.millisecond, " ms")
                : (1, " ns")
      appendInterpolation(span / size)
      appendLiteral(name)
    }

    /// The name of a file: quoted, of a long one the end.
    package mutating func appendInterpolation(path: UnsafeRawBufferPointer) {
      let longest = 160
      var start = max(0, path.count - longest)
      while start < path.count && start > 0 && path[start] & 0xC0 == 0x80 { start += 1 }
      bytes.append(UInt8(ascii: "\""))
      if start > 0 { appendLiteral("…") }
      for byte in path[start...] { appendPrintable(byte) }
      bytes.append(UInt8(ascii: "\""))
    }

    private mutating func appendPrintable(_ byte: UInt8) {
      bytes.append(byte < 0x20 || byte == 0x7f ? UInt8(ascii: "?") : byte)
    }

    /// What somebody else said, cut after at most 240 bytes between characters, without what cannot be printed.
    package mutating func appendInterpolation(said: UnsafeRawBufferPointer) {
      var end = min(240, said.count)
      if end < said.count {
        while end > 0 && said[end] & 0xC0 == 0x80 { end -= 1 }
      }
      for byte in said.prefix(end) { appendPrintable(byte) }
      if end < said.count { appendLiteral("…") }
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

// What a row got in later versions of the schema: fields by number, so that rows without them stay as they were.

import SeleneCore

/// Reads fields, in ascending order of their numbers. Each is twice its number, and one more for bytes; then its value, or
/// the count of its bytes and these.
struct Fields {
  private let bytes: UnsafeRawBufferPointer
  /// Where the next one begins; beyond the end once one was none.
  private var position: Int

  init(_ bytes: UnsafeRawBufferPointer, from start: Int) {
    self.bytes = bytes
    position = start
  }

  /// All were asked for and good. What is left is damaged, or of a newer version.
  var isAtEnd: Bool { position == bytes.count }

  mutating func refuse() { position = .max }

  /// The number of a field, or nil if it is not there.
  mutating func number(_ field: UInt64) -> Int64? {
    guard take(field << 1) else { return nil }
    return next().map { Int64(bitPattern: $0) }
  }

  /// The bytes of a field, or nil if it is not there; valid as long as the row.
  mutating func text(_ field: UInt64) -> UnsafeRawBufferPointer? {
    guard take(field << 1 | 1), let count = next() else { return nil }
    guard count <= UInt64(bytes.count - position) else {
      refuse()
      return nil
    }
    let text = UnsafeRawBufferPointer(rebasing: bytes[position..<(position + Int(count))])
    position += Int(count)
    return text
  }

  private mutating func next() -> UInt64? {
    guard let number = bytes.unpack(&position) else {
      refuse()
      return nil
    }
    return number
  }

  /// Goes behind the key if it is the next one.
  private mutating func take(_ key: UInt64) -> Bool {
    guard position < bytes.count else { return false }
    var behind = position
    guard bytes.unpack(&behind) == key else { return false }
    position = behind
    return true
  }
}

extension [UInt8] {
  /// Adds a number of seven bits a byte, the lowest first.
  mutating func append(packed number: UInt64) {
    var rest = number
    while rest >= 0x80 {
      append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    append(UInt8(rest))
  }

  /// Adds a field that is a number.
  mutating func append(field: UInt64, _ number: Int64) {
    append(packed: field << 1)
    append(packed: UInt64(bitPattern: number))
  }

  /// Adds a field that is bytes.
  mutating func append(field: UInt64, _ text: UnsafeRawBufferPointer) {
    append(packed: field << 1 | 1)
    append(packed: UInt64(text.count))
    append(contentsOf: text)
  }
}

extension UnsafeRawBufferPointer {
  /// Reads a number as it was packed, and goes behind it; nil if there is none.
  func unpack(_ position: inout Int) -> UInt64? {
    var number: UInt64 = 0
    var shift: UInt64 = 0
    while position < count, shift < 64 {
      let byte = self[position]
      position += 1
      number |= UInt64(byte & 0x7F) << shift
      shift += 7
      if byte & 0x80 == 0 { return number }
    }
    return nil
  }
}

// What may name a task, a handler or a tag (T1).

/// The rules for ids, handler names and tags.
package enum Identifier {
  package static let longest = 255

  /// Accepts 1 to 255 bytes of valid UTF-8 without NUL.
  ///
  /// - Parameter entry: which of the field's entries it is, if the field is an array.
  /// - Throws: `invalidArgument` that names the field, what was found and where.
  package static func check(
    _ text: UnsafeRawBufferPointer, _ field: Literal, entry: Int? = nil
  ) throws(SeleneError) {
    guard (1...longest).contains(text.count) else { throw length(text.count, field, entry) }
    try check(characters: text, field, entry: entry)
  }

  /// Accepts valid UTF-8 without NUL.
  ///
  /// - Throws: `invalidArgument` that names the field, what was found and where.
  @inline(__always)
  static func check(characters text: UnsafeRawBufferPointer, _ field: Literal, entry: Int? = nil) throws(SeleneError) {
    if let position = firstFault(text) {
      let fault: Literal = text[position] == 0 ? "NUL" : "not valid UTF-8"
      throw SeleneError(.invalidArgument, field, "\(fault) at byte \(position)").entry(entry)
    }
  }

  @inline(never)
  private static func length(_ count: Int, _ field: Literal, _ entry: Int?) -> SeleneError {
    // A text that ends with a NUL is read no further than this, so its length is not known.
    guard count != longest + 1 else {
      return .range(field, count, 1, Int64(longest), .bytes).entry(entry)
        .problem("or more is out of range, allowed are 1 … 255 bytes")
    }
    return .range(field, count, 1, Int64(longest), .bytes).entry(entry)
  }

  /// Whether eight bytes have no bit 7, and none is a NUL; it may also say no.
  @inline(__always)
  private static func isPlain(_ word: UInt64) -> Bool {
    (word | word &- 0x0101_0101_0101_0101) & 0x8080_8080_8080_8080 == 0
  }

  /// Where the bytes stop being UTF-8 without NUL (Unicode 15, table 3-7), or nil.
  @_optimize(speed)
  private static func firstFault(_ text: UnsafeRawBufferPointer) -> Int? {
    var index = 0
    // Plain ASCII, eight bytes at a time: no bit 7, and no byte from which a borrow of 1 makes one.
    while index + 8 <= text.count {
      let word = text.loadUnaligned(fromByteOffset: index, as: UInt64.self)
      guard isPlain(word) else { break }
      index += 8
    }
    // The rest with some of what was looked at before it.
    if index + 8 > text.count && text.count >= 8
      && isPlain(text.loadUnaligned(fromByteOffset: text.count - 8, as: UInt64.self))
    {
      return nil
    }
    // What is shorter, byte by byte.
    while index < text.count && (0x01...0x7F).contains(text[index]) { index += 1 }
    while index < text.count {
      let lead = text[index]
      let length: Int
      var second: ClosedRange<UInt8> = 0x80...0xBF
      switch lead {
      case 0x01...0x7F: length = 1
      case 0xC2...0xDF: length = 2
      case 0xE0: (length, second) = (3, 0xA0...0xBF)
      case 0xED: (length, second) = (3, 0x80...0x9F)
      case 0xE1...0xEF: length = 3
      case 0xF0: (length, second) = (4, 0x90...0xBF)
      case 0xF1...0xF3: length = 4
      case 0xF4: (length, second) = (4, 0x80...0x8F)
      default: return index
      }
      guard index + length <= text.count else { return index }
      if length > 1 && !second.contains(text[index + 1]) { return index }
      if length > 2 && text[index + 2] & 0xC0 != 0x80 { return index }
      if length > 3 && text[index + 3] & 0xC0 != 0x80 { return index }
      index += length
    }
    return nil
  }
}

// Reads traces (G9), line by line and strictly: what the writer never writes is an error that says where.

import SeleneCore

/// Reads a trace from bytes that live as long as it.
package struct TraceReader {
  private static let mostNumbers = 4096

  private let bytes: UnsafeRawBufferPointer
  private var at = 0
  private var place = 1
  /// When the trace begins.
  package private(set) var begin: Instant = 0

  /// Reads the heading.
  ///
  /// - Throws: `invalidArgument`.
  package init(_ bytes: UnsafeRawBufferPointer) throws(SeleneError) {
    self.bytes = bytes
    let heading = TraceWriter.heading
    for index in 0..<heading.utf8CodeUnitCount {
      guard index < bytes.count && bytes[index] == heading.utf8Start[index] else {
        throw fault("not a trace of version 1")
      }
    }
    at = heading.utf8CodeUnitCount
    begin = try number()
    guard take(UInt8(ascii: "\n")) else { throw fault("a newline was expected") }
    place += 1
  }

  /// The next line, or nil at the end.
  ///
  /// - Throws: `invalidArgument`.
  package mutating func next() throws(SeleneError) -> TraceLine? {
    guard at < bytes.count else { return nil }
    guard let letter = TraceLetter(rawValue: bytes[at]) else { throw fault("an unknown letter at its start") }
    at += 1
    var numbers: [Int64] = []
    var text: [UInt8] = []
    while take(UInt8(ascii: " ")) {
      if letter == .run && numbers.count == letter.size {
        text = try id()
        break
      }
      guard numbers.count < Self.mostNumbers else { throw fault("more than 4096 numbers") }
      numbers.append(try number())
    }
    guard at < bytes.count else { throw fault("the trace ends in the middle of the line") }
    guard take(UInt8(ascii: "\n")) else { throw fault("a number or a newline was expected") }
    let line = TraceLine(letter: letter, numbers: numbers, text: text, place: place)
    if let size = letter.size, numbers.count != size {
      throw line.fault("the wrong number of values for its letter")
    }
    if letter == .run && text.isEmpty { throw line.fault("no task id") }
    if line.number(0) < 0 { throw line.fault("earlier than the previous line") }
    if letter == .decision
      && (numbers.count < 8
        || Int64(numbers.count - 8) != line.number(7).multipliedReportingOverflow(by: 7).partialValue)
    {
      throw line.fault("fewer or more findings than it announces")
    }
    place += 1
    return line
  }

  @inline(never)
  private func fault(_ what: Literal) -> SeleneError {
    SeleneError(.invalidArgument, "line", what).entry(place)
  }

  private mutating func take(_ byte: UInt8) -> Bool {
    guard at < bytes.count && bytes[at] == byte else { return false }
    at += 1
    return true
  }

  /// A whole number as it is written: no plus, no needless zero.
  private mutating func number() throws(SeleneError) -> Int64 {
    let isNegative = take(UInt8(ascii: "-"))
    let first = at
    var value: Int64 = 0
    while at < bytes.count, bytes[at] >= UInt8(ascii: "0") && bytes[at] <= UInt8(ascii: "9") {
      let digit = Int64(bytes[at] - UInt8(ascii: "0"))
      let (product, tooLarge) = value.multipliedReportingOverflow(by: 10)
      let (sum, tooFar) = product.subtractingReportingOverflow(digit)
      guard !tooLarge && !tooFar else { throw fault("a number is too large") }
      value = sum
      at += 1
    }
    guard at > first else {
      throw fault(at < bytes.count ? "a number was expected" : "the trace ends in the middle of the line")
    }
    if bytes[first] == UInt8(ascii: "0") && (at > first + 1 || isNegative) {
      throw fault("a number with leading zeros, or -0")
    }
    guard isNegative || value != .min else { throw fault("a number is too large") }
    return isNegative ? value : -value
  }

  private mutating func id() throws(SeleneError) -> [UInt8] {
    var id: [UInt8] = []
    while at < bytes.count && bytes[at] > 0x20 && bytes[at] != 0x7F {
      guard id.count < 3 * Identifier.longest else { throw fault("the id is too long") }
      id.append(bytes[at])
      at += 1
    }
    return id
  }
}

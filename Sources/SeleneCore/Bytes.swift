// Immutable bytes at a stable address: what callbacks and pulled runs are handed without a copy.

/// Immutable bytes with a stable address, followed by a NUL that the count does not count.
package final class Bytes: @unchecked Sendable {  // immutable after init
  private let start: UnsafeMutablePointer<UInt8>
  package let count: Int

  /// Makes room for a number of bytes and lets the closure write them.
  package init(count: Int, initializingWith body: (UnsafeMutableRawBufferPointer) -> Void) {
    self.count = count
    start = UnsafeMutablePointer<UInt8>.allocate(capacity: count + 1)
    start.initialize(repeating: 0, count: count + 1)
    body(UnsafeMutableRawBufferPointer(start: start, count: count))
  }

  package convenience init(copying source: UnsafeRawBufferPointer) {
    self.init(count: source.count) { $0.copyMemory(from: source) }
  }

  convenience init(_ literal: StaticString) {
    self.init(copying: UnsafeRawBufferPointer(start: literal.utf8Start, count: literal.utf8CodeUnitCount))
  }

  deinit { start.deallocate() }

  /// The bytes; valid while this object lives.
  package var buffer: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: start, count: count) }

  /// The bytes as a C string, for the time of a call.
  package func withCString<R>(_ body: (UnsafePointer<CChar>) -> R) -> R {
    withExtendedLifetime(self) { body(UnsafeRawPointer(start).assumingMemoryBound(to: CChar.self)) }
  }

  /// A part of the bytes; valid while this object lives.
  package func buffer(_ range: TextRange) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: start + Int(range.offset), count: Int(range.count))
  }
}

/// Where a piece of text stands within `Bytes`.
package struct TextRange: Sendable {
  package let offset: UInt32
  package let count: UInt32

  package init(offset: Int, count: Int) {
    self.offset = UInt32(truncatingIfNeeded: offset)
    self.count = UInt32(truncatingIfNeeded: count)
  }
}

extension UnsafeRawBufferPointer {
  /// Whether both hold the same bytes.
  @_optimize(speed)
  package func equals(_ other: UnsafeRawBufferPointer) -> Bool {
    guard count == other.count else { return false }
    var index = 0
    while index + 8 <= count {
      let (a, b) = (
        loadUnaligned(fromByteOffset: index, as: UInt64.self),
        other.loadUnaligned(fromByteOffset: index, as: UInt64.self)
      )
      if a != b { return false }
      index += 8
    }
    while index < count {
      if self[index] != other[index] { return false }
      index += 1
    }
    return true
  }
}

extension StaticString {
  /// The literal's bytes, which end with a NUL and live for ever.
  package var cString: UnsafePointer<CChar> {
    UnsafeRawPointer(utf8Start).assumingMemoryBound(to: CChar.self)
  }
}

// Why a task's last run failed (R7).

/// The failure of a run; its task keeps it until the next success.
package final class LastFailure: Sendable {
  package let at: Instant
  /// Which attempt it was, from 1; 0 where it did not run, because what it comes after failed (W4).
  package let attempt: UInt32
  /// What the run said, or the library for it.
  package let message: Bytes?

  package static let longestMessage = 1024

  package init(at: Instant, attempt: UInt32, _ message: Bytes?) {
    (self.at, self.attempt, self.message) = (at, attempt, message)
  }

  /// Takes over what a run said, as much as is kept; the cut is between two characters. Nil if it said nothing.
  ///
  /// - Throws: `invalidArgument` if that is not text.
  package static func message(
    _ text: UnsafeRawBufferPointer, _ field: Literal = "message"
  ) throws(SeleneError) -> Bytes? {
    var end = min(text.count, longestMessage)
    if end < text.count {
      for _ in 0..<3 where text[end] & 0xC0 == 0x80 { end -= 1 }
    }
    guard end > 0 else { return nil }
    let kept = UnsafeRawBufferPointer(rebasing: text[..<end])
    try Identifier.check(characters: kept, field)
    return Bytes(copying: kept)
  }

  /// Why a task failed that has not run.
  static func message(after id: UnsafeRawBufferPointer) -> Bytes {
    let (before, behind): (StaticString, StaticString) = ("it comes after \"", "\", which failed")
    return Bytes(count: before.utf8CodeUnitCount + id.count + behind.utf8CodeUnitCount) { target in
      var end = 0
      for part in [
        UnsafeRawBufferPointer(start: before.utf8Start, count: before.utf8CodeUnitCount), id,
        UnsafeRawBufferPointer(start: behind.utf8Start, count: behind.utf8CodeUnitCount),
      ] {
        UnsafeMutableRawBufferPointer(rebasing: target[end...]).copyMemory(from: part)
        end += part.count
      }
    }
  }

  /// Why a run was cut that no window of its length can hold (V2).
  package static func windowEnded(budget: Span, estimate: Span) -> Bytes {
    let unit = estimate >= 10 * Time.second ? Time.second : 1_000_000
    let rounded = max(estimate / unit * unit, min(estimate, 1_000_000))
    let text: Detail = "the window ended: takes \(span: rounded); windows have \(span: budget)"
    return text.bytes.withUnsafeBytes { Bytes(copying: $0) }
  }

  // What the library says of a run that cannot.
  package static let windowEnded = Bytes("the window ended")
  package static let notAsked = Bytes("it said that it was stopped, but nothing had asked it to stop")
  package static let timedOut = Bytes("timed out")
  package static let madeNoProgress = Bytes("made no progress")
  package static let handlerLeft = Bytes("its handler was left by a jump, an exception or the end of its thread")
  package static let tooLate = Bytes("too late: it was not begun by its latest begin")
  package static let processEnded = Bytes("the process ended")
  package static let processBroke = Bytes("the process that ran it sent what is not the protocol")
}

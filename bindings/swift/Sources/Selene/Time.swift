// Instants, and durations as the header's nanoseconds.

import CSelene

/// An instant of scheduler time.
public struct Instant: InstantProtocol, Hashable, Sendable, CustomStringConvertible {
  /// Since the Unix epoch, in UTC.
  public let nanosecondsSinceEpoch: Int64

  /// So many nanoseconds since the Unix epoch.
  public init(nanosecondsSinceEpoch: Int64) { self.nanosecondsSinceEpoch = nanosecondsSinceEpoch }

  /// An instant that is never reached is nil.
  init?(maybe nanoseconds: Int64) {
    guard nanoseconds != SELENE_NEVER else { return nil }
    nanosecondsSinceEpoch = nanoseconds
  }

  /// Earlier.
  public static func < (one: Instant, other: Instant) -> Bool {
    one.nanosecondsSinceEpoch < other.nanosecondsSinceEpoch
  }

  /// Later by a duration; what is later than can be said is the last that can.
  public func advanced(by duration: Duration) -> Instant {
    let (sum, isOver) = nanosecondsSinceEpoch.addingReportingOverflow(duration.nanoseconds)
    return Instant(nanosecondsSinceEpoch: !isOver ? sum : duration < .zero ? .min : .max)
  }

  /// From this one to another.
  public func duration(to other: Instant) -> Duration {
    .nanoseconds(other.nanosecondsSinceEpoch) - .nanoseconds(nanosecondsSinceEpoch)
  }

  /// In nanoseconds since the Unix epoch.
  public var description: String { "\(nanosecondsSinceEpoch) ns" }
}

extension Duration {
  /// What is longer than the header can say is the longest; the library says whether that is allowed.
  var nanoseconds: Int64 {
    let (seconds, attoseconds) = components
    let (whole, isOver) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    let (sum, isSumOver) = whole.addingReportingOverflow(attoseconds / 1_000_000_000)
    return !isOver && !isSumOver ? sum : seconds < 0 ? .min : .max
  }

  /// −1 is the header's word for a default or none, which nobody says by mistake.
  var notNegative: Int64 { self < .zero ? .min : nanoseconds }

  /// For a field whose 0 is a default: the header's word for a 0 that is said, which is refused where 0 is not allowed.
  var said: Int64 { self == .zero ? Int64(SELENE_NONE) : notNegative }
}

/// The same of a number.
func said(_ number: Int32) -> Int32 { number == 0 ? SELENE_NONE : number == SELENE_NONE ? .min : number }

/// The same of a number of bytes.
func said(_ bytes: UInt64) -> Int64 { bytes == 0 ? Int64(SELENE_NONE) : Int64(clamping: bytes) }

/// The same of one without a sign, where 0 is refused.
func said(_ number: UInt32) -> UInt32 { number == 0 ? .max : number }

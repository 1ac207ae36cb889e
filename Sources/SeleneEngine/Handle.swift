// Handles and tokens: numbers that can be checked, never addresses (P4).

import CPlatform
import SeleneCore

/// A handle: one bit that says so, a type, a slot, and a number that is never used twice in that slot.
///
///     63   62   61…56   55…40   39…0
///     0    1    type    slot    number
///
/// Handles and tokens are below 2^63: some languages have no larger integer (B4).
package struct Handle: Equatable, Sendable {
  package enum Kind: UInt64, Sendable {
    case scheduler = 1
    case cycle = 2
    case lane = 3

    var name: Literal {
      switch self {
      case .scheduler: "scheduler"
      case .cycle: "cycle"
      case .lane: "lane"
      }
    }
  }

  package let rawValue: UInt64

  package init(rawValue: UInt64) { self.rawValue = rawValue }

  init(_ kind: Kind, slot: Int, number: UInt64) {
    rawValue = Self.mark | kind.rawValue << 56 | UInt64(slot) << 40 | number & Self.numberMask
  }

  static let numberMask: UInt64 = 1 << 40 - 1
  /// What tells a handle from a token.
  static let mark: UInt64 = 1 << 62

  var slot: Int { Int(rawValue >> 40 & 0xFFFF) }
  var number: UInt64 { rawValue & Self.numberMask }

  /// Checks that it is a handle of this type.
  ///
  /// - Throws: `invalidHandle` that says what was given instead.
  func check(_ kind: Kind) throws(SeleneError) {
    guard rawValue >> 56 != Self.mark >> 56 | kind.rawValue else { return }
    if kind != .lane {
      // A connection stands for a scheduler, and its cycles for others, in what goes over its socket.
      switch platform_connection(rawValue) {
      case 1:
        throw SeleneError(
          .unsupported, kind.name, "a connection: what this asks for only the process that has the store open can do")
      case 2: throw SeleneError(.forked, kind.name, "the connection belongs to the parent; the child opens its own")
      default: break
      }
    }
    let found: Literal =
      rawValue == 0
      ? "0"
      : rawValue & Self.mark == 0
        ? "a run's token, or a number that is not a handle,"
        : "a handle of another type, or a number that is not a handle,"
    throw SeleneError(.invalidHandle, kind.name, "\(found) is not an open handle")
  }
}

/// A run's token: the life of its scheduler and the run's number in it.
///
///     63   62   61        60…37   36…0
///     0    0    memory?   life    number
struct Token {
  let rawValue: UInt64

  init(rawValue: UInt64) { self.rawValue = rawValue }
  init(life: UInt64, number: UInt64) { rawValue = life << 37 | number & Self.numberMask }

  static let numberMask: UInt64 = 1 << 37 - 1

  /// The greatest number of a life in a token; behind it they begin again.
  static let lifeMask: UInt64 = 1 << 24 - 1
  private static let inMemory: UInt64 = 1 << 24

  /// What the tokens of a life have of its number; 0 is none.
  static func life(_ number: UInt64, isStored: Bool) -> UInt64 {
    (number &- 1) % lifeMask + 1 | (isStored ? 0 : inMemory)
  }

  var isStored: Bool { life & Self.inMemory == 0 }
  /// Whether a life has been given out, if the last one had this number; all have once they began again.
  func isIssued(upTo last: UInt64) -> Bool { number != 0 && life & Self.lifeMask != 0 && life & Self.lifeMask <= last }
  var life: UInt64 { rawValue >> 37 }
  var number: UInt64 { rawValue & Self.numberMask }
  /// No token, whatever it is: a handle, or a number that is neither.
  var isHandle: Bool { rawValue >= Handle.mark }
}

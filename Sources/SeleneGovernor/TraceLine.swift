// One line of a trace (G9): a letter, whole numbers, and for runs an id.

import SeleneCore

/// What a line of a trace says; the raw value is its letter.
///
/// A trace is text. Its first line is `selene-trace 1` and the instant at which it begins, in ns; each other line a letter,
/// numbers and a newline, one space between them. The first number of a line is the time since the line before it in ns; `ago` and `in` count from the line's own time; −1 is never. There is one way to write a line, so
/// that equal traces are equal bytes.
package enum TraceLetter: UInt8, Sendable {
  /// time, `Profile.numbers`.
  case profile = 0x50  // P
  /// time, `Ledger.numbers`.
  case ledger = 0x4C  // L
  /// time, `UsePrediction.numbers`.
  case habits = 0x48  // H
  /// time, signal, source, value, until in.
  case signal = 0x53  // S
  /// time, signal, source: it is cleared.
  case clear = 0x43  // C
  /// time, kind, budget: a window begins.
  case begin = 0x42  // B
  /// time, kind: it ends.
  case end = 0x45  // E
  /// time, kind: an open-ended window of it ends, which may have taken longer than its budget.
  case endOpen = 0x46  // F
  /// time, kind, CPU time, bytes.
  case report = 0x52  // R
  /// time, began ago, ended ago: the host was used.
  case use = 0x55  // U
  /// time, kind, never ran, granted, score, longest window, ask again in, findings; for each of them factor, verdict, origin,
  /// observed, required, score, clears in.
  case decision = 0x44  // D
  /// time, kind, started ago, outcome, stop reason, id: a run ended. Blanks, controls and `%` in the id are `%` and two hex
  /// digits.
  case run = 0x54  // T

  static let findingSize = 7

  /// How many numbers it has; nil: any.
  var size: Int? {
    switch self {
    case .profile, .ledger, .habits, .decision: nil
    case .signal, .run: 5
    case .report: 4
    case .clear, .begin, .use: 3
    case .end, .endOpen: 2
    }
  }
}

/// A line that was read.
package struct TraceLine: Sendable {
  package let letter: TraceLetter
  package let numbers: [Int64]
  /// The id of a run as it is written; else empty.
  package let text: [UInt8]
  /// From 1.
  package let place: Int

  /// What follows the time.
  var state: [Int64] { Array(numbers.dropFirst()) }

  @inline(never)
  package func number(_ index: Int) -> Int64 { index < numbers.count ? numbers[index] : 0 }

  @inline(never)
  package func fault(_ what: Literal) -> SeleneError {
    SeleneError(.invalidArgument, "line", what).entry(place)
  }
}

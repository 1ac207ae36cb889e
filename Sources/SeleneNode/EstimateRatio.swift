// What runs take of what they were expected to take: a claim by the horizon goes by that (N22).

import SeleneCore

/// Of the last runs of a node how long they took together, and how long they were expected to take.
struct EstimateRatio {
  private var taken: Span = 0
  private var expected: Span = 0
  private var count = 0
  /// So many runs count as much as all before them.
  private static let memory = 32

  mutating func add(_ response: Span, expected estimate: Span) {
    // One that took longer says nothing of what others take; that it is late is the window's concern.
    taken = taken.adding(min(response, estimate))
    expected = expected.adding(estimate)
    count += 1
    guard count == Self.memory else { return }
    (taken, expected, count) = (taken / 2, expected / 2, 0)
  }

  /// What is expected of a run whose class says so.
  func likely(_ estimate: Span) -> Span {
    guard expected > 0 else { return estimate }
    let likely = Double(estimate) * (Double(taken) / Double(expected))
    // The greatest numbers are rounded up to one that is no span.
    return likely < Double(estimate) ? Span(likely) : estimate
  }

  /// How much of expected time fits into a span.
  func expected(in span: Span) -> Span {
    guard expected > 0 else { return span }
    let fits = Double(span) * Double(expected) / Double(max(taken, 1))
    return fits < Double(Time.never / 2) ? max(span, Span(fits)) : Time.never / 2
  }
}

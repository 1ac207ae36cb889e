// What the runs of a cycle add up to (C11).

/// Counts of outcomes and the result that they give.
package struct Tally: Sendable {
  package private(set) var newData: UInt64 = 0
  package private(set) var noData: UInt64 = 0
  package private(set) var failed: UInt64 = 0
  package private(set) var abandoned: UInt64 = 0
  package private(set) var expired: UInt64 = 0
  package private(set) var stopped: UInt64 = 0

  package init() {}

  package mutating func add(_ outcome: Outcome) {
    switch outcome {
    case .newData: newData += 1
    case .noData: noData += 1
    case .failed: failed += 1
    case .abandoned: abandoned += 1
    case .expired: expired += 1
    case .stopped: stopped += 1
    }
  }

  /// New data if any run gave it, else failed if any failed, expired or was abandoned, else no data.
  package var result: Outcome {
    if newData > 0 { return .newData }
    return failed + expired + abandoned > 0 ? .failed : .noData
  }
}

// The runs that are out, by the number of their token, and what is still known of those that are not (C4, C6).

import SeleneCore

/// The runs of a scheduler. Guarded by its lock.
struct Runs {
  /// The number of the last run.
  private(set) var last: UInt64 = 0
  /// Those that have not come back.
  private let out = NumberMap<Run>()
  /// Pulled ones that were let go: the host may still read their texts.
  private let lent = NumberMap<Run>()
  private var stale = StaleRuns()

  // MARK: Finding

  /// A run that has not come back, by its number.
  subscript(number: UInt64) -> Run? { @inline(__always) get { out[number] } }

  /// The same.
  ///
  /// - Throws: `invalidHandle`, `alreadyCompleted`, `staleRun`.
  @inline(__always)
  func find(_ number: UInt64) throws(SeleneError) -> Run {
    if let run = out[number] { return run }
    throw gone(number)
  }

  @inline(never)
  private func gone(_ number: UInt64) -> SeleneError {
    guard number <= last else { return SeleneError(.invalidHandle, "run", "unknown run token") }
    return stale.contains(number) ? .stale(.none) : .completedBefore
  }

  /// Calls a body with each that has not come back, in no order; the body changes nothing here.
  func forEach(_ body: (Run) -> Void) { out.forEach(body) }

  // MARK: Coming and going

  /// A run of the number after the last.
  @inline(__always)
  mutating func add(_ run: Run) {
    last += 1
    out.insert(last, run)
  }

  /// A run has come back, or was let go.
  @inline(__always)
  mutating func remove(_ run: Run) {
    let number = Token(rawValue: run.token).number
    out.remove(number)
    if run.isStale { stale.insert(number) }
  }

  /// The host keeps the texts of a run that was let go, until it completes it.
  func lend(_ run: Run) { lent[Token(rawValue: run.token).number] = run }

  @inline(__always)
  func takeBackLent(_ number: UInt64) { if !lent.isEmpty { lent.remove(number) } }
}

/// The last runs that were stopped or expired, so that a late outcome is told from a second one.
private struct StaleRuns {
  static let capacity = 65_536

  private let numbers = NumberMap<Bool>()
  private var order: [UInt64] = []
  private var oldest = 0

  mutating func insert(_ number: UInt64) {
    guard !contains(number) else { return }
    numbers[number] = true
    if order.count < Self.capacity {
      order.append(number)
    } else {
      numbers[order[oldest]] = nil
      order[oldest] = number
      oldest = (oldest + 1) % Self.capacity
    }
  }

  func contains(_ number: UInt64) -> Bool { numbers[number] != nil }
}

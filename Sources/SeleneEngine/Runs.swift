// The runs that are out, by the number of their token, and what is still known of those that are not (C4, C6).

import SeleneCore

/// The runs of a scheduler. Guarded by its lock.
struct Runs {
  /// The number of the last run.
  private(set) var last: UInt64 = 0
  /// Those that have not come back.
  private let out = NumberMap<Run>()
  private var lent = LentTexts()
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

  /// The host keeps the texts of a pulled run that was let go, until it completes it or many more were let go.
  mutating func lend(_ run: Run) { lent.insert(Token(rawValue: run.token).number, run.definition) }

  @inline(__always)
  func takeBackLent(_ number: UInt64) { lent.remove(number) }
}

/// The definitions of the last pulled runs that were let go, whose texts the host may still read: a host whose workers die
/// never completes their runs.
private struct LentTexts {
  static let capacity = 1_024

  private let definitions = NumberMap<TaskDefinition>()
  private var last = LastNumbers()

  mutating func insert(_ number: UInt64, _ definition: TaskDefinition) {
    if let oldest = last.insert(number, capacity: Self.capacity) { definitions.remove(oldest) }
    definitions[number] = definition
  }

  @inline(__always)
  func remove(_ number: UInt64) { if !definitions.isEmpty { definitions.remove(number) } }
}

/// The last runs that were stopped or expired, so that a late outcome is told from a second one.
private struct StaleRuns {
  static let capacity = 65_536

  private let numbers = NumberMap<Bool>()
  private var last = LastNumbers()

  mutating func insert(_ number: UInt64) {
    guard !contains(number) else { return }
    if let oldest = last.insert(number, capacity: Self.capacity) { numbers.remove(oldest) }
    numbers[number] = true
  }

  func contains(_ number: UInt64) -> Bool { numbers[number] != nil }
}

/// The last numbers of so many.
private struct LastNumbers {
  private var order: [UInt64] = []
  private var oldest = 0

  /// Adds a number; the oldest one that has to go for it.
  mutating func insert(_ number: UInt64, capacity: Int) -> UInt64? {
    guard order.count == capacity else {
      order.append(number)
      return nil
    }
    let gone = order[oldest]
    order[oldest] = number
    oldest = (oldest + 1) % capacity
    return gone
  }
}

// The states of a record (T3).

/// Where a record stands.
package enum TaskState: UInt8, CaseIterable, Sendable {
  case enqueued = 0
  case held = 1
  case blocked = 2
  case running = 3
  case succeeded = 4
  case failed = 5
  case cancelled = 6

  package var isTerminal: Bool { rawValue >= TaskState.succeeded.rawValue }
}

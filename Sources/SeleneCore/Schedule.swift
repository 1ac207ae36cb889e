// How often a task runs, and how its periods are counted.

/// How often a task runs.
package enum Schedule: UInt8, Sendable {
  /// Until it succeeds or fails for good, as WorkManager's OneTimeWorkRequest.
  case once = 1
  /// Once a period, as WorkManager's PeriodicWorkRequest.
  case periodic = 2
  /// A candidate in every window, as in Selene.
  case standing = 3
}

/// From where a periodic task's next period is counted.
package enum Recurrence: UInt8, Sendable {
  case afterCompletion = 0
  /// On the grid of the first earliest begin.
  case anchored = 1
  /// When the host says (W7); retries come before that instant, at it at the latest.
  case calendar = 2
}

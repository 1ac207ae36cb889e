// A lane of a cycle: what a thread of the host takes runs through (C20).

/// A lane. Guarded by the scheduler's lock.
package final class Lane {
  package let handle: UInt64
  let cycle: Cycle
  /// The run that it was given last, until its thread has come back.
  var run: Run?
  /// The thread that took it.
  var thread: UInt64 = 0
  /// Its thread was left behind in a handler: another lane may take its place.
  var isLeftBehind = false
  /// The handler that it was left behind in; the run may have been let go.
  var overrun: Handler?

  init(_ handle: Handle, of cycle: Cycle) {
    self.handle = handle.rawValue
    self.cycle = cycle
  }
}

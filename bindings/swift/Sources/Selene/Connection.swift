// Stores that another process has open.

import CSelene

/// How to reach the process that has a store open.
public struct Connection: Sendable {
  /// The store, or the socket on which it is served.
  public var path: String
  /// How long a call waits for an owner while none serves the store.
  public var wait: Duration = .zero
  /// How long a call waits for an answer.
  public var timeout: Duration = .seconds(30)
  /// Those whose handlers are the same, any of which runs its tasks; nil: the name of the executable.
  public var pool: String?

  /// To a store, or its socket.
  public init(path: String, pool: String? = nil) { (self.path, self.pool) = (path, pool) }

  func open() throws(SeleneError) -> selene_scheduler {
    let lent = Lent()
    var raw = selene_connect_options.empty
    (raw.path, raw.pool) = (lent.text(path), lent.text(pool ?? ""))
    (raw.wait, raw.timeout) = (wait.nanoseconds, timeout.said)
    var handle: selene_scheduler = 0
    let status = selene_scheduler_connect(&raw, &handle)
    withExtendedLifetime(lent) {}
    try check(status)
    return handle
  }
}

// Telling the host: what changed is put into the outbox under the lock, and delivered without it.

import SeleneCore

extension Scheduler {
  // MARK: After a rule changed something

  func newChanges() -> Changes { Changes(isObserved: outbox.isObserved) }

  func publish(_ changes: Changes, at now: Instant) {
    for (token, reason) in changes.stops {
      if let run = runs[Token(rawValue: token).number] { stop(run, reason, at: now) }
    }
    for change in changes.list { outbox.tell(change, at: now) }
  }

  @inline(__always)
  func publish(_ change: @autoclosure () -> Change, at now: Instant) {
    if outbox.isObserved { outbox.tell(change(), at: now) }
  }

  /// Delivers what ended its last use.
  func finishIfLast(_ isLast: Bool, _ callback: Callback) {
    if isLast { outbox.add(.finish(callback)) }
  }

  // MARK: Delivering

  /// Delivers what waits. Called and left with the lock held.
  ///
  /// - Throws: `forked`, as `leave`.
  func emptyOutbox() throws(SeleneError) {
    while !outbox.isEmpty {
      try deliver()
      try notify()
    }
  }

  /// Stops, ends and reports; any thread delivers its own. Called and left with the lock held.
  private func deliver() throws(SeleneError) {
    while true {
      let taken = outbox.takeDeliveries()
      guard !taken.isEmpty else { return }
      // Who waits for a report does not wait for a stop function.
      let batch = taken.filter { $0.isReport } + taken.filter { !$0.isReport }
      try outside { () throws(SeleneError) in for delivery in batch { try deliver(delivery) } }
      for case .stop(let run, _) in batch { endUse(of: run.handler) }
      for case .report(let receiver, _) in batch {
        _ = receiver.retire()
        finishIfLast(receiver.endUse(), receiver)
      }
    }
  }

  private func deliver(_ delivery: Delivery) throws(SeleneError) {
    switch delivery {
    case .stop(let run, let reason): if let stop = run.handler.stop { try callHost(life) { stop(run.token, reason) } }
    case .finish(let callback): try callback.finish(life)
    case .report(let receiver, let report): if let receive = receiver.receive { try callHost(life) { receive(report) } }
    }
  }

  /// Events, one at a time and in order: only one thread delivers. Called and left with the lock held.
  private func notify() throws(SeleneError) {
    var isFirst = true
    while let batch = outbox.takeNotices(isFirst: isFirst) {
      isFirst = false
      try outside { () throws(SeleneError) in
        for notice in batch {
          switch notice {
          case .event(let observer, let event): try callHost(life) { observer.observe(event) }
          case .end(let observer): try observer.finish(life)
          }
        }
      }
    }
  }
}

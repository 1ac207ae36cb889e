// One life of a node in its fleet: a number that is never used again, and a lease that beats make anew (N10, N13).

import SeleneCore

/// An incarnation; instants are of the own clock.
struct Incarnation {
  let worker: Int64
  /// When the last beat, or hello, that was answered was sent.
  var beatSent: Instant
  /// Each of its beats was answered. Where one was not, what the clock ran since the last one says nothing of how the
  /// database's clock went: it may have been made, or may yet be. So this incarnation judges nobody any more (N12).
  var judges = true
  /// When the next beat is sent.
  var nextBeat: Instant
  /// It beats without waiting for its time, and before it says bye: its connection was lost, and what was said of it meanwhile is
  /// to be heard, or it was told of runs that it has lost (N34, N37).
  var isUnheard = false
  /// When it says bye, after one that failed.
  var byeAt: Instant = .min
  /// It takes runs. Once it does not, it never does again (N14).
  var takes = true
  /// Belief in its lease has ended; what it ran was asked to stop, and the rest was given back (N13).
  var isOver = false

  init(_ worker: Int64, sent: Instant, _ options: NodeOptions) {
    self.worker = worker
    (beatSent, nextBeat) = (sent, sent.adding(options.beatInterval))
  }

  /// Until when it is believed that nobody has taken its runs (N13).
  func believesUntil(_ options: NodeOptions) -> Instant { beatSent.adding(options.belief) }
}

// What a window of the host leaves for runs of a fleet, and how much a claim may take of it (N22).

import SeleneCore

/// An open window, as the node has to know it.
package struct NodeRoom: Sendable {
  /// Runs at a time.
  package var lanes: Int
  /// So many of these are of windows that are yet to be opened, so that what is claimed for them does not begin at once (N58).
  var lanesAhead: Int
  /// Nothing is begun from then on, and nothing is claimed that is expected to end later; own clock.
  package var until: Instant
  /// Nothing is claimed but for a lane that is free now.
  var isBare: Bool
  /// Nothing that was given up is at work in this process: a suspect could be alone (N15).
  var takesSuspects: Bool
  /// The classes that can be served in it: by handler, labels, constraints and kind (N4).
  package var serves: @Sendable (FleetClass) -> Bool
  /// Those among them of which more is claimed now: not where all lanes are taken for long (N22). Nil: all.
  package var takes: (@Sendable (FleetClass) -> Bool)?
  /// Nothing was claimed in it yet.
  var isFresh = true

  package init(
    lanes: Int, lanesAhead: Int = 0, until: Instant, isBare: Bool = false, takesSuspects: Bool = true,
    serves: @escaping @Sendable (FleetClass) -> Bool
  ) {
    (self.lanes, self.lanesAhead, self.until, self.isBare) = (lanes, lanesAhead, until, isBare)
    (self.takesSuspects, self.serves) = (takesSuspects, serves)
  }
}

extension NodeRoom {
  /// What to claim now, or nil for nothing.
  ///
  /// - Parameter working: how many lanes are taken.
  /// - Parameter ready: how many runs are claimed and not begun, and how long all of them are expected to take.
  /// - Parameter mean: what a run of the last claim was expected to take; nil if that is not known.
  func claim(
    of classes: [Int32], at now: Instant, working: Int, ready: (count: Int, time: Span), mean: Span?, horizon: Span
  ) -> NodeClaim? {
    let left = until.subtracting(now)
    guard left > 0, !classes.isEmpty else { return nil }
    let free = lanes - working - ready.count
    if isFresh {
      return free > 0
        ? NodeClaim(classes: classes, most: 1, room: left, total: Time.never, isFirst: true) : nil
    }
    // By the horizon only where the last claim says how many tasks that is: of tasks nobody has seen, one a lane.
    let goal = isBare ? 0 : horizon.multiplied(by: lanes)
    if let mean, ready.time < goal / 2 {
      let missing = Int(clamping: (goal - ready.time) / max(mean, 1))
      if missing > max(free, 0) {
        return NodeClaim(
          classes: classes, most: min(missing, NodeOptions.mostClaimed), room: left, total: goal - ready.time,
          isFirst: false)
      }
    }
    guard free > 0 else { return nil }
    return NodeClaim(
      classes: classes, most: min(free, NodeOptions.mostClaimed), room: left, total: Time.never, isFirst: false)
  }
}

extension Span {
  /// So many times, at most for ever.
  fileprivate func multiplied(by count: Int) -> Span {
    let (product, overflow) = multipliedReportingOverflow(by: Span(count))
    return overflow ? Time.never : product
  }
}

// Whose handlers a window can use: those of this process, or those that other processes offer (L5).

/// The handlers that a process offers, or all of a pool together, by their numbers.
package final class Crew {
  private var ways: [HandlerRoster.Way?] = []
  /// No other crew has it, nor had this one before its last change.
  package private(set) var version: UInt64

  package init(version: UInt64) { self.version = version }

  /// Offers a handler, or does not any more.
  package func set(_ handler: Int, _ way: HandlerRoster.Way?, version: UInt64) {
    while ways.count <= handler { ways.append(nil) }
    ways[handler] = way
    self.version = version
  }

  /// Whether a handler is among them, and can be called where that is needed.
  @inline(__always)
  package func has(_ handler: Int, pushed: Bool) -> Bool {
    guard handler < ways.count, let way = ways[handler] else { return false }
    return way == .pushed || !pushed
  }

  package func way(_ handler: Int) -> HandlerRoster.Way? { handler < ways.count ? ways[handler] : nil }

  package var isEmpty: Bool { !ways.contains { $0 != nil } }

  /// Whether another has the same.
  package func isSame(as other: Crew) -> Bool {
    (0..<max(ways.count, other.ways.count)).allSatisfy { way($0) == other.way($0) }
  }
}

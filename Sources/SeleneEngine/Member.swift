// Processes that are connected and take runs of a scheduler, and the pools that they belong to (L5).

import SeleneCore

/// A process that takes runs. Guarded by the scheduler's lock.
package final class Member {
  let number: UInt64
  let pool: Pool
  /// What it offers.
  let own: Crew
  /// What its windows can use: that of its pool if it is the same.
  var crew: Crew
  /// Its handlers, by their numbers.
  var handlers: [Int] = []
  /// Its runs that have not come back, and some that have, by the number of their token.
  let runs = NumberMap<Run>()
  /// The cycles that it is in, and how many runs it may have of each at a time.
  var shares: [(cycle: Cycle, lanes: Int)] = []

  init(number: UInt64, pool: Pool, version: UInt64) {
    (self.number, self.pool) = (number, pool)
    own = Crew(version: version)
    crew = own
  }

  package var handlerCount: Int { handlers.count }
  package var openCount: Int { openRuns().count }

  /// Its runs that are not decided; of a cycle, if one is given.
  func openRuns(of cycle: Cycle? = nil) -> [Run] {
    var open: [Run] = []
    runs.forEach { if $0.isOpen && (cycle == nil || $0.cycle === cycle) { open.append($0) } }
    return open.sorted { $0.token < $1.token }
  }
}

/// Processes that share handlers and the windows in which their tasks are ranked. Guarded by the scheduler's lock.
final class Pool {
  let name: Bytes
  /// What its members offer together.
  let crew: Crew
  var members = 0
  /// As those of the scheduler, which are for its own handlers (L6).
  var pace: PerKind<Pace>
  var traces = PerKind<CycleTrace?>(repeating: nil)

  init(_ name: Bytes, pace: PerKind<Pace>, version: UInt64) {
    (self.name, self.pace) = (name, pace)
    crew = Crew(version: version)
  }
}

/// All that a scheduler knows of other processes.
struct Crews {
  let members = NumberMap<Member>()
  var pools: [Pool] = []
  private var lastMember: UInt64 = 0
  private var lastVersion: UInt64 = 0

  mutating func newMember() -> UInt64 {
    lastMember += 1
    return lastMember
  }

  mutating func newVersion() -> UInt64 {
    lastVersion += 1
    return lastVersion
  }
}

/// How a process ends its connection (L9).
package enum Leaving: Int32, Sendable {
  /// It said so.
  case orderly = 0
  /// It ended, or its connection did.
  case died = 1
  /// What it sent was not the protocol.
  case broken = 2
}

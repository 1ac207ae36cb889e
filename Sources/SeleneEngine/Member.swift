// Processes that are connected and take runs of a scheduler, and the pools that they belong to (L5).

import CPlatform
import SeleneCore

/// A process that takes runs. Guarded by the scheduler's lock.
package final class Member {
  let number: UInt64
  let pool: Pool
  /// Its process, if that can be found again.
  let process: ProcessMark?
  /// What it offers.
  let own: Crew
  /// What its windows can use: that of its pool if it is the same.
  var crew: Crew
  /// Its handlers, by their numbers.
  var handlers: [Int] = []
  /// Its runs that have not come back, and some that have, by the number of their token.
  let runs = NumberMap<Run>()
  /// The cycles that it is in.
  var shares: [Share] = []
  /// By which descriptor its server hears that there is news for it; −1: it does not want to know.
  var bell: Int32 = -1
  /// News that its server has not fetched: runs that are asked to stop, or are over without an outcome; what it is called to.
  var stops: [(run: UInt64, reason: StopReason, isOver: Bool)] = []
  var calls: Calls = []

  /// Where there may be something for it.
  struct Calls: OptionSet {
    let rawValue: Int32
    static let windows = Calls(rawValue: 1)
    static let driver = Calls(rawValue: 2)
  }
  /// What asks for windows for it, or nil (L7); and the window of its pool that it was in last.
  var driver: Driver?
  var lastCycle: UInt64 = 0
  /// When it asked for something last, by the boot clock.
  var askedAt: Instant = 0
  /// The table's stamp when nothing was left for it in a cycle.
  var doneStamp: UInt64 = 0

  init(number: UInt64, pool: Pool, process: ProcessMark?, version: UInt64) {
    (self.number, self.pool, self.process) = (number, pool, process)
    own = Crew(version: version)
    crew = own
  }

  /// There may be something for it: its server hears of it.
  func call(to something: Calls) {
    guard bell >= 0 else { return }
    if calls.isEmpty { platform_ring(bell) }
    calls.formUnion(something)
  }

  package var handlerCount: Int { handlers.count }
  package var openCount: Int { openCount(of: nil) }

  func openCount(of cycle: Cycle?) -> Int {
    var count = 0
    runs.forEach { if $0.isOpen && (cycle == nil || $0.cycle === cycle) { count += 1 } }
    return count
  }

  /// Its runs that are not decided; of a cycle, if one is given.
  func openRuns(of cycle: Cycle? = nil) -> [Run] {
    var open: [Run] = []
    runs.forEach { if $0.isOpen && (cycle == nil || $0.cycle === cycle) { open.append($0) } }
    return open.sorted { $0.token < $1.token }
  }
}

/// What a process has of a cycle of its pool.
struct Share {
  let cycle: Cycle
  /// How many runs it may have at a time.
  let lanes: Int
  /// Threads of the process take its runs one after the other, and wait for its report (C20).
  let hasLanes: Bool
  /// The process calls the handlers, which need a run function there (C5).
  let isCalled: Bool
  /// Nothing more of it is for this process.
  var isDone = false
  /// Its process ends its part before the cycle ends: when its runs are asked to stop, and when they are over (V5).
  var ending: (asksAt: Instant, at: Instant)?
  /// What was to be seen as it was told to wait; nil: it does not wait.
  var seen: CycleView?
  /// When it was called to look again, by the boot clock, if it has not come since.
  var calledAt: Instant?
  /// When it was let in, or got its last run, by the boot clock, if it was not told to wait since.
  var tookAt: Instant?

  init(_ cycle: Cycle, lanes: Int, hasLanes: Bool, isCalled: Bool) {
    (self.cycle, self.lanes, self.hasLanes, self.isCalled) = (cycle, lanes, hasLanes || isCalled, isCalled)
    tookAt = platform_boot_clock()
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
  /// What it leaves for runs of a fleet.
  var room = PoolRoom()

  init(_ name: Bytes, pace: PerKind<Pace>, version: UInt64) {
    (self.name, self.pace) = (name, pace)
    crew = Crew(version: version)
  }
}

/// All that a scheduler knows of other processes.
struct Crews {
  let members = NumberMap<Member>()
  var pools: [Pool] = []
  /// A member wanted news.
  var hasListeners = false
  /// A member had a driver.
  var hasDrivers = false
  /// What the table does not show may let a driver of a member have something to do; else the table's stamp at the last look.
  var mustLook = false
  var lookedStamp: UInt64 = 0
  /// When there is something by time alone for one that sleeps.
  var looksAt = Time.never
  /// When to look who was called and has not come, and until when a server sleeps that does that; by the boot clock.
  var reviewAt = Time.never
  var awaitedUntil = Time.never
  /// When members that end their parts of cycles have something done with their runs next.
  var endsAt = Time.never
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

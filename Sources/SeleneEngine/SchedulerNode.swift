// The node of a scheduler: which runs of a fleet are tasks here now, and what wakes who talks to the database for it.

import SeleneCore
import SeleneNode

/// What a node is told when it is opened, unchecked.
package struct NodeDraft {
  package var options = NodeOptions()
  package var schema = UnsafeRawBufferPointer(start: nil, count: 0)
  package var name = UnsafeRawBufferPointer(start: nil, count: 0)
  package var version = UnsafeRawBufferPointer(start: nil, count: 0)
  /// Whose tasks it takes; empty: of all.
  package var queues: [UnsafeRawBufferPointer] = []
  /// What this machine has that not all have (N4).
  package var labels: [UnsafeRawBufferPointer] = []

  package init() {}
}

/// A run that was claimed, as a task of this scheduler.
final class ClaimedTask {
  /// Its number in the fleet, and its task's (N9).
  let key: RunKey
  let kind: Kind
  /// The number of its class.
  let fleetClass: Int32
  /// Its record, and the number by which that is known again; −1 while it has none.
  let slot: Int
  let sequence: UInt64
  let since: Instant
  /// The number of its run here; 0 until it is dispatched.
  var run: UInt64 = 0
  /// How it ended, as the fleet is told.
  var end: NodeEnd?
  /// The host tells the fleet itself how it ends, in a transaction of its own (N16).
  var isDecidedByHost = false

  init(key: RunKey, _ fleetClass: FleetClass, slot: Int, sequence: UInt64, since: Instant) {
    (self.key, self.kind, self.fleetClass) = (key, fleetClass.kind, fleetClass.number)
    (self.slot, self.sequence, self.since) = (slot, sequence, since)
  }
}

/// What windows leave for runs of the fleet.
struct OfferedRoom: Equatable {
  var lanes = 0
  /// There is no window yet.
  var isAhead = false
  /// So many of its lanes are of windows that drivers are yet to open.
  var lanesAhead = 0
  /// Nothing of this process is at work that is over.
  var takesSuspects = true
  /// More is claimed of all that is served.
  var isWhole = true
  var until: Instant
  let satisfied: Constraints
  /// How often anything of the handlers had changed.
  let handlers: UInt64
  /// How often anything of the rooms of pools had changed.
  var rooms: UInt64 = 0
}

/// What the windows and drivers of one pool leave for runs of the fleet: only they run the tasks of its handlers (L5). Guarded by
/// the scheduler's lock.
final class PoolRoom {
  /// The kinds that its windows take, or that a driver of it may open one for.
  var kinds: KindSet = []
  /// Those that have a window, and those of them of which a lane is free.
  var open: KindSet = []
  var free: KindSet = []
  /// Those that a driver may open a window for, and those that were granted one.
  var ahead: KindSet = []
  var driven: KindSet = []
  /// The kinds of which a claimed task has waited in vain for a lane, none of which has come free since.
  var stuck: KindSet = []
  /// How many claimed tasks wait for a driver that does not come, so that other pools go on without it.
  var late = 0
  /// When a kind may be claimed for again that has no window, after one was waited for in vain.
  var aheadFrom = PerKind<Instant>(repeating: .min)
  /// What was offered of it last: the kinds, those that have a window, those of which more is claimed.
  private var told: (kinds: KindSet, open: KindSet, takes: KindSet) = ([], [], [])

  /// The kinds of which more is claimed now.
  var takes: KindSet { kinds.subtracting(late > 0 ? stuck.union(ahead) : stuck) }

  /// What is found anew each time.
  func clear() {
    (kinds, open, free, ahead, driven) = ([], [], [], [], [])
    late = 0
  }

  /// Whether something else is to be claimed for it than before.
  func isOther() -> Bool {
    let found = (kinds: kinds, open: open, takes: takes)
    defer { told = found }
    return found != told
  }
}

/// A node. Guarded by the scheduler's lock.
package final class SchedulerNode {
  let machine: FleetNode
  package let statements: NodeStatements
  let labels: [Bytes]
  /// What wakes who steps it.
  let watch: Watch
  var claimed: [ClaimedTask] = []
  var offered: OfferedRoom?
  /// What the windows and the driver of this process itself leave.
  let room = PoolRoom()
  /// How often anything of that changed, or of what pools leave.
  var roomChanges: UInt64 = 0
  /// When what it offers changes by time alone.
  var looksAt: Instant = Time.never
  /// Of these an earlier run is at work here; they are claimed tasks without a record.
  var awaiting: [NodeRun] = []
  /// Why the database refused, in its own words.
  var refusal: Bytes?
  /// What the border keeps for the host until the next request.
  package var lent: UnsafeMutableRawPointer?
  private var wakesAt: Instant = .min

  init(_ machine: FleetNode, _ statements: NodeStatements, labels: [Bytes], _ watch: Watch) {
    (self.machine, self.statements, self.labels, self.watch) = (machine, statements, labels, watch)
  }

  deinit { lent?.deallocate() }

  package var descriptor: Int32 { watch.descriptor }
  package var options: NodeOptions { machine.options }

  /// When it is to be stepped, if nothing else happens.
  var nextWake: Instant { min(machine.nextWake, looksAt) }

  /// Lets it be stepped when it has something to do.
  func follow(at now: Instant) {
    let wake = nextWake
    guard wake > now else { return watch.isAsleep ? watch.poke() : () }
    guard watch.isAsleep && wake != wakesAt else { return }
    sleep(at: now)
  }

  func sleep(at now: Instant) {
    wakesAt = nextWake
    watch.sleep(until: wakesAt, at: now)
  }

  /// The place of the claimed task of a run in the fleet, or nil.
  func place(ofFence fence: Int64) -> Int? { claimed.firstIndex { $0.key.run == fence } }

  /// The place of the claimed task that a run of this number is of, or nil.
  func place(ofRun number: UInt64) -> Int? { claimed.firstIndex { $0.run == number } }
}

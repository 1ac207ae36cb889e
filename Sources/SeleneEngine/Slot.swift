// The process-wide registry: where a handle finds its scheduler, and after a fork does not.

import CPlatform
import SeleneCore

/// A place for one scheduler at a time. Its lock is the scheduler's lock.
///
/// It is a plain address: its memory lives as long as the process, so it needs no reference count.
struct Slot: @unchecked Sendable {  // fields are guarded as each says
  private struct Place {
    let index: Int
    let monitor = Monitor()
    var number: UInt64 = 0
    var lastCycle: UInt64 = 0
    var lastLane: UInt64 = 0
    var scheduler: Scheduler?
    let orphans = Orphans()
    let insideSignalHandler = SeleneError(
      .reentrant, "called in a signal handler that interrupted another call; set a flag or write to a pipe there")
    var forkGeneration: UInt32 = 0
  }

  private let place: UnsafeMutablePointer<Place>

  /// A new one. Where only the parent process could use the old one its numbers go on: its handles name no other.
  fileprivate init(index: Int, after old: Slot?) {
    place = .allocate(capacity: 1)
    place.initialize(to: Place(index: index))
    if let old {
      (place.pointee.number, place.pointee.lastCycle) = (old.number, old.place.pointee.lastCycle)
      place.pointee.lastLane = old.place.pointee.lastLane
    }
  }

  /// A slot that was made before, by its address.
  fileprivate init?(address: UInt64) {
    guard let place = UnsafeMutablePointer<Place>(bitPattern: UInt(address)) else { return nil }
    self.place = place
  }

  fileprivate var address: UInt64 { UInt64(UInt(bitPattern: place)) }

  var index: Int { place.pointee.index }
  /// The scheduler's lock.
  var monitor: Monitor { place.pointee.monitor }
  /// Refuses a call of a signal handler. It is made with the slot: the handler may have interrupted the allocator.
  var insideSignalHandler: SeleneError { place.pointee.insideSignalHandler }
  /// Number of the scheduler that stands here. Guarded by the monitor.
  var number: UInt64 { place.pointee.number }
  /// The scheduler that stands here, or nil. Guarded by the monitor.
  var scheduler: Scheduler? { place.pointee.scheduler }
  /// The process that opened it. Written under the registry lock before the slot is used.
  fileprivate var forkGeneration: UInt32 { place.pointee.forkGeneration }
  /// Not in a child of the process that opened it.
  var isOfThisProcess: Bool { forkGeneration == platform_fork_generation() }

  /// A monitor that another process's threads may have left locked is of no use any more.
  fileprivate func enterProcess(_ generation: UInt32) {
    guard forkGeneration != generation else { return }
    if forkGeneration != 0 { monitor.renew() }
    place.pointee.forkGeneration = generation
  }

  /// Lets a scheduler stand here under a new number. The caller holds the lock.
  func open(_ scheduler: Scheduler) -> Handle {
    place.pointee.number = (number + 1) & Handle.numberMask
    place.pointee.scheduler = scheduler
    return Handle(.scheduler, slot: index, number: number)
  }

  /// A handle for a new cycle; no cycle of any scheduler here has had it. The caller holds the lock.
  func newCycle() -> UInt64 {
    place.pointee.lastCycle = (place.pointee.lastCycle + 1) & Handle.numberMask
    return Handle(.cycle, slot: index, number: place.pointee.lastCycle).rawValue
  }

  /// A handle for a new lane, likewise. The caller holds the lock.
  func newLane() -> Handle {
    place.pointee.lastLane = (place.pointee.lastLane + 1) & Handle.numberMask
    return Handle(.lane, slot: index, number: place.pointee.lastLane)
  }

  /// The scheduler closes while a lane has a run. The caller holds the lock.
  func adopt(_ run: Run, ofLane lane: UInt64) { place.pointee.orphans.runs.append((lane, run)) }

  /// The host has called for a lane whose scheduler is closed. The caller holds the lock.
  func release(lane: UInt64) { place.pointee.orphans.runs.removeAll { $0.lane == lane } }

  /// A node is closed, whose driver may be just reading the request that it was given: that is kept until another one is
  /// closed here. The caller holds the lock.
  func keep(_ request: UnsafeMutableRawPointer?) {
    place.pointee.orphans.request?.deallocate()
    place.pointee.orphans.request = request
  }

  fileprivate func clear() { place.pointee.scheduler = nil }
}

/// What the host may still read. Guarded by the monitor.
private final class Orphans {
  /// Runs of lanes that were not closed before their scheduler.
  var runs: [(lane: UInt64, run: Run)] = []
  /// The last one of the node that was closed last.
  var request: UnsafeMutableRawPointer?
}

/// All slots of the process.
enum Registry {
  static let capacity = Int(PLATFORM_REGISTRY_SIZE)

  /// Addresses of the slots that were ever used; read without the lock.
  private static var slots: UnsafeMutablePointer<UInt64> { platform_registry_slots() }
  /// The life that stands in each slot, 0 for none; read without the lock.
  private static var lives: UnsafeMutablePointer<UInt64> { platform_registry_lives() }
  /// How many slots were ever used; read without the lock.
  private static var used: UnsafeMutablePointer<UInt64> { platform_registry_used() }
  /// The number of the last life of schedulers in memory, or of those with a store; read without the lock.
  private static func lastLife(isStored: Bool) -> UnsafeMutablePointer<UInt64> {
    platform_registry_greatest_lives() + (isStored ? 1 : 0)
  }
  /// Slots without a scheduler. Guarded by the registry lock.
  nonisolated(unsafe) private static var free: [Int] = []

  private static func slot(_ index: Int) -> Slot? {
    index < capacity ? Slot(address: platform_load(slots + index)) : nil
  }

  /// Takes a free slot and a life for it, later than all before it in this process and in the store.
  ///
  /// Lives of schedulers in memory are counted apart: those that come and go with every request use up none of a store's.
  ///
  /// - Parameter storedLife: the number of the last life in the store; nil in memory.
  /// - Throws: `exhausted` when too many schedulers are open.
  static func claim(after storedLife: UInt64?) throws(SeleneError) -> (slot: Slot, life: UInt64, number: UInt64) {
    platform_registry_lock()
    defer { platform_registry_unlock() }
    let generation = platform_fork_generation()
    let claimed: Slot
    if let index = free.popLast(), let slot = slot(index) {
      claimed = slot
    } else {
      guard let index = newIndex(generation) else {
        throw SeleneError(.exhausted, "\(capacity) schedulers are open, which is the limit")
      }
      claimed = Slot(index: index, after: slot(index))
      platform_store(slots + index, claimed.address)
      platform_store(used, max(used.pointee, UInt64(index + 1)))
    }
    claimed.enterProcess(generation)
    let isStored = storedLife != nil
    let last = lastLife(isStored: isStored)
    var (number, life): (UInt64, UInt64) = (max(last.pointee, storedLife ?? 0), 0)
    repeat {
      number = max(1, number &+ 1)
      life = Token.life(number, isStored: isStored)
      // One that has been open ever since its number came round.
    } while (0..<Int(used.pointee)).contains { platform_load(lives + $0) == life }
    platform_store(last, number)
    platform_store(lives + claimed.index, life)
    return (claimed, life, number)
  }

  /// The place of a slot that is new, or, when all are taken, of one that only the parent process can use.
  private static func newIndex(_ generation: UInt32) -> Int? {
    if used.pointee < capacity { return Int(used.pointee) }
    return (0..<capacity).first { slot($0)?.forkGeneration != generation }
  }

  /// Gives a slot back; its life is over. The caller holds the slot's lock.
  static func retire(_ slot: Slot) {
    platform_store(lives + slot.index, 0)
    slot.clear()
  }

  /// Lets another scheduler take a retired slot.
  static func recycle(_ slot: Slot) {
    platform_registry_lock()
    free.append(slot.index)
    platform_registry_unlock()
  }

  /// The slot of a handle, not yet locked.
  ///
  /// - Throws: `invalidHandle`, `forked`.
  @_optimize(speed)
  static func find(_ handle: Handle) throws(SeleneError) -> Slot {
    guard let slot = slot(handle.slot) else { throw .closedHandle }
    guard slot.isOfThisProcess else { throw .forked }
    return slot
  }

  /// The slot of a run's token, not yet locked.
  ///
  /// - Throws: `invalidHandle` (never issued), `staleRun` (an earlier life), `forked`.
  @_optimize(speed)
  static func find(_ token: Token) throws(SeleneError) -> Slot {
    let last = platform_load(lastLife(isStored: token.isStored))
    guard !token.isHandle, token.isIssued(upTo: last) else {
      let found: Literal =
        token.rawValue == 0 ? "0" : token.isHandle ? "a handle" : "a number that was never issued"
      throw SeleneError(.invalidHandle, "run", "\(found) is not a run token")
    }
    for index in 0..<Int(platform_load(used)) where platform_load(lives + index) == token.life {
      guard let slot = slot(index) else { break }
      guard slot.isOfThisProcess else { throw .forked }
      return slot
    }
    throw .earlierLife
  }
}

extension SeleneError {
  static var closedHandle: SeleneError {
    SeleneError(.invalidHandle, "the handle is closed or was never issued")
  }
  static var forked: SeleneError {
    SeleneError(.forked, "the handle belongs to the parent process; a child opens schedulers of its own")
  }
  /// This process is a child, and what the call stood on is its parent's.
  var isOfChild: Bool { code == .forked && fault.told == nil }
  static var earlierLife: SeleneError {
    SeleneError(.staleRun, "run", "belongs to an earlier life of the scheduler")
  }
}

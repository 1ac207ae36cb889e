// The process-wide registry: where a handle finds its scheduler, and after a fork does not.

import CPlatform
import SeleneCore

/// A place for one scheduler at a time. Its lock is the scheduler's lock; it lives as long as the process.
final class Slot: @unchecked Sendable {  // fields are guarded as each says
  let index: Int
  /// The scheduler's lock.
  let monitor = Monitor()
  /// Number of the scheduler that stands here. Guarded by the monitor.
  private(set) var number: UInt64 = 0
  /// Number of the last cycle of any scheduler here. Guarded by the monitor.
  private var lastCycle: UInt64 = 0
  /// The scheduler that stands here, or nil. Guarded by the monitor.
  private(set) var scheduler: Scheduler?
  /// The process that opened it. Written under the registry lock before the slot is used.
  fileprivate(set) var forkGeneration: UInt32 = 0

  fileprivate init(index: Int) { self.index = index }

  /// A monitor that another process's threads may have left locked is of no use any more.
  fileprivate func enterProcess(_ generation: UInt32) {
    guard forkGeneration != generation else { return }
    if forkGeneration != 0 { monitor.renew() }
    forkGeneration = generation
  }

  /// Lets a scheduler stand here under a new number. The caller holds the lock.
  func open(_ scheduler: Scheduler) -> Handle {
    number = (number + 1) & Handle.numberMask
    self.scheduler = scheduler
    return Handle(.scheduler, slot: index, number: number)
  }

  /// A handle for a new cycle. The caller holds the lock.
  func newCycle() -> UInt64 {
    lastCycle = (lastCycle + 1) & Handle.numberMask
    return Handle(.cycle, slot: index, number: lastCycle).rawValue
  }

  fileprivate func clear() { scheduler = nil }
}

/// All slots of the process.
enum Registry {
  static let capacity = 4096

  /// Addresses of the slots that were ever used; read without the lock.
  nonisolated(unsafe) private static let slots: UnsafeMutablePointer<UInt64> = zeros()
  /// The life that stands in each slot, 0 for none; read without the lock.
  nonisolated(unsafe) private static let lives: UnsafeMutablePointer<UInt64> = zeros()
  /// How many slots were ever used, the greatest life, and the last cycle number; read without the lock.
  nonisolated(unsafe) private static let used: UnsafeMutablePointer<UInt64> = zeros()
  nonisolated(unsafe) private static let greatestLife: UnsafeMutablePointer<UInt64> = zeros()
  /// Slots without a scheduler. Guarded by the registry lock.
  nonisolated(unsafe) private static var free: [Int] = []

  private static func zeros() -> UnsafeMutablePointer<UInt64> {
    let words = UnsafeMutablePointer<UInt64>.allocate(capacity: capacity)
    words.initialize(repeating: 0, count: capacity)
    return words
  }

  private static func slot(_ index: Int) -> Slot? {
    guard index < capacity,
      let address = UnsafeRawPointer(bitPattern: UInt(platform_load(slots + index)))
    else { return nil }
    return Unmanaged<Slot>.fromOpaque(address).takeUnretainedValue()
  }

  /// Takes a free slot and a life for it, later than all before it in this process and in the store.
  ///
  /// - Throws: `exhausted` when too many schedulers are open.
  static func claim(after storedLife: UInt64) throws(SeleneError) -> (slot: Slot, life: UInt64) {
    platform_registry_lock()
    defer { platform_registry_unlock() }
    let generation = platform_fork_generation()
    let claimed: Slot
    if let index = free.popLast(), let slot = slot(index) {
      claimed = slot
    } else {
      guard let index = newIndex(generation) else {
        throw SeleneError(.exhausted, "\(capacity) schedulers are open, more are not possible")
      }
      claimed = Slot(index: index)
      platform_store(slots + index, UInt64(UInt(bitPattern: Unmanaged.passRetained(claimed).toOpaque())))
      platform_store(used, max(used.pointee, UInt64(index + 1)))
    }
    claimed.enterProcess(generation)
    let life = max(greatestLife.pointee, storedLife) + 1
    guard life <= Token.lifeMask else {
      free.append(claimed.index)
      throw SeleneError(.exhausted, "\(life) schedulers were opened, the numbers for more have run out")
    }
    platform_store(greatestLife, life)
    platform_store(lives + claimed.index, life)
    return (claimed, life)
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
  static func find(_ handle: Handle) throws(SeleneError) -> Slot {
    guard let slot = slot(handle.slot) else { throw .closedHandle }
    guard slot.forkGeneration == platform_fork_generation() else { throw .forked }
    return slot
  }

  /// The slot of a run's token, not yet locked.
  ///
  /// - Throws: `invalidHandle` (never issued), `staleRun` (an earlier life), `forked`.
  static func find(_ token: Token) throws(SeleneError) -> Slot {
    guard !token.isHandle, token.life != 0, token.number != 0, token.life <= platform_load(greatestLife) else {
      let found: StaticString =
        token.rawValue == 0 ? "0" : token.isHandle ? "a handle" : "a number that was never given out"
      throw SeleneError(.invalidHandle, "run: \(found) was given, the token of a run is allowed")
    }
    for index in 0..<Int(platform_load(used)) where platform_load(lives + index) == token.life {
      guard let slot = slot(index) else { break }
      guard slot.forkGeneration == platform_fork_generation() else { throw .forked }
      return slot
    }
    throw .earlierLife
  }
}

extension SeleneError {
  static var closedHandle: SeleneError {
    SeleneError(.invalidHandle, "the handle is closed or was never given out, a handle that is open is allowed")
  }
  static var forked: SeleneError {
    SeleneError(.forked, "the handle belongs to the parent process, the child may open its own")
  }
  static var earlierLife: SeleneError {
    SeleneError(.staleRun, "run: it belongs to an earlier life of the scheduler")
  }
}

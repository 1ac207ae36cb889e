// What happened to all tasks alike, so that each of them can say where its time went (W8).
//
// A change of a condition, a window or a refusal is an entry here and touches no task. A question brings the entries of the
// time in question together with the task's own steps (`WaitSweep`).

/// A value of something changed.
struct WaitCause: WaitEntry {
  let at: Instant
  let subject: UInt32
  let old: UInt16
  var new: UInt16
}

/// A window, as far as it says what it did to a task.
struct WaitWindow: WaitEntry {
  let at: Instant
  var end: Instant = Time.never
  /// When its picks end: the deadline without the reserve.
  var expiresAt: Instant
  /// When it first dispatched something.
  var firstAt: Instant = Time.never
  /// When a veto was raised, the factor, and above that the kinds.
  var vetoedAt: Instant = Time.never
  var veto: UInt16 = 0
  let kinds: UInt8
  let isStrict: Bool
  let isRolling: Bool
  let pushes: Bool
  /// When the kinds may begin again.
  let opensAt: (Instant, Instant)
  let stamp: UInt64
  let lastSequence: UInt64
  /// What was satisfied (`Needs`).
  let satisfied: UInt64
}

/// A dispatch of a window.
struct WaitDispatch: WaitEntry {
  let at: Instant
  let sequence: UInt64
  let slot: UInt32
  let window: UInt32
}

/// A time in which a process had the store open.
struct WaitLife: WaitEntry {
  let at: Instant
  var end: Instant = Time.never
  /// It was closed; else what it knew last was at its end.
  var wasClosed = false
}

/// The logs of a scheduler; guarded by its lock.
package final class WaitLog {
  /// Bits of `states`.
  package struct States: OptionSet, Sendable {
    package let rawValue: UInt16
    package init(rawValue: UInt16) { self.rawValue = rawValue }

    /// The kinds that are on stand in the first two bits, as in `KindSet`.
    package static let kinds = States(rawValue: 3)
    package static let drained = States(rawValue: 4)
    package static let storeRefuses = States(rawValue: 8)
    package static let noThread = States(rawValue: 16)
  }

  /// What a handler is.
  package struct Handling: OptionSet, Sendable {
    package let rawValue: UInt16
    package init(rawValue: UInt16) { self.rawValue = rawValue }

    package static let present = Handling(rawValue: 1)
    package static let pushes = Handling(rawValue: 2)
    package static let stuck = Handling(rawValue: 4)
  }

  /// Entries of each log.
  static let most = 4_096
  static let mostOfOne = 1_024

  /// By bit; a condition that flips often takes nothing from the others.
  var conditions: [WaitRing<WaitCause>?] = []
  private(set) var satisfied: UInt64 = 0
  let states = WaitRing<WaitCause>(most: mostOfOne)
  private(set) var state: States = .kinds
  let refusals = PerKind(
    refresh: WaitRing<WaitCause>(most: mostOfOne), processing: WaitRing<WaitCause>(most: mostOfOne))
  /// The factor of the refusal that stands and one; 0 for none.
  private(set) var refusal = PerKind<UInt16>(repeating: 0)
  let groups = WaitRing<WaitCause>(most: most)
  let handlers = WaitRing<WaitCause>(most: most)
  let windows = WaitRing<WaitWindow>(most: most)
  /// The number of the last window of each kind.
  private(set) var lastWindow = PerKind<UInt64>(repeating: .max)
  let dispatches = WaitRing<WaitDispatch>(most: most)
  let lives = WaitRing<WaitLife>(most: mostOfOne)

  /// A store keeps them: what it has was written then, as so many rows.
  var isKept = false
  var keptAt: Instant = .min
  var packedAt: Instant = .min
  var place: Int64 = 0

  package init() {}

  // MARK: What happens

  /// A process has the tasks from now on.
  ///
  /// - Parameter satisfied: the constraints that are at the begin of each process.
  /// - Parameter groups: those that are known, none of which has runs.
  package func begin(at now: Instant, satisfied: UInt64, groups known: [TaskGroup] = [], isKept: Bool) {
    self.isKept = isKept
    lives.append(WaitLife(at: now))
    let isFirst = conditions.isEmpty && states.count == 0 && handlers.count == 0 && groups.count == 0
    guard !isFirst else {
      self.satisfied = satisfied
      return
    }
    // What no entry tells never was otherwise.
    self.satisfied = satisfied
    for bit in conditions.indices {
      guard let last = conditions[bit]?.last, last.new != UInt16(truncatingIfNeeded: satisfied >> UInt64(bit) & 1)
      else {
        continue
      }
      self.satisfied ^= 1 << UInt64(bit)
    }
    set(satisfied: satisfied, at: now)
    state = states.last.map { States(rawValue: $0.new) } ?? .kinds
    set(.kinds, at: now)
    for kind in Kind.allCases {
      refusal[kind] = refusals[kind].last?.new ?? 0
      set(refusal: nil, of: kind, at: now)
    }
    for last in lastValues(handlers) where last.new != 0 { Self.note(handlers, last.subject, last.new, 0, at: now) }
    for last in lastValues(groups) {
      let new = known.first { $0.subject == last.subject }?.bars ?? 0
      if last.new != new { Self.note(groups, last.subject, last.new, new, at: now) }
    }
  }

  /// All instants are others now: what is known of before cannot be told.
  package func forget(before now: Instant) {
    for ring in conditions {
      ring?.removeAll()
      ring?.forget(before: now)
    }
    for ring in [states, refusals.refresh, refusals.processing, groups, handlers] {
      ring.removeAll()
      ring.forget(before: now)
    }
    windows.removeAll()
    windows.forget(before: now)
    dispatches.removeAll()
    lives.removeAll()
    place = Int64.max
  }

  /// Other needs are satisfied from now on.
  package func set(satisfied: UInt64, at now: Instant) {
    var changed = satisfied ^ self.satisfied
    guard changed != 0 else { return }
    while changed != 0 {
      let bit = changed.trailingZeroBitCount
      while conditions.count <= bit { conditions.append(nil) }
      let ring = conditions[bit] ?? WaitRing(most: Self.mostOfOne)
      conditions[bit] = ring
      let new = UInt16(truncatingIfNeeded: satisfied >> UInt64(bit) & 1)
      Self.note(ring, 0, 1 - new, new, at: now)
      changed &= changed - 1
    }
    self.satisfied = satisfied
  }

  package func set(_ state: States, at now: Instant) {
    guard state != self.state else { return }
    Self.note(states, 0, self.state.rawValue, state.rawValue, at: now)
    self.state = state
  }

  package func set(kinds: KindSet, at now: Instant) {
    set(state.subtracting(.kinds).union(States(rawValue: UInt16(truncatingIfNeeded: kinds.rawValue))), at: now)
  }

  package func set(_ bits: States, _ isOn: Bool, at now: Instant) {
    set(isOn ? state.union(bits) : state.subtracting(bits), at: now)
  }

  /// The governor has refused a kind, for a factor (0: its score is too low), or does not refuse it any more (nil).
  package func set(refusal factor: UInt8?, of kind: Kind, at now: Instant) {
    let new = factor.map { UInt16($0) + 1 } ?? 0
    guard new != refusal[kind] else { return }
    Self.note(refusals[kind], 0, refusal[kind], new, at: now)
    refusal[kind] = new
  }

  /// A group was open, paused or full, and is something else now.
  func set(_ group: TaskGroup, from old: UInt16, at now: Instant) {
    let new = group.bars
    if new != old { Self.note(groups, group.subject, old, new, at: now) }
  }

  func set(handler name: UnsafeRawBufferPointer, from old: Handling, to new: Handling, at now: Instant) {
    if new != old { Self.note(handlers, Self.subject(name), old.rawValue, new.rawValue, at: now) }
  }

  /// Several changes at one instant are one.
  private static func note(
    _ ring: WaitRing<WaitCause>, _ subject: UInt32, _ old: UInt16, _ new: UInt16, at now: Instant
  ) {
    guard let last = ring.last, last.at == now, last.subject == subject, ring.isLastOpen else {
      return ring.append(WaitCause(at: now, subject: subject, old: old, new: new))
    }
    ring.removeLast()
    if last.old != new { ring.append(WaitCause(at: now, subject: subject, old: last.old, new: new)) }
  }

  /// A number for a name, the same in each process.
  static func subject(_ name: UnsafeRawBufferPointer) -> UInt32 {
    var hash: UInt32 = 2_166_136_261
    for byte in name { hash = (hash ^ UInt32(byte)) &* 16_777_619 }
    return hash
  }

  // MARK: Windows

  /// A window of some kinds begins; its number.
  package func beginWindow(
    _ kinds: KindSet, expiresAt: Instant, isStrict: Bool, isRolling: Bool, pushes: Bool, opensAt: PerKind<Instant>,
    stamp: UInt64, lastSequence: UInt64, at now: Instant
  ) -> UInt64 {
    for kind in Kind.allCases where kinds.contains(kind) { set(refusal: nil, of: kind, at: now) }
    windows.append(
      WaitWindow(
        at: now, expiresAt: expiresAt, kinds: UInt8(truncatingIfNeeded: kinds.rawValue), isStrict: isStrict,
        isRolling: isRolling, pushes: pushes, opensAt: (opensAt.refresh, opensAt.processing), stamp: stamp,
        lastSequence: lastSequence, satisfied: satisfied))
    let number = windows.total - 1
    for kind in Kind.allCases where kinds.contains(kind) { lastWindow[kind] = number }
    return number
  }

  @inline(__always)
  private func change(_ window: UInt64, _ body: (inout WaitWindow) -> Void) {
    let place = window &- windows.dropped
    if place < UInt64(windows.count) { body(&windows[Int(place)]) }
  }

  package func endWindow(_ window: UInt64, at now: Instant) { change(window) { $0.end = min($0.end, now) } }

  /// A window picks until then at most.
  package func limit(_ window: UInt64, to expiresAt: Instant) {
    change(window) { $0.expiresAt = min($0.expiresAt, expiresAt) }
  }

  /// Nothing more of one of its kinds is dispatched.
  package func veto(_ window: UInt64, _ kind: Kind, factor: UInt8, at now: Instant) {
    change(window) { window in
      guard window.vetoedAt == Time.never || window.vetoedAt == now else { return }
      window.vetoedAt = now
      window.veto = UInt16(factor) | window.veto & 0xFF00 | UInt16(kind.rawValue) << 8
    }
  }

  /// A window dispatches.
  @inline(__always)
  package func dispatch(_ sequence: UInt64, _ slot: Int, of window: UInt64, isFirst: Bool, at now: Instant) {
    if isFirst { change(window) { $0.firstAt = now } }
    dispatches.append(
      WaitDispatch(
        at: now, sequence: sequence, slot: UInt32(truncatingIfNeeded: slot),
        window: UInt32(truncatingIfNeeded: window)))
  }
}

extension TaskTable {
  /// A task is dispatched in a window.
  @_optimize(speed)
  package func noteDispatch(_ slot: Int, of window: UInt64, isFirst: Bool, at now: Instant) {
    waits.dispatch(records.at(slot).pointee.sequence, slot, of: window, isFirst: isFirst, at: now)
  }
}

extension TaskGroup {
  /// What keeps its tasks from running: 1 it is paused, 2 it is full.
  var bars: UInt16 { (isPaused ? 1 : 0) | (isFull ? 2 : 0) }
}

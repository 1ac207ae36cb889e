// What happened to all tasks alike, so that each of them can say where its time went (W8).
//
// A change of a condition, a window or a refusal is an entry here and touches no task. A question brings the entries of the
// time in question together with the task's own steps (`WaitSweep`).

/// A value of something changed.
struct WaitCause: WaitEntry {
  let at: Instant
  let subject: UInt64
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
  /// Those of them for which it begins too early: it is for expedited tasks alone.
  let early: UInt8
  /// Those of them that were paused as it began: unless it rolls it has nothing of them.
  let paused: UInt8
  let isStrict: Bool
  let isRolling: Bool
  let pushes: Bool
  /// When the kinds may begin again.
  let opensAt: (Instant, Instant)
  let stamp: UInt64
  let lastSequence: UInt64
  /// What was satisfied (`Needs`).
  let satisfied: UInt64
  /// Whose it was: 0 for the process that has the store, else the number of a pool's name.
  let pool: UInt64
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

  /// What waits for a task that may have ended its process (V7).
  package struct Suspects: OptionSet, Sendable {
    package let rawValue: UInt16
    package init(rawValue: UInt16) { self.rawValue = rawValue }

    /// Others that may have, since one runs.
    package static let others = Suspects(rawValue: 1)
    /// Everything, since one that is to blame runs, or is next.
    package static let all = Suspects(rawValue: 2)
  }

  /// Entries of each log, and of those of one thing.
  let most: Int
  private var mostOfOne: Int { Self.ofOne(most) }
  private static func ofOne(_ most: Int) -> Int { max(16, most / 4) }

  /// By bit; a condition that flips often takes nothing from the others.
  var conditions: [WaitRing<WaitCause>?] = []
  private(set) var satisfied: UInt64 = 0
  let states: WaitRing<WaitCause>
  private(set) var state: States = .kinds
  let refusals: PerKind<WaitRing<WaitCause>>
  /// The factor of the refusal that stands and one; 0 for none.
  private(set) var refusal = PerKind<UInt16>(repeating: 0)
  /// 1 while the quota of expedited tasks is used up.
  let quota: WaitRing<WaitCause>
  private(set) var isOutOfQuota = false
  /// The kinds that are paused, by the pool; of subject 0 for all tasks.
  let pauses: WaitRing<WaitCause>
  /// What waits for a task that may have ended its process, by the pool (`Suspects`).
  let suspects: WaitRing<WaitCause>
  let groups: WaitRing<WaitCause>
  let handlers: WaitRing<WaitCause>
  let windows: WaitRing<WaitWindow>
  let dispatches: WaitRing<WaitDispatch>
  let lives: WaitRing<WaitLife>
  /// The pools that offered handlers, and how many of them a store has, and was given.
  var pools: [UInt64] = []
  var storedPools = 0
  var givenPools = 0
  /// The oldest are forgotten.
  static let mostPools = 256

  /// A store keeps them: what it has was written then, as so many rows.
  var isKept = false
  var keptAt: Instant = .min
  var packedAt: Instant = .min
  var place: Int64 = 0

  /// - Parameter most: entries of each log, rounded up to a power of two.
  package init(most: UInt64) {
    self.most = max(16, 1 << (UInt64.bitWidth - (most - 1).leadingZeroBitCount))
    let ofOne = Self.ofOne(self.most)
    (states, quota, pauses) = (WaitRing(most: ofOne), WaitRing(most: ofOne), WaitRing(most: ofOne))
    refusals = PerKind(refresh: WaitRing(most: ofOne), processing: WaitRing(most: ofOne))
    (groups, handlers) = (WaitRing(most: self.most), WaitRing(most: self.most))
    suspects = WaitRing(most: ofOne)
    (windows, dispatches, lives) = (WaitRing(most: self.most), WaitRing(most: self.most), WaitRing(most: ofOne))
  }

  /// The log of a condition or a constraint, by its bit.
  func ring(ofCondition bit: Int) -> WaitRing<WaitCause> {
    while conditions.count <= bit { conditions.append(nil) }
    let ring = conditions[bit] ?? WaitRing(most: mostOfOne)
    conditions[bit] = ring
    return ring
  }

  // MARK: What happens

  /// A process has the tasks from now on.
  ///
  /// - Parameter satisfied: the constraints that are at the begin of each process.
  /// - Parameter groups: those that are known, none of which has runs.
  package func begin(
    at now: Instant, satisfied: UInt64, groups known: [TaskGroup] = [], pauses held: Pauses = Pauses(),
    isOutOfQuota: Bool, isKept: Bool
  ) {
    self.isKept = isKept
    lives.append(WaitLife(at: now))
    self.isOutOfQuota = quota.last.map { $0.new != 0 } ?? isOutOfQuota
    set(isOutOfQuota: isOutOfQuota, at: now)
    for subject in lastValues(pauses).map({ $0.subject }) + held.entries.map({ $0.subject }) {
      let old = KindSet(rawValue: UInt32(lastValue(ofPauses: subject)))
      set(pauses: held.kinds(ofSubject: subject), of: subject, from: old, at: now)
    }
    for last in lastValues(suspects) { set([], of: last.subject, at: now) }
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
    for ring in [states, refusals.refresh, refusals.processing, groups, handlers, quota, pauses, suspects] {
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
  ///
  /// - Parameter host: the conditions that have the upper numbers; nil where those are lost that a process had.
  package func set(satisfied: UInt64, of host: HostConditions? = nil, at now: Instant) {
    var changed = satisfied ^ self.satisfied
    guard changed != 0 else { return }
    while changed != 0 {
      let bit = changed.trailingZeroBitCount
      let ring = ring(ofCondition: bit)
      let new = UInt16(truncatingIfNeeded: satisfied >> UInt64(bit) & 1)
      Self.note(ring, host.map { $0.subject(UInt64(bit)) } ?? ring.last?.subject ?? 0, 1 - new, new, at: now)
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

  /// The quota of expedited tasks is used up, or is not any more.
  package func set(isOutOfQuota: Bool, at now: Instant) {
    guard isOutOfQuota != self.isOutOfQuota else { return }
    Self.note(quota, 0, isOutOfQuota ? 0 : 1, isOutOfQuota ? 1 : 0, at: now)
    self.isOutOfQuota = isOutOfQuota
  }

  /// Other kinds of a pool, or of all tasks, are paused from now on.
  func set(pauses new: KindSet, of subject: UInt64, from old: KindSet, at now: Instant) {
    guard new != old else { return }
    // What time has ended is found out by a call, maybe after one that came later.
    let at = max(now, pauses.last?.at ?? now)
    Self.note(
      pauses, subject, UInt16(truncatingIfNeeded: old.rawValue), UInt16(truncatingIfNeeded: new.rawValue), at: at)
  }

  /// Other tasks of a pool, or of the process that has the store (0), wait for one that may have ended its process.
  package func set(_ new: Suspects, of pool: UInt64, at now: Instant) {
    let old = lastValue(ofSuspects: pool)
    if new.rawValue != old { Self.note(suspects, pool, old, new.rawValue, at: max(now, suspects.last?.at ?? now)) }
  }

  func lastValue(ofSuspects pool: UInt64) -> UInt16 {
    for place in (0..<suspects.count).reversed() where suspects[place].subject == pool { return suspects[place].new }
    return 0
  }

  private func lastValue(ofPauses subject: UInt64) -> UInt16 {
    for place in (0..<pauses.count).reversed() where pauses[place].subject == subject { return pauses[place].new }
    return 0
  }

  /// A group was open, paused or full, and is something else now.
  func set(_ group: TaskGroup, from old: UInt16, at now: Instant) {
    let new = group.bars
    if new != old { Self.note(groups, group.subject, old, new, at: now) }
  }

  func set(handler name: UnsafeRawBufferPointer, from old: Handling, to new: Handling, at now: Instant) {
    if new != old { Self.note(handlers, Self.subject(name), old.rawValue, new.rawValue, at: now) }
  }

  /// The processes of a pool offer a handler, or do not any more.
  package func set(
    handler name: UnsafeRawBufferPointer, of pool: UnsafeRawBufferPointer, from old: HandlerRoster.Way?,
    to new: HandlerRoster.Way?, at now: Instant
  ) {
    guard new != old else { return }
    let number = Self.subject(pool)
    note(pool: number)
    Self.note(
      handlers, Self.subject(Self.subject(name), of: number), Handling(old).rawValue, Handling(new).rawValue, at: now)
  }

  /// A pool that is known.
  func note(pool: UInt64) {
    guard pool != 0, !pools.contains(pool) else { return }
    pools.append(pool)
    guard pools.count > Self.mostPools else { return }
    pools.removeFirst()
    (storedPools, givenPools) = (max(0, storedPools - 1), max(0, givenPools - 1))
  }

  /// What a handler's subject is now; nil if nothing is known of it.
  func lastValue(of subject: UInt64) -> UInt16? {
    for place in (0..<handlers.count).reversed() where handlers[place].subject == subject { return handlers[place].new }
    return nil
  }

  /// The number of the pool whose windows a cycle's are; 0 for none.
  package static func pool(_ name: Bytes?) -> UInt64 { name.map { subject($0.buffer) } ?? 0 }

  /// Several changes at one instant are one.
  private static func note(
    _ ring: WaitRing<WaitCause>, _ subject: UInt64, _ old: UInt16, _ new: UInt16, at now: Instant
  ) {
    guard let last = ring.last, last.at == now, last.subject == subject, ring.isLastOpen else {
      return ring.append(WaitCause(at: now, subject: subject, old: old, new: new))
    }
    ring.removeLast()
    if last.old != new { ring.append(WaitCause(at: now, subject: subject, old: last.old, new: new)) }
  }

  /// A number for a name, the same in each process and never 0.
  ///
  /// Of 4 096 names in a log two have the same number with a probability below 2^−40, as long as
  /// nobody looks for such names; then the two tell each other's waits, and nothing else goes wrong.
  static func subject(_ name: UnsafeRawBufferPointer) -> UInt64 {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in name { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
    return mixed(hash)
  }

  /// The number of a handler as a pool offers it.
  static func subject(_ handler: UInt64, of pool: UInt64) -> UInt64 {
    pool == 0 ? handler : mixed(handler ^ (pool &* 0x9E37_79B9_7F4A_7C15))
  }

  private static func mixed(_ number: UInt64) -> UInt64 {
    var number = (number ^ number >> 30) &* 0xBF58_476D_1CE4_E5B9
    number = (number ^ number >> 27) &* 0x94D0_49BB_1331_11EB
    number ^= number >> 31
    return number == 0 ? 1 : number
  }

  // MARK: Windows

  /// A window of some kinds begins; its number.
  package func beginWindow(
    _ kinds: KindSet, early: KindSet, paused: KindSet, expiresAt: Instant, isStrict: Bool, isRolling: Bool,
    pushes: Bool,
    opensAt: PerKind<Instant>,
    stamp: UInt64, lastSequence: UInt64, pool: UInt64, at now: Instant
  ) -> UInt64 {
    // The governor is not asked for the windows of others, and one before its time says nothing of the kind's next (W10).
    if pool == 0 {
      for kind in Kind.allCases where kinds.contains(kind) && !early.contains(kind) {
        set(refusal: nil, of: kind, at: now)
      }
    }
    windows.append(
      WaitWindow(
        at: now, expiresAt: expiresAt, kinds: UInt8(truncatingIfNeeded: kinds.rawValue),
        early: UInt8(truncatingIfNeeded: early.rawValue), paused: UInt8(truncatingIfNeeded: paused.rawValue),
        isStrict: isStrict, isRolling: isRolling, pushes: pushes,
        opensAt: (opensAt.refresh, opensAt.processing), stamp: stamp, lastSequence: lastSequence, satisfied: satisfied,
        pool: pool))
    return windows.total - 1
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

extension WaitLog.Handling {
  fileprivate init(_ way: HandlerRoster.Way?) {
    self = way == nil ? [] : way == .pushed ? [.present, .pushes] : .present
  }
}

extension TaskGroup {
  /// What keeps its tasks from running: 1 it is paused, 2 it is full.
  var bars: UInt16 { (isPaused ? 1 : 0) | (isFull ? 2 : 0) }
}

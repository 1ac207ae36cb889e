// The driver: opens windows for a host whose system does not (G7).

import CPlatform
import SeleneCore
import SeleneGovernor

/// What a driver was asked for, unchecked.
package struct DriverDraft {
  /// 0: nobody has decided a deadline (V1).
  package var budgets = PerKind<Span>(repeating: 0)
  package var lanes = PerKind<UInt32>(repeating: 1)
  package var hasLanes = false
  /// 0: all.
  package var kinds: UInt32 = 0
  /// −1: a twentieth of the budget.
  package var reserve: Span = -1
  package var every: Span = 0
  package var strictFit = false
  package var isRolling = true
  package var together = false
  package var isGoverned = true

  package init() {}
}

/// How a driver opens windows, checked.
struct DriverTerms: Sendable, Equatable {
  static let usualBudgets = PerKind<Span>(refresh: 30 * Time.second, processing: 10 * Time.minute)
  let budgets: PerKind<Span>
  /// The kinds whose budget the host has said: a deadline is somebody's decision (V1).
  let limited: KindSet
  let lanes: PerKind<UInt32>
  /// The kinds that it opens windows for.
  let kinds: KindSet
  /// Kept free at the end of each, or nil for the default.
  let reserve: Span?
  /// Least time from begin to begin of a kind's windows; standing tasks ask for one that often.
  let every: Span
  let strictFit: Bool
  /// Its windows are rolling (R2).
  let isRolling: Bool
  /// One window at a time, for all kinds that are due.
  let together: Bool
  /// The governor is asked before a window, and each is booked.
  let isGoverned: Bool

  /// Checks every field.
  ///
  /// - Throws: `invalidArgument`, naming the first field that is out of range.
  init(_ draft: DriverDraft, _ units: Units) throws(SeleneError) {
    for kind in Kind.allCases {
      let field: (budget: Literal, lanes: Literal) =
        kind == .refresh ? ("refresh_budget", "refresh_lanes") : ("processing_budget", "processing_lanes")
      try units.check(field.budget, draft.budgets[kind], 0, Time.longestRun)
      guard (1...Window.mostLanes).contains(draft.lanes[kind]) else {
        throw .range(field.lanes, draft.lanes[kind], 1, Int64(Window.mostLanes))
      }
    }
    guard draft.kinds & ~KindSet.all.rawValue == 0 else {
      throw .kinds("kinds", draft.kinds, atLeastOne: false)
    }
    try units.check("reserve", draft.reserve, 0, Time.longestRun, or: -1)
    try units.check("every", draft.every, 0, Time.tenYears)
    var (budgets, limited) = (Self.usualBudgets, KindSet([]))
    for kind in Kind.allCases where draft.budgets[kind] > 0 {
      budgets[kind] = draft.budgets[kind]
      limited.formUnion(KindSet(kind))
    }
    (self.budgets, self.limited) = (budgets, limited)
    (lanes, kinds) = (draft.lanes, draft.kinds == 0 ? .all : KindSet(rawValue: draft.kinds))
    (reserve, every) = (draft.reserve == -1 ? nil : draft.reserve, draft.every)
    (strictFit, isRolling, together) = (draft.strictFit, draft.isRolling, draft.together)
    isGoverned = draft.isGoverned
  }

  /// Whether the runs of a window for some kinds have no deadline.
  func isOpenEnded(_ kinds: KindSet, rations: Bool) -> Bool {
    limited.isDisjoint(with: kinds) && !(isGoverned && rations)
  }

  /// A window for some kinds.
  ///
  /// - Parameters:
  ///   - longest: what the ledger leaves.
  ///   - rations: the profile rations time, so that the window has a deadline.
  ///   - only: the one task that it is for, or nil.
  func window(_ kinds: KindSet, longest: Span, rations: Bool, only task: TaskDefinition? = nil) -> Window {
    let all = Kind.allCases.filter { kinds.contains($0) }
    let budget = max(1, min(all.map { budgets[$0] }.max() ?? 1, longest))
    return Window(
      kinds: kinds, lanes: task == nil ? Int(all.map { lanes[$0] }.max() ?? 1) : 1, budget: budget,
      reserve: min(reserve ?? Budget.reserve(of: budget), budget), strictFit: strictFit, isRolling: isRolling,
      isOpenEnded: isOpenEnded(kinds, rations: rations), task: task?.id)
  }
}

extension DriverTerms {
  /// A part of a window that another pool was granted.
  func window(_ kinds: KindSet, in granted: GrantedWindow, at now: Instant) -> Window {
    let end = granted.deadline == Time.never ? granted.until : granted.deadline
    let left = max(1, end.subtracting(now))
    let most = Kind.allCases.filter { kinds.contains($0) }.map { lanes[$0] }.max() ?? 1
    let longest = Kind.allCases.filter { kinds.contains($0) && limited.contains($0) }.map { budgets[$0] }.min() ?? left
    let budget = min(left, longest)
    return Window(
      kinds: kinds, lanes: Int(most), budget: budget,
      reserve: min(budget, granted.deadline == Time.never ? 0 : granted.deadline.subtracting(granted.until)),
      strictFit: strictFit, isRolling: isRolling,
      isOpenEnded: granted.deadline == Time.never && limited.isDisjoint(with: kinds), joins: true, task: nil)
  }
}

/// A driver, of this process or of a member (L7). Its constants may be read anywhere; the rest is guarded by the scheduler's lock.
package final class Driver {
  let terms: DriverTerms
  /// Whether a library thread follows it and calls the handlers; else a host's event loop steps.
  let hasThread: Bool
  /// Whether threads of the host work its windows off, through lanes.
  let hasLanes: Bool
  /// Its windows need threads, of which too many may be left behind.
  var needsThreads: Bool { hasThread || hasLanes }
  /// What wakes it; nil for one of a member, which is called.
  private let watch: Watch?
  /// Whose it is, while it is open; nil is this process.
  var member: Member?
  /// When that was called last, or asked, by the boot clock.
  private(set) var calledAt: Instant?
  /// One of a member sleeps, until when.
  private var isAway = false
  private var wakesAt: Instant = Time.never

  /// When it has to read something of the system, as far as it knew when it looked last.
  private(set) var readsAt: Instant = Time.never
  /// When what constraints look at was last read from the system.
  private(set) var heardAt: Instant = .min
  /// How long to wait after a window of a kind that could not be opened, or in which nothing ran; the longer the more often.
  private var delay = PerKind<Span>(repeating: shortestDelay)
  /// When such a delay ends; no news ends it.
  private(set) var delayedUntil = PerKind<Instant>(repeating: .min)
  /// The kinds that wait because nothing ran in their last window; what is registered ends that.
  private var idle: KindSet = []
  private static let shortestDelay = Time.second
  private static let longestDelay = Time.minute

  /// When asking about a kind is worth it again, if nothing changes before.
  var askAgainAt = PerKind<Instant>(repeating: .min)
  /// The table's stamp at the last look.
  private var seen: UInt64 = 0
  /// Something that the stamp does not show has changed.
  private var mustLook = false
  /// When the scheduler is to look around, though nothing is due.
  var looksAroundAt: Instant = Time.never
  /// What it hears of the store comes by itself, not by looking.
  private(set) var hearsOfStore = false
  /// Its thread has left, or it never had one.
  var hasLeft: Bool

  private init(_ terms: DriverTerms, hasThread: Bool, hasLanes: Bool, _ watch: Watch?, of member: Member? = nil) {
    (self.terms, self.hasThread, self.hasLanes, self.watch) = (terms, hasThread, hasLanes, watch)
    self.member = member
    if member != nil { calledAt = platform_boot_clock() }
    hasLeft = !hasThread
  }

  /// Makes one.
  ///
  /// - Throws: `invalidArgument`, `exhausted`.
  static func make(
    _ draft: DriverDraft, _ units: Units, hasThread: Bool, hears hearing: Watch.Hearing
  ) throws(SeleneError) -> Driver {
    let terms = try check(draft, units, hasThread: hasThread)
    return Driver(
      terms, hasThread: hasThread, hasLanes: draft.hasLanes, try Watch.open(hearing))
  }

  /// Makes one of a member.
  ///
  /// - Parameter hasThread: whether its process calls the handlers.
  /// - Throws: `invalidArgument`.
  static func make(
    _ draft: DriverDraft, _ units: Units, hasThread: Bool, of member: Member
  ) throws(SeleneError) -> Driver {
    let terms = try check(draft, units, hasThread: hasThread)
    return Driver(terms, hasThread: hasThread, hasLanes: draft.hasLanes, nil, of: member)
  }

  private static func check(_ draft: DriverDraft, _ units: Units, hasThread: Bool) throws(SeleneError) -> DriverTerms {
    guard !hasThread || !draft.hasLanes else {
      throw SeleneError(
        .unsupported, "flags",
        "SELENE_DRIVER_LANES is for selene_driver_open, library threads work on the windows of this driver")
    }
    return try DriverTerms(draft, units)
  }

  package var descriptor: Int32 { watch?.descriptor ?? -1 }

  /// Blocks until there may be something to do, up to a time; whether there is. The caller holds no lock.
  @discardableResult
  func wait(_ time: Span = Time.never) -> Bool { watch?.wait(time) ?? false }

  /// The host has said what time it is: its timer is that.
  func follow(toldTime now: Instant) {
    watch?.follow(toldTime: now)
  }

  /// Wakes it, if it sleeps.
  func poke() {
    isAway = false
    guard watch == nil else { watch?.poke(); return }
    calledAt = platform_boot_clock()
    member?.call(to: .driver)
  }

  var isAsleep: Bool { watch?.isAsleep ?? isAway }
  /// When it wakes by itself, if it sleeps.
  var sleepsUntil: Instant { isAsleep ? wakesAt : Time.never }

  /// Something has changed that may let a refused kind have its window, or a task its run.
  func lookAgain() {
    mustLook = true
    askAgainAt = PerKind(repeating: .min)
  }

  /// Wakes it if the table is not what it saw.
  func follow(_ stamp: UInt64) {
    if isAsleep && (mustLook || stamp != seen) { poke() }
  }

  /// It is awake; what the system announced meanwhile, and whether something has happened to the files of the store.
  func awake() -> (groups: SignalGroups, storeTouched: Bool) {
    (mustLook, isAway) = (false, false)
    if member != nil { calledAt = platform_boot_clock() }
    let found = watch?.drain() ?? 0
    return (SignalGroups(rawValue: found & ~PLATFORM_WATCH_FILES), found & PLATFORM_WATCH_FILES != 0)
  }

  /// Wakes when the files of a store lose their names.
  func hear(ofStore path: Bytes) {
    hearsOfStore = path.withCString { file in
      path.appending("-wal").withCString { watch?.hearFiles(file, $0) ?? false }
    }
  }

  /// It sleeps until an instant, at the latest; what it looked at just now is not news.
  func sleep(until wakeAt: Instant, at now: Instant, seen stamp: UInt64, readsAt: Instant = Time.never) {
    self.readsAt = readsAt
    (mustLook, seen) = (false, stamp)
    (isAway, wakesAt) = (true, wakeAt)
    watch?.sleep(until: wakeAt, at: now)
  }

  /// Whether it would do the same as another one that has the same handlers.
  func isLike(_ other: Driver, at now: Instant) -> Bool {
    terms == other.terms && hasThread == other.hasThread && hasLanes == other.hasLanes
      && Kind.allCases.allSatisfy { max(now, delayedUntil[$0]) == max(now, other.delayedUntil[$0]) }
  }

  /// What constraints look at is as of now.
  func hear(at now: Instant) { heardAt = now }

  /// A window of a kind came to nothing: the next is asked for later.
  ///
  /// - Parameter isIdle: it was open, but nothing ran in it.
  func giveWay(_ kind: Kind, isIdle: Bool = false, at now: Instant) {
    if isIdle { idle.formUnion(KindSet(kind)) } else { idle.subtract(KindSet(kind)) }
    delayedUntil[kind] = now.adding(delay[kind])
    delay[kind] = min(delay[kind] * 2, Self.longestDelay)
  }

  /// A task was registered, which need not wait as those do of which none ran.
  func welcome() {
    for kind in Kind.allCases where idle.contains(kind) { delayedUntil[kind] = .min }
    idle = []
  }

  /// In a window of a kind something ran.
  func goOn(_ kind: Kind) { delay[kind] = Self.shortestDelay }

  func watchMemory(_ wanted: Bool) { watch?.hearMemory(wanted) }
}

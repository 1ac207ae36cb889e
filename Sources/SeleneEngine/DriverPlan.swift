// What a driver does next (G7): a pure function of what is known at an instant. It does none of it:
// opening, waiting and telling are the driver's.

import SeleneCore
import SeleneGovernor

/// What to do next, and what was decided on the way there.
package struct DriverPlan {
  package enum Step {
    /// Read these from the system, and conditions, on behalf of some kinds; then plan again.
    case read(SignalGroups, conditions: Bool, kinds: KindSet)
    /// Open this window for some kinds; then plan again.
    case open(Window, kinds: KindSet)
    /// Nothing, unless something changes.
    case sleep(until: Instant)
  }

  package var step = Step.sleep(until: Time.never)
  /// The decisions in their order, to be made known.
  package var decisions: [(decision: Decision, neverRan: Bool)] = []
  /// When asking about a kind is worth it again.
  package var askAgainAt: PerKind<Instant>
  /// Whether memory that runs short is to be announced.
  package var watchesMemory = false
}

/// Which groups of signals the system can be asked for at all.
struct SignalReach {
  /// The clock is the system's, so that signals are, too.
  var followsSystem: Bool
  /// There is a file system to look at.
  var hasStore: Bool

  /// The group of a signal, unless the host sets it.
  func groups(_ signal: Signal, _ governor: Governor, at now: Instant) -> SignalGroups {
    let source = governor.signals.reading(signal, at: now).source
    let group = SignalGroups(of: signal)
    guard followsSystem, source.rawValue <= SignalSource.probe.rawValue else { return [] }
    return group == .storage && !hasStore ? [] : group
  }

  /// The groups worth reading before a decision about some kinds; with a host clock none, so that all is as the host says.
  func groups(
    _ kinds: KindSet, onlyStopping: Bool = false, _ governor: Governor, at now: Instant
  ) -> SignalGroups {
    guard followsSystem else { return [] }
    var groups: SignalGroups = []
    governor.forEachSignal(kinds, onlyStopping: onlyStopping) { groups.formUnion(self.groups($0, governor, at: now)) }
    return groups
  }
}

/// What a driver has heard from the system since it woke.
struct Hearing {
  /// What the system announced.
  var announced: SignalGroups = []
  /// What was read.
  var read: SignalGroups = []
  /// The kinds for which conditions were read; nil: they were not.
  var asked: KindSet?
}

/// All that a driver goes by at an instant.
struct DriverView {
  let terms: DriverTerms
  let table: TaskTable
  var governor: Governor
  let now: Instant
  var enabled = KindSet.all
  /// The kinds that have a window, whoever opened it.
  var open: KindSet = []
  /// Whether any cycle is open, and whether one is the driver's.
  var hasCycles = false
  var hasDriven = false
  /// Windows need library threads, and none may be used.
  var lacksThreads = false
  /// Library threads call the handlers, so that they must have a function.
  var pushes = true
  var observedRange = false
  var pace = PerKind<Pace>(repeating: Pace(interval: 0))
  var satisfied = Needs(.all)
  var hostOwned: Constraints = []
  var reach = SignalReach(followsSystem: false, hasStore: false)
  var hearing = Hearing()
  /// When asking about a kind is worth it, if nothing changes before; and when a wait ends that no news ends.
  var askAgainAt = PerKind<Instant>(repeating: .min)
  var delayedUntil = PerKind<Instant>(repeating: .min)
  /// When it is worth reading conditions again though nothing was announced.
  var mayListenAt: Instant = .min
  /// When time by itself ends what keeps a kind or an id.
  var nextEffect: Instant = Time.never
  /// When a signal expires that may raise a veto against what is open.
  var nextLook: Instant = Time.never

  // MARK: The plan

  func plan() -> DriverPlan {
    var plan = DriverPlan(askAgainAt: askAgainAt)
    let dueAt = self.dueAt(satisfied)
    let listensAt = self.listensAt(dueAt)
    var due: KindSet = []
    for kind in Kind.allCases {
      guard let at = dueAt[kind], max(at, asksAt(kind, plan)) <= now else { continue }
      due.formUnion(KindSet(kind))
    }
    if let step = reading(due, listens: listensAt <= now) {
      plan.step = step
      return plan
    }
    if let step = opening(due, &plan) {
      plan.step = step
      return plan
    }
    var wakeAt = min(nextEffect, listensAt)
    for kind in Kind.allCases {
      if let at = dueAt[kind] { wakeAt = min(wakeAt, max(at, asksAt(kind, plan))) }
    }
    plan.step = .sleep(until: min(wakeAt, nextLookAtVetoes))
    plan.watchesMemory = asked.groups(open, onlyStopping: true, governor, at: now).contains(.load)
    return plan
  }

  private func asksAt(_ kind: Kind, _ plan: DriverPlan) -> Instant { max(plan.askAgainAt[kind], delayedUntil[kind]) }

  /// The signals that can be read for a decision; without a governor there is none.
  private var asked: SignalReach {
    terms.isGoverned ? reach : SignalReach(followsSystem: false, hasStore: reach.hasStore)
  }

  // MARK: When

  /// When each kind that may have a window has something to do, or nil.
  private func dueAt(_ satisfied: Needs) -> PerKind<Instant?> {
    var dueAt = PerKind<Instant?>(repeating: nil)
    guard !lacksThreads, !(terms.together && hasDriven) else { return dueAt }
    var pace = pace
    for kind in Kind.allCases { pace[kind] = self.pace(of: kind) }
    for kind in Kind.allCases where mayOpen.contains(kind) {
      dueAt[kind] = table.nextWakeup(offer(kind, satisfied), pace, at: now)
    }
    return dueAt
  }

  /// The kinds that the driver could open a window for.
  private var mayOpen: KindSet { terms.kinds.intersection(enabled).subtracting(open) }

  private func pace(of kind: Kind) -> Pace {
    Pace(lastBegin: pace[kind].lastBegin, interval: max(pace[kind].interval, terms.every))
  }

  private func offer(_ kind: Kind, _ satisfied: Needs) -> Offer {
    Offer(kinds: KindSet(kind), satisfied: satisfied, pushes: pushes, observedRange: observedRange)
  }

  /// What the system could give, or take away.
  private var couldBe: Constraints { Constraints.all.subtracting(hostOwned) }

  /// When to read conditions though nothing was announced: while a window is open in which a run may need what the system
  /// could take away, or a task waits for what it could give.
  private func listensAt(_ dueAt: PerKind<Instant?>) -> Instant {
    if hasCycles && !couldBe.isEmpty { return mayListenAt }
    guard !couldBe.isSubset(of: satisfied.constraints) else { return Time.never }
    var listensAt = Time.never
    let couldBeDueAt = self.dueAt(satisfied.union(Needs(couldBe)))
    for kind in Kind.allCases {
      let at = couldBeDueAt[kind] ?? Time.never
      if at < dueAt[kind] ?? Time.never { listensAt = min(listensAt, max(at, mayListenAt)) }
    }
    return listensAt
  }

  /// When a veto may be raised against a window that is open.
  private var nextLookAtVetoes: Instant {
    guard !open.isEmpty else { return Time.never }
    var next = nextLook
    governor.forEachSignal(open, onlyStopping: true) { signal in
      if signal.lookAgain > 0 && !asked.groups(signal, governor, at: now).isEmpty {
        next = min(next, now.adding(signal.lookAgain))
      }
    }
    return next
  }

  // MARK: Reading

  /// What is to be read of the system before anything is decided, or nil.
  private func reading(_ due: KindSet, listens: Bool) -> DriverPlan.Step? {
    var announced = hearing.announced
    if listens { announced.formUnion([.power, .network]) }
    // What decisions look at, and the vetoes against open windows; what is announced is read where anybody wants to know it.
    let groups = asked.groups(due, governor, at: now)
      .union(asked.groups(open, onlyStopping: true, governor, at: now))
      .union(announced.intersection(asked.groups(.all, governor, at: now)))
    let missing = groups.subtracting(hearing.read)
    let isHeard = hearing.asked.map { due.isSubset(of: $0) } ?? (due.isEmpty && announced.isEmpty)
    let conditions = !isHeard && !couldBe.isEmpty
    guard conditions || !missing.isEmpty else { return nil }
    return .read(missing, conditions: conditions, kinds: due)
  }

  // MARK: Opening

  private typealias Grant = (longest: Span, newcomer: TaskDefinition?)

  /// The window of the first kind that is granted one, or of all that are, or nil.
  private func opening(_ due: KindSet, _ plan: inout DriverPlan) -> DriverPlan.Step? {
    guard terms.isGoverned else { return openingUnasked(due) }
    var granted: KindSet = []
    var longest = Time.never
    for kind in Kind.allCases where due.contains(kind) {
      guard let grant = ask(kind, &plan) else { continue }
      if let newcomer = grant.newcomer {
        // What is left is for it alone.
        guard granted.isEmpty else { continue }
        return .open(terms.window(KindSet(kind), longest: grant.longest, only: newcomer), kinds: KindSet(kind))
      }
      granted.formUnion(KindSet(kind))
      longest = min(longest, grant.longest)
      if !terms.together { break }
    }
    return granted.isEmpty ? nil : .open(terms.window(granted, longest: longest), kinds: granted)
  }

  /// The window of the first kind that is due; together, of all that may have one: it costs no budget, and what becomes due
  /// in it need not wait for the next.
  private func openingUnasked(_ due: KindSet) -> DriverPlan.Step? {
    guard let first = Kind.allCases.first(where: { due.contains($0) }) else { return nil }
    guard terms.together else {
      return .open(terms.window(KindSet(first), longest: Time.never), kinds: KindSet(first))
    }
    var kinds = due
    for kind in Kind.allCases where mayOpen.contains(kind) && pace(of: kind).opensAt <= now {
      kinds.formUnion(KindSet(kind))
    }
    return .open(terms.window(kinds, longest: Time.never), kinds: due)
  }

  /// Asks for a window of a kind; nil if it is refused, or better waited for.
  private func ask(_ kind: Kind, _ plan: inout DriverPlan) -> Grant? {
    func decide(neverRan: Bool = false) -> Decision {
      let decision = governor.decide(kind, neverRan: neverRan, at: now)
      plan.decisions.append((decision, neverRan))
      return decision
    }
    let decision = decide()
    // Only what a new task may use is left: it alone.
    if decision.isRefusedByBudget, let newcomer = newcomer(kind) {
      let other = decide(neverRan: true)
      if other.isGranted { return (other.longestWindow, newcomer) }
    }
    guard decision.isGranted else {
      plan.askAgainAt[kind] = decision.askAgainAt
      return nil
    }
    // The last seconds of a budget would only cut tasks off.
    if decision.longestWindow < terms.budgets[kind] {
      let roomAt = governor.ledger.roomAt(kind, governor.profile.quotas, at: now)
      guard roomAt <= now else {
        plan.askAgainAt[kind] = roomAt
        return nil
      }
    }
    return (decision.longestWindow, nil)
  }

  /// The task that would be first in a window, if it never ran.
  private func newcomer(_ kind: Kind) -> TaskDefinition? {
    let offer = offer(kind, satisfied)
    guard let best = Ranking(table, offer, at: now).best(in: table, offer, room: nil) else { return nil }
    return table[best.slot].hasRun ? nil : table[best.slot].definition
  }
}

extension Decision {
  /// Whether nothing but a spent budget refuses.
  fileprivate var isRefusedByBudget: Bool {
    firstVeto?.factor == .budget && findings.allSatisfy { $0.verdict != .vetoed || $0.factor == .budget }
  }
}

// What a driver does next (G7): a pure function of what is known at an instant. It does none of it:
// opening, waiting and telling are the driver's.

import SeleneCore
import SeleneGovernor

/// What to do next, and what was decided on the way there.
package struct DriverPlan {
  package enum Step {
    /// Read these from the system, then plan again.
    case read(SignalGroups)
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
  /// When something of the system is to be read again, where that may change what is done next.
  package var readsAt = Time.never
  /// Whether memory that runs short is to be announced.
  package var watchesMemory = false
}

/// Which groups of signals the system can be asked for at all.
struct SignalReach {
  /// The clock is the system's, so that signals are, too.
  var followsSystem: Bool
  /// There is a file system to look at.
  var hasStore: Bool

  /// The group of a signal.
  func group(of signal: Signal) -> SignalGroups {
    let group = SignalGroups(of: signal)
    return !followsSystem || (group == .storage && !hasStore) ? [] : group
  }

  /// The same, unless the host sets it.
  func groups(_ signal: Signal, _ signals: Signals, at now: Instant) -> SignalGroups {
    signals.said(signal, by: .host, at: now) == nil ? group(of: signal) : []
  }

  /// The groups worth reading before a decision about some kinds; with a host clock none, so that all is as the host says.
  func groups(
    _ kinds: KindSet, onlyStopping: Bool = false, _ governor: Governor, at now: Instant
  ) -> SignalGroups {
    guard followsSystem else { return [] }
    var groups: SignalGroups = []
    governor.forEachSignal(kinds, onlyStopping: onlyStopping) {
      groups.formUnion(self.groups($0, governor.signals, at: now))
    }
    return groups
  }
}

/// What a driver has heard from the system since it woke.
struct Hearing {
  /// What the system announced.
  var announced: SignalGroups = []
  /// What was read.
  var read: SignalGroups = []
}

/// A window that was granted to a pool, as others see it.
struct GrantedWindow {
  /// When it picks no more, or its runs are asked to stop; and its deadline.
  let until: Instant
  let deadline: Instant
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
  var reach = SignalReach(followsSystem: false, hasStore: false)
  var hearing = Hearing()
  /// When asking about a kind is worth it, if nothing changes before; and when a wait ends that no news ends.
  var askAgainAt = PerKind<Instant>(repeating: .min)
  var delayedUntil = PerKind<Instant>(repeating: .min)
  /// Whose handlers it can use: nil is this process.
  var crew: Crew?
  /// Until when each kind has a window that was granted to another pool, in which this one may take part (L7).
  var granted = PerKind<GrantedWindow?>(repeating: nil)
  /// When what constraints look at was last read.
  var heardAt: Instant = .min
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
    var wakeAt = nextEffect
    plan.readsAt = min(listensAt, nextLookAtVetoes)
    for kind in Kind.allCases {
      guard let at = dueAt[kind] else { continue }
      wakeAt = min(wakeAt, max(at, asksAt(kind, plan)))
      // It was refused by what may have changed by then.
      if at <= now { plan.readsAt = min(plan.readsAt, asksAt(kind, plan)) }
    }
    plan.step = .sleep(until: min(wakeAt, plan.readsAt))
    plan.watchesMemory = asked.groups(open, onlyStopping: true, governor, at: now).contains(.load)
    return plan
  }

  /// When a window of a kind is worth asking for. What was granted to another pool needs no asking.
  private func asksAt(_ kind: Kind, _ plan: DriverPlan) -> Instant {
    granted[kind] == nil ? max(plan.askAgainAt[kind], delayedUntil[kind]) : delayedUntil[kind]
  }

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
    Offer(kinds: KindSet(kind), satisfied: satisfied, pushes: pushes, observedRange: observedRange, crew: crew)
  }

  /// What would be first in a window of a kind: its score, and its place in the order of registration.
  func first(_ kind: Kind) -> (score: Double, sequence: UInt64)? {
    let offer = offer(kind, satisfied)
    guard let best = Ranking(table, offer, at: now).best(in: table, offer, room: .any) else { return nil }
    return (best.score, table[best.slot].sequence)
  }

  /// When the next task of some kinds is due that is not due now.
  func nextDue(_ kinds: KindSet) -> Instant {
    var next = Time.never
    for kind in Kind.allCases where kinds.contains(kind) {
      next = min(next, table.nextDue(offer(kind, satisfied), at: now))
    }
    return next
  }

  /// How many tasks a window of some kinds could have now.
  func eligible(_ kinds: KindSet) -> Int {
    Kind.allCases.reduce(0) { count, kind in
      kinds.contains(kind) ? count + Ranking(table, offer(kind, satisfied), at: now).eligibleCount : count
    }
  }

  /// What tasks ask for and the system could give, or take away.
  private var couldBe: Constraints {
    var found: Constraints = []
    table.terms.asked.forEach { constraint in
      if !reach.groups(of: constraint, governor.signals, at: now).isEmpty { found.formUnion(constraint) }
    }
    return found
  }

  /// Not every system announces its changes: what tasks wait for is read this often in any case.
  private func listens(to constraints: Constraints) -> Span {
    var often = Time.never
    constraints.forEachSignal { if $0.lookAgain > 0 { often = min(often, $0.lookAgain) } }
    return often
  }

  /// When to read what constraints look at though nothing was announced: while a window is open in which a run may need what
  /// the system could take away, or a task waits for what it could give.
  private func listensAt(_ dueAt: PerKind<Instant?>) -> Instant {
    let couldBe = couldBe
    guard !couldBe.isEmpty else { return Time.never }
    let mayListenAt = heardAt.adding(listens(to: couldBe))
    if hasCycles { return mayListenAt }
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
      if signal.lookAgain > 0 && !asked.groups(signal, governor.signals, at: now).isEmpty {
        next = min(next, now.adding(signal.lookAgain))
      }
    }
    return next
  }

  // MARK: Reading

  /// What is to be read of the system before anything is decided, or nil.
  private func reading(_ due: KindSet, listens: Bool) -> DriverPlan.Step? {
    let ofConstraints = reach.groups(of: table.terms.asked, governor.signals, at: now)
    // What decisions and constraints look at, and the vetoes against open windows; what is announced is read where anybody
    // wants to know it.
    var groups = asked.groups(due, governor, at: now)
      .union(asked.groups(open, onlyStopping: true, governor, at: now))
      .union(hearing.announced.intersection(asked.groups(.all, governor, at: now).union(ofConstraints)))
    if listens || !due.isEmpty { groups.formUnion(ofConstraints) }
    let missing = groups.subtracting(hearing.read)
    return missing.isEmpty ? nil : .read(missing)
  }

  // MARK: Opening

  private var rations: Bool { governor.profile.rationsTime }

  private typealias Grant = (longest: Span, newcomer: TaskDefinition?)

  /// The window of the first kind that is granted one, or of all that are, or nil.
  private func opening(_ due: KindSet, _ plan: inout DriverPlan) -> DriverPlan.Step? {
    guard terms.isGoverned else { return openingUnasked(due) }
    if let step = joining(due) { return step }
    var granted: KindSet = []
    var longest = Time.never
    for kind in Kind.allCases where due.contains(kind) {
      guard let grant = ask(kind, &plan) else { continue }
      if let newcomer = grant.newcomer {
        // What is left is for it alone.
        guard granted.isEmpty else { continue }
        return .open(
          terms.window(KindSet(kind), longest: grant.longest, rations: rations, only: newcomer), kinds: KindSet(kind))
      }
      granted.formUnion(KindSet(kind))
      longest = min(longest, grant.longest)
      if !terms.together { break }
    }
    return granted.isEmpty ? nil : .open(terms.window(granted, longest: longest, rations: rations), kinds: granted)
  }

  /// A part of the window that another pool has of a kind that is due, or nil: what is granted is the machine's.
  private func joining(_ due: KindSet) -> DriverPlan.Step? {
    for kind in Kind.allCases where due.contains(kind) {
      if let window = granted[kind] {
        return .open(terms.window(KindSet(kind), in: window, at: now), kinds: KindSet(kind))
      }
    }
    return nil
  }

  /// The window of the first kind that is due; together, of all that may have one: it costs no budget, and what becomes due
  /// in it need not wait for the next.
  private func openingUnasked(_ due: KindSet) -> DriverPlan.Step? {
    guard let first = Kind.allCases.first(where: { due.contains($0) }) else { return nil }
    guard terms.together else {
      return .open(terms.window(KindSet(first), longest: Time.never, rations: false), kinds: KindSet(first))
    }
    var kinds = due
    for kind in Kind.allCases where mayOpen.contains(kind) && pace(of: kind).opensAt <= now {
      kinds.formUnion(KindSet(kind))
    }
    return .open(terms.window(kinds, longest: Time.never, rations: false), kinds: due)
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
    guard let best = Ranking(table, offer, at: now).best(in: table, offer, room: .any) else { return nil }
    return table[best.slot].hasRun ? nil : table[best.slot].definition
  }
}

extension Decision {
  /// Whether nothing but a spent budget refuses.
  fileprivate var isRefusedByBudget: Bool {
    firstVeto?.factor == .budget && findings.allSatisfy { $0.verdict != .vetoed || $0.factor == .budget }
  }
}

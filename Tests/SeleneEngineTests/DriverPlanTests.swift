// What a driver would do, case by case, without a thread and without waiting (G7).

import SeleneCore
import SeleneGovernor
import Testing

@testable import SeleneEngine

/// What a plan says, to be compared.
enum Said: Equatable {
  case read(SignalGroups)
  /// For some kinds; `serves` if tasks of others run in it, too.
  case open(KindSet, budget: Span, lanes: Int = 1, only: String? = nil, serves: KindSet? = nil)
  case sleep(Instant)

  init(_ plan: DriverPlan) {
    switch plan.step {
    case .read(let groups): self = .read(groups)
    case .open(let window, let kinds):
      self = .open(
        kinds, budget: window.budget, lanes: window.lanes,
        only: window.task.map { String(decoding: $0, as: UTF8.self) },
        serves: window.kinds == kinds ? nil : window.kinds)
    case .sleep(let wakeAt): self = .sleep(wakeAt)
    }
  }
}

@Suite("DriverPlan") struct DriverPlanTests {
  private static let now = 1_000 * Time.day
  private static let (refresh, processing) = (KindSet(.refresh), KindSet(.processing))
  private static let never = Said.sleep(Time.never)

  /// A view of these tasks, each with a handler of its own name; nothing is read from the system.
  private static func view(
    _ recipes: [Recipe], handlers: Bool = true, _ change: (inout DriverView) throws -> Void = { _ in }
  ) throws -> DriverView {
    try view(recipes, driver: { _ in }, handlers: handlers, change)
  }

  private static func view(
    _ recipes: [Recipe], driver: (inout DriverDraft) -> Void, handlers pushes: Bool = true,
    _ change: (inout DriverView) throws -> Void = { _ in }
  ) throws -> DriverView {
    let desk = Desk(now: now) { $0.places = PerKind(repeating: nil) }
    for recipe in recipes {
      _ = try desk.addHandler(recipe.id, pushes: pushes)
      try desk.register(recipe)
    }
    var draft = DriverDraft()
    driver(&draft)
    var view = DriverView(terms: try DriverTerms(draft, .own), table: desk.table, governor: Governor(), now: now)
    try change(&view)
    return view
  }

  private static func veto(_ factor: Factor, preempts: Bool = false) throws -> Profile {
    var draft = ProfileDraft()
    draft.rules = [
      RuleDraft(factor: Int32(factor.rawValue), kinds: KindSet.all.rawValue, mode: 1, preempts: preempts)
    ]
    return try Profile(draft, .own)
  }

  private static var fetch: Recipe { Recipe("fetch", .once) }
  private static var online: Recipe { Recipe("online", .once) { $0.constraints = Constraints.network.rawValue } }
  private static var plugged: Recipe {
    Recipe("plugged", .once) { $0.constraints = Constraints.externalPower.rawValue }
  }
  private static var pack: Recipe { Recipe("pack", .once, kind: .processing) }

  /// One case: what is known, and what the plan is.
  struct Case: CustomTestStringConvertible, Sendable {
    let name: String
    let said: Said
    let view: @Sendable () throws -> DriverView
    var testDescription: String { name }

    init(_ name: String, _ said: Said, _ view: @escaping @Sendable () throws -> DriverView) {
      (self.name, self.said, self.view) = (name, said, view)
    }
  }

  private static let cases: [Case] = [
    Case("without tasks it sleeps", never) { try view([]) },
    Case("what is due has a window of its kind", .open(refresh, budget: 30 * Time.second)) { try view([fetch]) },
    Case("the other kind has its own", .open(processing, budget: 10 * Time.minute)) { try view([pack]) },
    Case("refresh goes first", .open(refresh, budget: 30 * Time.second)) { try view([pack, fetch]) },
    Case("and then processing", .open(processing, budget: 10 * Time.minute)) {
      try view([pack, fetch]) { $0.open = refresh }
    },
    Case("what is due later is slept for", .sleep(now + 7)) {
      try view([
        Recipe("a", .once) { $0.initialDelay = 7 }, Recipe("b", .once, kind: .processing) { $0.initialDelay = 9 },
      ])
    },
    Case("a kind that is switched off waits", never) { try view([fetch]) { $0.enabled = processing } },
    Case("so does one that is not the driver's", never) {
      try view([fetch], driver: { $0.kinds = processing.rawValue })
    },
    Case("and all, while no thread may be used", never) { try view([pack, fetch]) { $0.lacksThreads = true } },
    Case("a handler without a function is none for library threads", never) { try view([fetch], handlers: false) },
    Case("but one for a host that takes its runs", .open(refresh, budget: 30 * Time.second)) {
      try view([fetch], handlers: false) { $0.pushes = false }
    },

    Case("a kind whose window failed waits", .sleep(now + 5)) {
      try view([fetch]) { $0.delayedUntil.refresh = now + 5 }
    },
    Case("one that was refused waits until asking is worth it", .sleep(now + 6)) {
      try view([fetch]) { ($0.delayedUntil.refresh, $0.askAgainAt.refresh) = (now + 5, now + 6) }
    },
    Case("the minimum interval counts", .sleep(now + 40)) {
      try view([fetch]) { $0.pace.refresh = Pace(lastBegin: now - 60, interval: 100) }
    },
    Case("and that of the driver, if it is longer", .sleep(now + 140)) {
      try view([fetch], driver: { $0.every = 200 }) { $0.pace.refresh = Pace(lastBegin: now - 60, interval: 100) }
    },
    Case("a standing task asks that often", .sleep(now + 140)) {
      try view([Recipe("a")], driver: { $0.every = 200 }) { $0.pace.refresh = Pace(lastBegin: now - 60, interval: 0) }
    },
    Case("else every 15 minutes", .sleep(now - 60 + 15 * Time.minute)) {
      try view([Recipe("a")]) { $0.pace.refresh = Pace(lastBegin: now - 60, interval: 0) }
    },

    Case("together: one window for both", .open(.all, budget: 10 * Time.minute, lanes: 3)) {
      try view(
        [pack, fetch],
        driver: {
          $0.together = true
          $0.lanes.refresh = 3
        })
    },
    Case("together: none beside the one that is open", never) {
      try view([pack], driver: { $0.together = true }) { ($0.open, $0.hasDriven) = (refresh, true) }
    },
    Case("together: what is refused is left out", .open(processing, budget: 10 * Time.minute)) {
      try view([pack, fetch], driver: { $0.together = true }) {
        var draft = ProfileDraft()
        draft.rules = [RuleDraft(factor: Int32(Factor.metered.rawValue), kinds: refresh.rawValue, mode: 1)]
        $0.governor = Governor(try Profile(draft, .own))
        try $0.governor.signals.set(.metered, 1, by: .host, at: now)
      }
    },

    Case(
      "ungoverned: what is due has its window, whatever the governor would say",
      .open(refresh, budget: 30 * Time.second)
    ) {
      try view([pack, fetch], driver: { $0.isGoverned = false }) {
        $0.governor = Governor(try veto(.metered))
        try $0.governor.signals.set(.metered, 1, by: .host, at: now)
      }
    },
    Case("ungoverned: no signal is read for it", .open(refresh, budget: 30 * Time.second)) {
      try view([fetch], driver: { $0.isGoverned = false }) {
        $0.governor = Governor(try veto(.userActive, preempts: true))
        ($0.reach.followsSystem, $0.hearing.announced) = (true, .people)
      }
    },
    Case("ungoverned: but those of constraints are", .read(.network)) {
      try view([online], driver: { $0.isGoverned = false }) { $0.reach.followsSystem = true }
    },
    Case("ungoverned: nor while it is open", never) {
      try view([], driver: { $0.isGoverned = false }) {
        $0.governor = Governor(try veto(.userActive, preempts: true))
        ($0.reach.followsSystem, $0.open, $0.hasCycles) = (true, refresh, true)
      }
    },
    Case("ungoverned and together: the window is for all kinds", .open(refresh, budget: 10 * Time.minute, serves: .all))
    {
      try view([fetch], driver: { ($0.isGoverned, $0.together) = (false, true) })
    },
    Case("but for one that is switched off", .open(refresh, budget: 30 * Time.second)) {
      try view([fetch], driver: { ($0.isGoverned, $0.together) = (false, true) }) { $0.enabled = refresh }
    },
    Case("or not the driver's", .open(refresh, budget: 30 * Time.second)) {
      try view([fetch], driver: { ($0.isGoverned, $0.together, $0.kinds) = (false, true, refresh.rawValue) })
    },
    Case("or has a window of the host's", .open(refresh, budget: 30 * Time.second)) {
      try view([fetch], driver: { ($0.isGoverned, $0.together) = (false, true) }) { $0.open = processing }
    },
    Case("or had one too lately", .open(refresh, budget: 30 * Time.second)) {
      try view([fetch], driver: { ($0.isGoverned, $0.together, $0.every) = (false, true, 100) }) {
        $0.pace.processing = Pace(lastBegin: now - 60, interval: 0)
      }
    },
    Case("and it waits where nothing is due", .sleep(now + 40)) {
      try view([fetch], driver: { ($0.isGoverned, $0.together, $0.every) = (false, true, 100) }) {
        $0.pace.refresh = Pace(lastBegin: now - 60, interval: 0)
      }
    },

    Case("what constraints look at is read before a window", .read([.network, .power])) {
      try view([online, plugged]) { $0.reach.followsSystem = true }
    },
    Case("only what a task asks for", .read(.network)) { try view([online]) { $0.reach.followsSystem = true } },
    Case("and nothing if none does", .open(refresh, budget: 30 * Time.second)) {
      try view([fetch]) { $0.reach.followsSystem = true }
    },
    Case("nor what the host sets", .read(.power)) {
      try view([online, plugged]) {
        $0.reach.followsSystem = true
        try $0.governor.signals.set(.network, 1, by: .host, at: now)
      }
    },
    Case("once", .open(refresh, budget: 30 * Time.second)) {
      try view([online]) { ($0.reach.followsSystem, $0.hearing.read) = (true, .network) }
    },
    Case("what waits for a constraint that only the host knows waits for it", never) {
      try view([online]) { $0.satisfied = [] }
    },
    Case("for one of the system's it listens", .read(.network)) {
      try view([online]) { ($0.satisfied, $0.reach.followsSystem) = ([], true) }
    },
    Case("a minute later again", .sleep(now + Time.minute)) {
      try view([online]) {
        ($0.satisfied, $0.reach.followsSystem) = ([], true)
        ($0.hearing.read, $0.heardAt) = (.network, now)
      }
    },
    Case("also while a window is open", .sleep(now + Time.minute)) {
      try view([online]) {
        ($0.open, $0.hasCycles, $0.reach.followsSystem, $0.heardAt) = (refresh, true, true, now)
      }
    },
    Case("but not for what no task asks for", never) {
      try view([]) { ($0.open, $0.hasCycles, $0.reach.followsSystem) = (refresh, true, true) }
    },
    Case("what is announced is read where a constraint looks at it", .read(.network)) {
      try view([online]) {
        ($0.open, $0.hasCycles, $0.reach.followsSystem, $0.heardAt) = (refresh, true, true, now)
        $0.hearing.announced = [.network, .power]
      }
    },

    Case("what a decision looks at is read first", .read(.people)) {
      try view([fetch]) {
        $0.governor = Governor(try veto(.userActive))
        $0.reach.followsSystem = true
      }
    },
    Case("unless the host says it", .open(refresh, budget: 30 * Time.second)) {
      try view([fetch]) {
        $0.governor = Governor(try veto(.userActive))
        try $0.governor.signals.set(.userActive, 0, by: .host, at: now)
        $0.reach.followsSystem = true
      }
    },
    Case("once", .open(refresh, budget: 30 * Time.second)) {
      try view([fetch]) {
        $0.governor = Governor(try veto(.userActive))
        ($0.reach.followsSystem, $0.hearing.read) = (true, .people)
      }
    },
    Case("what is announced is read where a decision looks at it", .read(.network)) {
      try view([]) {
        $0.governor = Governor(try veto(.network))
        ($0.reach.followsSystem, $0.hearing.announced) = (true, [.network, .power])
      }
    },
    Case("vetoes against an open window are read, too", .read(.people)) {
      try view([]) {
        $0.governor = Governor(try veto(.userActive, preempts: true))
        ($0.reach.followsSystem, $0.open, $0.hasCycles) = (true, refresh, true)
      }
    },
    Case("and looked at again", .sleep(now + 30 * Time.second)) {
      try view([]) {
        $0.governor = Governor(try veto(.userActive, preempts: true))
        ($0.reach.followsSystem, $0.open, $0.hasCycles, $0.hearing.read) = (true, refresh, true, .people)
      }
    },

    Case("a refusal sleeps until a signal changes", never) {
      try view([fetch]) {
        $0.governor = Governor(try veto(.metered))
        try $0.governor.signals.set(.metered, 1, by: .host, at: now)
      }
    },
    Case("or until what was said ends", .sleep(now + 50)) {
      try view([fetch]) {
        $0.governor = Governor(try veto(.metered))
        try $0.governor.signals.set(.metered, 1, by: .host, at: now, until: now + 50)
      }
    },
    Case("a cycle that is forgotten ends by itself", .sleep(now + 3)) { try view([]) { $0.nextEffect = now + 3 } },
  ]

  @Test("G7 the plan of a driver", arguments: cases)
  func plans(_ one: Case) throws {
    let view = try one.view()
    let plan = view.plan()
    #expect(Said(plan) == one.said)
    // It is a function: asked again it says the same.
    #expect(Said(view.plan()) == one.said)
  }

  @Test("G7 a window has the driver's reserve and fit")
  func window() throws {
    func window(_ change: (inout DriverDraft) -> Void) throws -> Window? {
      guard case .open(let window, _) = try Self.view([Self.fetch], driver: change).plan().step else { return nil }
      return window
    }
    #expect(try window { _ in }?.reserve == 30 * Time.second / 20)
    #expect(try window { $0.reserve = 7 }?.reserve == 7)
    #expect(try window { $0.reserve = Time.hour }?.reserve == 30 * Time.second)
    #expect(try window { _ in }?.strictFit == false)
    #expect(try window { $0.strictFit = true }?.strictFit == true)
  }

  /// A governor with a quota of window time for refresh, of which so much was used a minute ago.
  private static func used(_ used: Span, of limit: Span) throws -> Governor {
    var draft = ProfileDraft()
    draft.rules = [RuleDraft(factor: Int32(Factor.budget.rawValue), kinds: KindSet.all.rawValue, mode: 1)]
    draft.quotas = [QuotaDraft(kinds: refresh.rawValue, measure: 1, limit: limit)]
    var governor = Governor(try Profile(draft, .own))
    if used > 0 {
      governor.begin(.refresh, budget: used, at: now - used - Time.minute)
      governor.end(.refresh, at: now - Time.minute)
    }
    return governor
  }

  @Test("G7 a window is cut to what the ledger leaves, but not below what it is for")
  func budgets() throws {
    let whole = try Self.view([Self.fetch]) { $0.governor = try Self.used(0, of: Time.hour) }.plan()
    #expect(Said(whole) == .open(Self.refresh, budget: 30 * Time.second))
    let view = try Self.view([Self.fetch], driver: { $0.budgets.refresh = Time.hour }) {
      $0.governor = try Self.used(0, of: 10 * Time.minute)
    }
    #expect(Said(view.plan()) == .open(Self.refresh, budget: 10 * Time.minute))
    let little = try Self.view([Self.fetch]) {
      $0.governor = try Self.used(9 * Time.minute + 50 * Time.second, of: 10 * Time.minute)
    }
    // The window that used it up is a day old then, but for the minute after it.
    #expect(Said(little.plan()) == .sleep(Self.now + Time.day - 10 * Time.minute - 30 * Time.second))
  }

  @Test("G4 a task that never ran has a window of its own when only the newcomers' part is left")
  func newcomer() throws {
    let view = try Self.view([Self.fetch]) { $0.governor = try Self.used(10 * Time.minute, of: 10 * Time.minute) }
    let plan = view.plan()
    #expect(plan.decisions.map(\.decision.isGranted) == [false, true])
    #expect(plan.decisions.map(\.neverRan) == [false, true])
    // The window borrows the id of its task.
    withExtendedLifetime(view) {
      #expect(Said(plan) == .open(Self.refresh, budget: 30 * Time.second, only: "fetch"))
    }
  }

  @Test("G7 a refusal and when to ask again are part of the plan, and nothing has changed by it")
  func refusal() throws {
    let view = try Self.view([Self.fetch, Self.pack]) {
      $0.governor = Governor(try Self.veto(.metered))
      try $0.governor.signals.set(.metered, 1, by: .host, at: Self.now, until: Self.now + 50)
    }
    let plan = view.plan()
    #expect(plan.decisions.map(\.decision.kind) == [.refresh, .processing])
    #expect(plan.decisions.allSatisfy { !$0.decision.isGranted && !$0.neverRan })
    #expect(plan.askAgainAt.refresh == Self.now + 50 && plan.askAgainAt.processing == Self.now + 50)
    #expect(view.askAgainAt.refresh == .min)
  }

  @Test("G7 a plan says when the system is to be read again: what is due was refused, or an open window may be vetoed")
  func reading() throws {
    let due = try Self.view([Self.fetch]) { $0.askAgainAt.refresh = Self.now + 6 }
    #expect(due.plan().readsAt == Self.now + 6)
    let later = try Self.view([Self.fetch]) { $0.pace.refresh = Pace(lastBegin: Self.now - 60, interval: 100) }
    #expect(later.plan().readsAt == Time.never)
    let open = try Self.view([]) {
      $0.governor = Governor(try Self.veto(.userActive, preempts: true))
      ($0.reach.followsSystem, $0.open, $0.hasCycles, $0.hearing.read) = (true, Self.refresh, true, .people)
    }
    #expect(open.plan().readsAt == Self.now + 30 * Time.second)
  }

  @Test("V3 a window that was granted to another pool is the machine's: a driver takes part in what is left of it")
  func granted() throws {
    var view = try Self.view([Recipe("its", .once)])
    view.askAgainAt.refresh = Self.now + Time.minute
    view.granted.refresh = GrantedWindow(until: Self.now + 9 * Time.second, deadline: Self.now + 10 * Time.second)
    let plan = view.plan()
    #expect(Said(plan) == .open(Self.refresh, budget: 10 * Time.second))
    #expect(plan.decisions.isEmpty)
    view.granted.refresh = GrantedWindow(until: Self.now + 9 * Time.second, deadline: Time.never)
    #expect(Said(view.plan()) == .open(Self.refresh, budget: 9 * Time.second))
  }

  @Test("G7 fields of a driver are checked")
  func fields() throws {
    func refuses(_ change: (inout DriverDraft) -> Void) -> Bool {
      var draft = DriverDraft()
      change(&draft)
      return (try? DriverTerms(draft, .own)) == nil
    }
    #expect(!refuses { _ in })
    #expect(!refuses { $0.kinds = 0 } && refuses { $0.kinds = 4 } && !refuses { $0.kinds = 1 })
    #expect(refuses { $0.reserve = -2 } && refuses { $0.reserve = Time.day + 1 } && !refuses { $0.reserve = Time.day })
    #expect(refuses { $0.every = -1 } && refuses { $0.every = Time.tenYears + 1 } && !refuses { $0.every = 1 })
    #expect(refuses { $0.budgets.refresh = -1 } && refuses { $0.lanes.processing = 1_025 })
  }
}

// Decisions until the database has said what became of them (N9, N14).

import SeleneCore

/// Each decision is in one of three places, and leaves by an answer.
struct DecisionQueue {
  /// To be sent with the next turn.
  private(set) var waiting: [OpenDecision] = []
  /// Sent with a turn that is not answered yet.
  private(set) var sent: [OpenDecision] = []
  /// Sent with a turn that was never answered: they may be made.
  private(set) var unknown: [OpenDecision] = []
  /// When the first of those that wait came.
  private(set) var since: Instant = Time.never
  /// One that the database refuses is among those that wait: they are sent one by one until it is found.
  private(set) var isSearching = false

  /// With so many it waits no longer for more.
  static let batch = 100
  /// The most that one turn takes.
  private static let most = 500

  mutating func add(_ decision: OpenDecision, at now: Instant) {
    if waiting.isEmpty { since = now }
    waiting.append(decision)
  }

  /// Those that the next turn takes, in order of task, as everybody takes several (N8).
  func next() -> [OpenDecision] {
    let next = nextWaiting
    var order: [Ordered] = []
    for place in next.indices { order.append(Ordered(next[place].key.task, place)) }
    Ordered.sort(&order)
    return order.map { next[$0.slot] }
  }

  private var nextWaiting: ArraySlice<OpenDecision> { waiting.prefix(isSearching ? 1 : Self.most) }

  /// They are on their way.
  mutating func send() {
    sent = Array(nextWaiting)
    waiting.removeFirst(sent.count)
    if waiting.isEmpty { since = Time.never }
  }

  /// What was sent was certainly not made.
  mutating func takeBack(at now: Instant) {
    if waiting.isEmpty && !sent.isEmpty { since = now }
    waiting = sent + waiting
    sent = []
  }

  /// What was sent may be made.
  mutating func lose() {
    unknown += sent
    sent = []
  }

  /// The database refused what was sent for a value in it, which may be another's. Returns one that it refused alone and as a
  /// bare failure, which leaves.
  mutating func refuse(at now: Instant) -> OpenDecision? {
    guard isSearching, let found = sent.first else {
      isSearching = !sent.isEmpty
      takeBack(at: now)
      return nil
    }
    if found.decision.isBare {
      sent = []
      return found
    }
    sent[0].decision = found.decision.bare
    takeBack(at: now)
    return nil
  }

  /// The turn was answered. Returns what is known now: not of those that it said nothing of, since somebody is at their records,
  /// nor of one that was sent twice and is stale, since that is what it is, too, if the first call was made after all.
  mutating func settle(_ decided: [DecidedRun]) -> (known: [DecidedRun], isAnyLeft: Bool) {
    var (known, isAnyLeft): ([DecidedRun], Bool) = ([], false)
    for one in sent {
      let told = decided.first { $0.run == one.key.run }
      if let told, told.counts || !one.isSentAgain {
        known.append(told)
      } else {
        unknown.append(one)
        if told == nil { isAnyLeft = true }
      }
    }
    sent = []
    if waiting.isEmpty { isSearching = false }
    return (known, isAnyLeft)
  }

  /// What became of those that were not answered: open ones are sent again. Returns what is known of the others.
  mutating func settle(_ fates: [RunFate], at now: Instant) -> [DecidedRun] {
    var known: [DecidedRun] = []
    for fate in fates {
      guard let place = unknown.firstIndex(where: { $0.key.run == fate.run }) else { continue }
      let decision = unknown.remove(at: place)
      if fate.fate == .open {
        decision.isSentAgain = true
        add(decision, at: now)
      } else {
        known.append(DecidedRun(run: fate.run, counts: fate.fate == .decided))
      }
    }
    return known
  }

  /// The runs that an incarnation's are of.
  func runs(of worker: Int64) -> [Int64] {
    var runs: [Int64] = []
    for one in waiting where one.worker == worker { runs.append(one.key.run) }
    for one in sent where one.worker == worker { runs.append(one.key.run) }
    for one in unknown where one.worker == worker { runs.append(one.key.run) }
    return runs
  }

  /// Whether any is of an incarnation.
  func has(_ worker: Int64) -> Bool {
    waiting.contains { $0.worker == worker } || sent.contains { $0.worker == worker }
      || unknown.contains { $0.worker == worker }
  }

  var count: Int { waiting.count + sent.count + unknown.count }

  var isEmpty: Bool { waiting.isEmpty && sent.isEmpty && unknown.isEmpty }
}

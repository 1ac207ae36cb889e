// What background work has used (G4): the windows of the last day, and which budgets they spent.

import SeleneCore

/// The books of one governor.
///
/// A window is charged whole when it begins, and what it did not use is refunded when it ends: a process that is killed in between
/// has paid. Time counts as it passes and leaves as it came; everything else counts until its window has wholly left.
package struct Ledger: Sendable {
  /// One window; or several, where there were too many to keep apart.
  package struct Session: Equatable, Sendable {
    package let kind: Kind
    package var begin: Instant
    /// When it ends at the latest, or ended.
    package var end: Instant
    package var cpuTime: Span = 0
    package var bytes: Int64 = 0
    package var windows: Int64 = 1
  }

  /// At this many the two nearest are put together, as if the earlier had been later: never too little is counted.
  package static let mostSessions = 256

  /// In order of their begin within each kind.
  package private(set) var sessions: [Session] = []
  /// Quotas that were used up and have not enough free again; one bit for each kind, quota and reserve.
  private var spent: UInt64 = 0
  /// Up to when that was noted.
  private var settledAt: Instant = .min
  /// When the last window of each kind began, or nil.
  package private(set) var lastBegin = PerKind<Instant?>(repeating: nil)

  package init() {}

  // MARK: Writing

  /// A window begins.
  package mutating func begin(_ kind: Kind, budget: Span, _ quotas: [Quota], at now: Instant) {
    settle(quotas, at: now)
    forget(before: now.subtracting(Time.day))
    if let open = last(kind), sessions[open].end > now { sessions[open].end = max(sessions[open].begin, now) }
    sessions.append(Session(kind: kind, begin: now, end: now.adding(max(0, budget))))
    lastBegin[kind] = now
    if sessions.count > Self.mostSessions { join() }
  }

  /// The last window of a kind ends; what it did not use is given back.
  ///
  /// - Parameter extends: it may have taken longer than its budget; that is charged.
  package mutating func end(_ kind: Kind, _ quotas: [Quota], extends: Bool = false, at now: Instant) {
    if let open = last(kind), extends || sessions[open].end > now {
      sessions[open].end = max(sessions[open].begin, now)
    }
    settle(quotas, at: now)
  }

  /// The host says what a kind used besides time; it counts for the kind's last window.
  package mutating func report(
    _ kind: Kind, cpuTime: Span, bytes: Int64, _ quotas: [Quota], at now: Instant
  ) {
    if last(kind) == nil {
      var session = Session(kind: kind, begin: now, end: now)
      session.windows = 0
      sessions.append(session)
    }
    guard let place = last(kind) else { return }
    sessions[place].cpuTime = sessions[place].cpuTime.adding(max(0, cpuTime))
    sessions[place].bytes = sessions[place].bytes.adding(max(0, bytes))
    settle(quotas, at: now)
  }

  /// Another profile: what its quotas say of the past.
  package mutating func judge(_ quotas: [Quota], at now: Instant) {
    (spent, settledAt) = (0, .min)
    settle(quotas, at: now)
  }

  /// The clock was another: all that was noted moves with it.
  package mutating func shift(by span: Span) {
    for place in sessions.indices {
      sessions[place].begin = sessions[place].begin.adding(span)
      sessions[place].end = sessions[place].end.adding(span)
    }
    for kind in Kind.allCases { lastBegin[kind] = lastBegin[kind].map { $0.adding(span) } }
    settledAt = settledAt.adding(span)
  }

  /// Brings the books into the present of a clock that may have been set back: nothing lies in the future.
  package mutating func mend(at now: Instant) {
    for place in sessions.indices where sessions[place].end > now {
      let length = sessions[place].begin > now ? sessions[place].end.subtracting(sessions[place].begin) : 0
      sessions[place].begin = min(sessions[place].begin, now.subtracting(length))
      sessions[place].end = now
    }
    for kind in Kind.allCases { if let begin = lastBegin[kind], begin > now { lastBegin[kind] = now } }
    settledAt = min(settledAt, now)
  }

  /// Notes what is spent: use only grows while a window is open, so its end and the present are all that matters.
  private mutating func settle(_ quotas: [Quota], at now: Instant) {
    for kind in Kind.allCases {
      if let place = last(kind), sessions[place].end < now && sessions[place].end > settledAt {
        note(quotas, kind, at: sessions[place].end)
      }
      note(quotas, kind, at: now)
    }
    settledAt = max(settledAt, now)
  }

  private mutating func note(_ quotas: [Quota], _ kind: Kind, at now: Instant) {
    for number in 0..<quotas.count * 2 where quotas[number / 2].kind == kind {
      let bit = Self.bit(number / 2, number % 2 != 0)
      if isSpent(quotas[number / 2], number / 2, number % 2 != 0, at: now) { spent |= bit } else { spent &= ~bit }
    }
  }

  private static func bit(_ index: Int, _ reserve: Bool) -> UInt64 { 1 << UInt64(index * 2 + (reserve ? 1 : 0)) }

  private func last(_ kind: Kind) -> Int? {
    var place = sessions.count - 1
    while place >= 0 && sessions[place].kind != kind { place -= 1 }
    return place < 0 ? nil : place
  }

  private mutating func forget(before limit: Instant) {
    var kept = 0
    for place in sessions.indices where sessions[place].end > limit {
      sessions[kept] = sessions[place]
      kept += 1
    }
    sessions.removeLast(sessions.count - kept)
  }

  /// Puts two neighbours together: as long as both, ending with the later one.
  private mutating func join() {
    var best: (earlier: Int, later: Int, gap: Span)?
    for kind in Kind.allCases {
      var earlier: Int?
      for later in sessions.indices where sessions[later].kind == kind {
        if let earlier {
          let gap = sessions[later].begin.subtracting(sessions[earlier].end)
          if gap < best?.gap ?? .max { best = (earlier, later, gap) }
        }
        earlier = later
      }
    }
    guard let (earlier, later, gap) = best else { return }
    let old = sessions[earlier]
    sessions[later].begin = old.begin.adding(max(0, gap))
    sessions[later].cpuTime = sessions[later].cpuTime.adding(old.cpuTime)
    sessions[later].bytes = sessions[later].bytes.adding(old.bytes)
    sessions[later].windows = sessions[later].windows.adding(old.windows)
    sessions[earlier].end = .min
    forget(before: .min)
  }

  // MARK: Reading

  /// What was used of a quota in the period up to now.
  package func used(_ quota: Quota, at now: Instant) -> Int64 { used(quota, at: now, until: now) }

  /// What was used and what an open window may still use.
  private func charged(_ quota: Quota, at now: Instant) -> Int64 { used(quota, at: now, until: Time.never) }

  private func used(_ quota: Quota, at now: Instant, until last: Instant) -> Int64 {
    let from = now.subtracting(quota.period)
    var sum: Int64 = 0
    for session in sessions where session.kind == quota.kind && session.end > from {
      sum = sum.adding(Self.amount(session, quota.measure, from, last))
    }
    return sum
  }

  private static func amount(_ session: Session, _ measure: Measure, _ from: Instant, _ last: Instant) -> Int64 {
    switch measure {
    case .windowTime: max(0, min(session.end, last).subtracting(max(session.begin, from)))
    case .cpuTime: session.cpuTime
    case .windows: session.windows
    case .bytes: session.bytes
    }
  }

  private func isSpent(_ quota: Quota, _ index: Int, _ reserve: Bool, at now: Instant) -> Bool {
    let free = quota.limit(withReserve: reserve).subtracting(used(quota, at: now))
    return free <= 0 || (free < quota.headroom && spent & Self.bit(index, reserve) != 0)
  }

  /// What the books say of a kind at an instant.
  package struct Balance: Sendable {
    package var isSpent = false
    /// What was used of the fullest quota, per mille of its limit.
    package var used: Int64 = 0
    /// The window time that is left; `Time.never`: no limit.
    package var free: Span = Time.never
    /// When no quota is spent any more, if nothing else is used.
    package var freeAt: Instant

    init(at now: Instant) { freeAt = now }
  }

  /// What the books say of a kind at an instant.
  ///
  /// - Parameter withReserve: for a task that never ran.
  package func balance(_ kind: Kind, _ quotas: [Quota], withReserve: Bool = false, at now: Instant) -> Balance {
    var present = self
    present.settle(quotas, at: now)
    var balance = Balance(at: now)
    for index in quotas.indices where quotas[index].kind == kind {
      let quota = quotas[index]
      let limit = quota.limit(withReserve: withReserve)
      balance.used = max(balance.used, used(quota, at: now).perMille(of: limit))
      if quota.measure == .windowTime {
        balance.free = min(balance.free, max(0, limit.subtracting(charged(quota, at: now))))
      }
      if present.isSpent(quota, index, withReserve, at: now) {
        balance.isSpent = true
        balance.freeAt = max(balance.freeAt, freeAt(quota, limit.subtracting(quota.headroom), at: now))
      }
    }
    return balance
  }

  /// When a window of a kind has as much room as its quotas have to have free; now if it has.
  package func roomAt(_ kind: Kind, _ quotas: [Quota], at now: Instant) -> Instant {
    var roomAt = now
    for quota in quotas where quota.kind == kind && quota.measure == .windowTime {
      roomAt = max(roomAt, freeAt(quota, quota.limit.subtracting(quota.headroom), at: now))
    }
    return roomAt
  }

  /// When what counts for a quota is down to a target.
  private func freeAt(_ quota: Quota, _ target: Int64, at now: Instant) -> Instant {
    let from = now.subtracting(quota.period)
    var excess = charged(quota, at: now).subtracting(target)
    for session in sessions where session.kind == quota.kind && session.end > from {
      if excess <= 0 { break }
      let amount = Self.amount(session, quota.measure, from, Time.never)
      if amount >= excess {
        let leaves = quota.measure == .windowTime ? max(session.begin, from).adding(excess) : session.end
        return max(now, leaves.adding(quota.period))
      }
      excess = excess.subtracting(amount)
    }
    return now
  }

  // MARK: Storing

  private static let headSize = 4
  private static let rowSize = 6

  /// The books as numbers, for traces and stores.
  package var numbers: [Int64] {
    var numbers = [
      Int64(bitPattern: spent), settledAt, lastBegin.refresh ?? Time.never, lastBegin.processing ?? Time.never,
    ]
    for row in sessions {
      numbers += [Int64(row.kind.rawValue), row.begin, row.end, row.cpuTime, row.bytes, row.windows]
    }
    return numbers
  }

  /// Reads what `numbers` gave.
  ///
  /// - Throws: `invalidArgument` for what it never gives.
  package init(numbers: [Int64]) throws(SeleneError) {
    let rows = (numbers.count - Self.headSize) / Self.rowSize
    guard
      numbers.count == Self.headSize + rows * Self.rowSize && numbers.count >= Self.headSize
        && rows <= Self.mostSessions
    else {
      throw SeleneError(
        .invalidArgument, "ledger", "\(numbers.count) numbers, expected are 4 and six for each of at most 256 windows")
    }
    spent = UInt64(bitPattern: numbers[0])
    settledAt = numbers[1]
    lastBegin.refresh = numbers[2] == Time.never ? nil : numbers[2]
    lastBegin.processing = numbers[3] == Time.never ? nil : numbers[3]
    var place = Self.headSize
    while place < numbers.count {
      guard let kind = UInt8(exactly: numbers[place]).flatMap(Kind.init), numbers[place + 1] <= numbers[place + 2],
        numbers[place + 3] >= 0, numbers[place + 4] >= 0, numbers[place + 5] >= 0
      else {
        throw SeleneError(.invalidArgument, "ledger", "row \((place - Self.headSize) / Self.rowSize) is not a window")
      }
      var session = Session(kind: kind, begin: numbers[place + 1], end: numbers[place + 2])
      (session.cpuTime, session.bytes, session.windows) = (numbers[place + 3], numbers[place + 4], numbers[place + 5])
      sessions.append(session)
      place += Self.rowSize
    }
  }
}

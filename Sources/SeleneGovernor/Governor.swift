// Whether a kind of background work deserves a window now (G3): one pure function of what the governor knows.

import SeleneCore

/// All that a decision depends on besides the time.
package struct Governor: Sendable {
  package var profile: Profile
  package var signals = Signals()
  package var ledger = Ledger()
  package var prediction = UsePrediction()

  package init(_ profile: Profile = BuiltInProfile.open.profile) { self.profile = profile }

  package func offset(at now: Instant) -> Int64 { signals.value(.utcOffset, at: now) }

  /// Grants or refuses a window: any veto refuses, else the weighted score must reach the threshold.
  ///
  /// - Parameter neverRan: whether it is for a task that never ran, which may use the reserve of the budgets.
  package func decide(_ kind: Kind, neverRan: Bool = false, at now: Instant) -> Decision {
    var decision = Decision(kind, at: now)
    decision.threshold = profile.threshold
    let balance = ledger.balance(kind, profile.quotas, withReserve: neverRan, at: now)
    var (weights, scores): (Int64, Int64) = (0, 0)
    // A refusal ends when its last veto can, and not before the first weight can be better.
    var (vetoesEnd, scoresGrow) = (now, Time.never)
    var number: UInt8 = 0
    while let factor = Factor(rawValue: number + 1) {
      number += 1
      let rule = profile.rule(factor, kind)
      guard rule.mode != .ignored else { continue }
      let finding = examine(factor, rule, kind, balance, at: now)
      decision.findings.append(finding)
      switch finding.verdict {
      case .passed: break
      case .vetoed:
        decision.isGranted = false
        vetoesEnd = max(vetoesEnd, finding.clearsAt)
      case .weighed:
        weights += rule.weight
        scores += rule.weight * finding.score
        if finding.score < 1000 { scoresGrow = min(scoresGrow, finding.clearsAt) }
      }
      if factor == .budget { decision.longestWindow = balance.free }
    }
    if weights > 0 {
      decision.score = scores / weights
      if scores < profile.threshold * weights {
        decision.isGranted = false
        vetoesEnd = max(vetoesEnd, scoresGrow)
      }
    }
    decision.askAgainAt = decision.isGranted ? now : vetoesEnd
    return decision
  }

  /// Calls a body with each signal that a decision about some kinds looks at.
  ///
  /// - Parameter onlyStopping: only those that can stop runs.
  package func forEachSignal(_ kinds: KindSet, onlyStopping: Bool, _ body: (Signal) -> Void) {
    var number: UInt8 = 0
    while let factor = Factor(rawValue: number + 1) {
      number += 1
      let counts = Kind.allCases.contains { kind in
        let rule = profile.rule(factor, kind)
        return kinds.contains(kind) && (onlyStopping ? rule.preempts : rule.mode != .ignored)
      }
      guard counts else { continue }
      if let signal = factor.signal { body(signal) }
      if factor == .battery { body(.discharging) }
      if factor == .usePrediction { body(.utcOffset) }
    }
  }

  /// The vetoes that stand against a kind and stop its runs when they are new (G6); one bit for each factor.
  package func standing(_ kind: Kind, at now: Instant) -> UInt32 {
    var standing: UInt32 = 0
    guard profile.preempts else { return standing }
    let balance = Ledger.Balance(at: now)
    var number: UInt8 = 0
    while let factor = Factor(rawValue: number + 1), factor.signal != nil {
      number += 1
      let rule = profile.rule(factor, kind)
      if rule.preempts && examine(factor, rule, kind, balance, at: now).verdict == .vetoed {
        standing |= 1 << UInt32(number)
      }
    }
    return standing
  }

  // MARK: One factor

  private func examine(
    _ factor: Factor, _ rule: Rule, _ kind: Kind, _ balance: Ledger.Balance, at now: Instant
  ) -> Finding {
    let seen = observe(factor, rule, kind, balance, at: now)
    let isWeight = rule.mode == .weight
    let score = !isWeight ? 0 : seen.observed.map { factor.score($0, rule.required) } ?? Self.scoreOfUnknown(factor)
    let isMet = factor == .budget ? !balance.isSpent : seen.observed.map { factor.isMet($0, rule.required) } ?? true
    let isWell = isWeight ? score >= 1000 : isMet
    // What the books say of a weight grows better as time passes, with no instant of its own.
    let changesAt = seen.changesAt > now ? seen.changesAt : now.adding(Time.minute)
    return Finding(
      factor: factor, verdict: isWeight ? .weighed : isMet ? .passed : .vetoed, origin: seen.origin,
      observed: seen.observed ?? 0, required: rule.required, score: score, weight: rule.weight,
      clearsAt: isWell ? now : changesAt, preempts: rule.preempts)
  }

  /// What is not in the books cannot speak against a window; of habits it says nothing at all.
  private static func scoreOfUnknown(_ factor: Factor) -> Int64 { factor == .usePrediction ? 500 : 1000 }

  private typealias Observation = (observed: Int64?, origin: Origin, changesAt: Instant)

  private func observe(
    _ factor: Factor, _ rule: Rule, _ kind: Kind, _ balance: Ledger.Balance, at now: Instant
  ) -> Observation {
    switch factor {
    case .budget: return (balance.used, .books, balance.freeAt)
    case .rate:
      guard let last = ledger.lastBegin[kind] else { return (nil, .unknown, now) }
      return (now.subtracting(last), .books, last.adding(rule.required))
    case .recentUse:
      guard let last = prediction.lastUse else { return (nil, .unknown, now) }
      return (max(0, now.subtracting(last)), .books, Time.never)
    case .usePrediction:
      let outlook = prediction.outlook(at: now, offset: offset(at: now))
      guard outlook.isKnown else { return (nil, .unknown, Time.never) }
      let score = outlook.score(kind, at: now)
      return (score, .books, nextHour(after: now, outlook) { outlook.score(kind, at: $0) > score })
    default: break
    }
    guard let signal = factor.signal else { return (nil, .unknown, Time.never) }
    let observed = look(signal, at: now)
    // A battery that is not being emptied is as good as full.
    if factor == .battery {
      let discharging = look(.discharging, at: now)
      if discharging.value == 0 {
        return (Signal.batteryLevel.unknownMeans, discharging.origin, discharging.changesAt)
      }
      return (observed.value, observed.origin, min(observed.changesAt, discharging.changesAt))
    }
    return (observed.value, observed.origin, observed.changesAt)
  }

  /// A signal, and when it may be another without anybody saying so.
  private func look(_ signal: Signal, at now: Instant) -> (value: Int64, origin: Origin, changesAt: Instant) {
    let reading = signals.reading(signal, at: now)
    let isPolled = reading.source == .probe && reading.until == Time.never && signal.lookAgain > 0
    return (
      reading.value, Origin(rawValue: reading.source.rawValue) ?? .unknown,
      isPolled ? now.adding(signal.lookAgain) : reading.until
    )
  }

  /// The first full hour of the next day of which something holds.
  private func nextHour(
    after now: Instant, _ outlook: UsePrediction.Outlook, where holds: (Instant) -> Bool
  ) -> Instant {
    var begin = UsePrediction.beginOfHour(now, offset: outlook.offset)
    for _ in 0..<UsePrediction.hours {
      begin = begin.adding(Time.hour)
      if holds(begin) { return begin }
    }
    return Time.never
  }

  // MARK: Forecast

  package static let mostForecast = 64
  private static let forecastHorizon = 14 * 24

  /// The likely next windows, hour by hour: those in which a window would be granted if nothing but the time changed.
  ///
  /// - Returns: none while a veto stands that only a signal can lift; at most `mostForecast`.
  package func forecast(_ kind: Kind, _ count: Int, at now: Instant) -> [ForecastWindow] {
    let decision = decide(kind, at: now)
    let outlook = prediction.outlook(at: now, offset: offset(at: now))
    var vetoesEnd = now
    var (weights, scores): (Int64, Int64) = (0, 0)
    for finding in decision.findings {
      if finding.verdict == .vetoed && finding.factor != .usePrediction { vetoesEnd = max(vetoesEnd, finding.clearsAt) }
      if finding.verdict == .weighed && finding.factor != .usePrediction {
        weights += finding.weight
        scores += finding.weight * finding.score
      }
    }
    guard vetoesEnd != Time.never else { return [] }
    let rule = profile.rule(.usePrediction, kind)
    if rule.mode == .weight { weights += rule.weight }

    var windows: [ForecastWindow] = []
    var begin = vetoesEnd
    var left = Self.forecastHorizon
    while left > 0 && windows.count < min(count, Self.mostForecast) {
      left -= 1
      let end = UsePrediction.beginOfHour(begin, offset: outlook.offset).adding(Time.hour)
      let score = outlook.score(kind, at: begin)
      let isOpen =
        switch rule.mode {
        case .ignored: scores >= profile.threshold * weights
        case .veto: scores >= profile.threshold * weights && score >= rule.required
        case .weight: scores + rule.weight * score >= profile.threshold * weights
        }
      if isOpen {
        let used = outlook.isKnown ? outlook.probability(at: begin) : 500
        windows.append(ForecastWindow(begin: begin, end: end, probability: kind == .refresh ? used : 1000 - used))
      }
      begin = end
    }
    return windows
  }
}

// Section GOVERNOR of the header: profile, decisions, ledger, habits.

import CSelene
import CService
import SeleneCore
import SeleneEngine
import SeleneGovernor

// MARK: Profile

extension selene_profile: SizedStruct {
  private static let mostRows: UInt64 = 1024

  /// The fields for the engine.
  fileprivate func draft() throws(SeleneError) -> ProfileDraft {
    var draft = ProfileDraft()
    draft.base = base
    draft.threshold = Int64(threshold)
    for index in 0..<(try Self.count(rule_count, "rule_count")) {
      let rule = try require(rules, "rules")[index]
      guard rule.flags & ~UInt32(SELENE_RULE_PREEMPTS) == 0 else {
        throw .range("rules.flags", rule.flags, 0, 1, .bits, "0 or 1 (SELENE_RULE_PREEMPTS)")
      }
      draft.rules.append(
        RuleDraft(
          factor: rule.factor, kinds: rule.kinds, mode: rule.mode, preempts: rule.flags != 0, weight: rule.weight,
          required: rule.required))
    }
    for index in 0..<(try Self.count(quota_count, "quota_count")) {
      let quota = try require(quotas, "quotas")[index]
      draft.quotas.append(
        QuotaDraft(kinds: quota.kinds, measure: quota.measure, limit: quota.limit, period: quota.period))
    }
    return draft
  }

  private static func count(_ count: UInt64, _ field: Literal) throws(SeleneError) -> Int {
    guard count <= mostRows else {
      throw .range(field, count, 0, Int64(mostRows))
    }
    return Int(count)
  }
}

@_cdecl("selene_governor_set_profile") @implementation
public func selene_governor_set_profile(
  _ scheduler: selene_scheduler, _ profile: UnsafePointer<selene_profile>!
) -> selene_status {
  attempt { () throws(SeleneError) in
    let given = try (profile as UnsafePointer<selene_profile>?).map { profile throws(SeleneError) in
      try read(profile, "profile")
    }
    let draft = try (given ?? selene_profile.initial).draft()
    try Scheduler.enter(scheduler) { (scheduler, moment) throws(SeleneError) in
      try scheduler.setProfile(try Profile(draft, scheduler.units), at: moment)
    }
  }
}

// MARK: Decisions

extension Decision {
  fileprivate func block() -> UnsafeMutablePointer<selene_decision> {
    Block.make { block in
      var decision = selene_decision()
      decision.struct_size = UInt32(MemoryLayout<selene_decision>.size)
      decision.kind = Int32(kind.rawValue)
      decision.granted = isGranted ? 1 : 0
      decision.at = at
      decision.score = score
      decision.threshold = threshold
      decision.longest_window = longestWindow
      decision.ask_again_at = askAgainAt
      decision.finding_count = UInt64(findings.count)
      decision.findings = block.array(findings.count) { index, _ in
        let finding = findings[index]
        return selene_finding(
          factor: Int32(finding.factor.rawValue), verdict: Int32(finding.verdict.rawValue),
          source: Int32(finding.origin.rawValue), flags: finding.preempts ? UInt32(SELENE_RULE_PREEMPTS) : 0,
          observed: finding.observed, required: finding.required, score: finding.score, weight: finding.weight,
          clears_at: finding.clearsAt)
      }
      return decision
    }
  }
}

@_cdecl("selene_governor_ask") @implementation
public func selene_governor_ask(
  _ scheduler: selene_scheduler, _ kind: Int32, _ flags: UInt32,
  _ out_decision: UnsafeMutablePointer<UnsafeMutablePointer<selene_decision>?>!
) -> selene_status {
  attempt(scheduler, SERVICE_GOVERNOR_ASK, word(kind), word(flags), word(out_decision)) { () throws(SeleneError) in
    let out = try require(out_decision, "out_decision")
    guard flags & ~UInt32(SELENE_ASK_NEVER_RAN) == 0 else {
      throw .range("flags", flags, 0, 1, .bits, "0 or 1 (SELENE_ASK_NEVER_RAN)")
    }
    out.pointee = try Scheduler.ask(scheduler, kind, neverRan: flags != 0).block()
  }
}

@_cdecl("selene_governor_last") @implementation
public func selene_governor_last(
  _ scheduler: selene_scheduler, _ kind: Int32,
  _ out_decision: UnsafeMutablePointer<UnsafeMutablePointer<selene_decision>?>!
) -> selene_status {
  attempt(scheduler, SERVICE_GOVERNOR_LAST, word(kind), word(out_decision)) { () throws(SeleneError) in
    let out = try require(out_decision, "out_decision")
    out.pointee = try Scheduler.enter(scheduler) { (scheduler, _) throws(SeleneError) in
      try scheduler.lastDecision(kind)
    }.block()
  }
}

@_cdecl("selene_governor_forecast") @implementation
public func selene_governor_forecast(
  _ scheduler: selene_scheduler, _ kind: Int32, _ windows: UnsafeMutablePointer<selene_forecast>!,
  _ capacity: UInt64, _ out_count: UnsafeMutablePointer<UInt64>!
) -> selene_status {
  attempt { () throws(SeleneError) in
    let out = try require(out_count, "out_count")
    let count = Int(min(capacity, UInt64(Governor.mostForecast)))
    let room = count == 0 ? nil : try require(windows, "windows")
    let forecast = try Scheduler.forecast(scheduler, kind, count)
    for (index, window) in forecast.enumerated() {
      room?[index] = selene_forecast(begins_at: window.begin, ends_at: window.end, probability: window.probability)
    }
    out.pointee = UInt64(forecast.count)
  }
}

// MARK: Ledger and habits

extension selene_balance: SizedStruct {
  fileprivate init(_ balance: Ledger.Balance, lastBegin: Instant?) {
    self.init()
    is_spent = balance.isSpent ? 1 : 0
    used = Int32(clamping: balance.used)
    free = balance.free
    free_at = balance.freeAt
    last_begin = lastBegin ?? Time.never
  }
}

@_cdecl("selene_ledger_get") @implementation
public func selene_ledger_get(
  _ scheduler: selene_scheduler, _ kind: Int32, _ out_balance: UnsafeMutablePointer<selene_balance>!
) -> selene_status {
  attempt(scheduler, SERVICE_LEDGER_GET, word(kind), word(out_balance)) { () throws(SeleneError) in
    let out = try require(out_balance, "out_balance")
    let size = try structSize(out, "out_balance")
    let found = try Scheduler.enter(scheduler) { (scheduler, moment) throws(SeleneError) in
      try scheduler.balance(kind, at: moment)
    }
    write(selene_balance(found.balance, lastBegin: found.lastBegin), to: out, size: size)
  }
}

@_cdecl("selene_ledger_report") @implementation
public func selene_ledger_report(
  _ scheduler: selene_scheduler, _ kind: Int32, _ cpu_time: Int64, _ bytes: Int64
) -> selene_status {
  attempt(scheduler, SERVICE_LEDGER_REPORT, word(kind), word(cpu_time), word(bytes)) { () throws(SeleneError) in
    try Scheduler.enter(scheduler) { (scheduler, moment) throws(SeleneError) in
      try scheduler.reportUse(of: kind, cpuTime: cpu_time, bytes: bytes, at: moment)
    }
  }
}

@_cdecl("selene_use_report") @implementation
public func selene_use_report(_ scheduler: selene_scheduler, _ began_at: Int64, _ ended_at: Int64) -> selene_status {
  attempt(scheduler, SERVICE_USE_REPORT, word(began_at), word(ended_at)) { () throws(SeleneError) in
    try Scheduler.enter(scheduler) { (scheduler, moment) throws(SeleneError) in
      try scheduler.reportUse(from: began_at, to: ended_at, at: moment)
    }
  }
}

// Section WINDOW AND CYCLE of the header.

import CSelene
import CService
import SeleneCore
import SeleneEngine

extension selene_window: SizedStruct {
  /// The fields for the engine.
  fileprivate func checked(for scheduler: Scheduler) throws(SeleneError) -> Window {
    var draft = WindowDraft()
    draft.kinds = kinds
    draft.lanes = lanes
    draft.budget = budget
    draft.reserve = reserve
    draft.strictFit = flags & UInt32(SELENE_WINDOW_STRICT_FIT) != 0
    draft.isRolling = flags & UInt32(SELENE_WINDOW_FROZEN) == 0
    draft.isInline = flags & UInt32(SELENE_WINDOW_INLINE) != 0
    draft.hasLanes = flags & UInt32(SELENE_WINDOW_LANES) != 0
    draft.task = try borrow(task, "task")
    return try scheduler.window(draft)
  }
}

/// A host's window, or all defaults.
///
/// - Parameter scheduler: the one that it is for; an owner checks again what a connection has sent it.
func window(
  _ pointer: UnsafePointer<selene_window>?, for scheduler: Scheduler
) throws(SeleneError) -> Window {
  guard let pointer else { return try selene_window.initial.checked(for: scheduler) }
  let known = UInt32(
    SELENE_WINDOW_STRICT_FIT | SELENE_WINDOW_INLINE | SELENE_WINDOW_FROZEN | SELENE_WINDOW_LANES)
  let names: Literal = "0, or a sum of SELENE_WINDOW_STRICT_FIT (1), _INLINE (2), _FROZEN (4), _LANES (8)"
  return try read(pointer, flags: known, named: names, "window").checked(for: scheduler)
}

@_cdecl("selene_cycle_begin") @implementation
public func selene_cycle_begin(
  _ scheduler: selene_scheduler, _ window: UnsafePointer<selene_window>!,
  _ out_cycle: UnsafeMutablePointer<selene_cycle>!
) -> selene_status {
  attempt { () throws(SeleneError) in
    let out = try require(out_cycle, "out_cycle")
    out.pointee = try Scheduler.enter(try worker(at: scheduler), probing: .asked) {
      (scheduler, moment) throws(SeleneError) in
      try scheduler.begin(try SeleneABI.window(window, for: scheduler), at: moment).handle
    }
  }
}

@_cdecl("selene_cycle_next") @implementation
public func selene_cycle_next(
  _ cycle: selene_cycle, _ out_step: UnsafeMutablePointer<Int32>!, _ out_run: UnsafeMutablePointer<selene_run_info>!,
  _ out_wake_at: UnsafeMutablePointer<Int64>!
) -> selene_status {
  attempt { () throws(SeleneError) in
    let (outStep, outRun) = (try require(out_step, "out_step"), try require(out_run, "out_run"))
    let size = try structSize(outRun, "out_run")
    try Scheduler.enter(cycle: cycle) { (scheduler, cycle, moment) throws(SeleneError) in
      // Under the lock, where no other thread releases the run.
      try scheduler.next(cycle, at: moment).write(outStep, outRun, size: size, out_wake_at)
    }
  }
}

extension Step {
  /// Tells a host. The caller holds the scheduler's lock.
  @inline(__always)
  func write(
    _ outStep: UnsafeMutablePointer<Int32>, _ outRun: UnsafeMutablePointer<selene_run_info>, size: Int,
    _ outWakeAt: UnsafeMutablePointer<Int64>?
  ) {
    switch self {
    case .run(let run):
      if size == MemoryLayout<selene_run_info>.size {
        outRun.pointee.describe(run)
      } else {
        SeleneABI.write(selene_run_info(run), to: outRun, size: size)
      }
      outStep.pointee = Int32(SELENE_STEP_RUN)
    case .wait(let until):
      outWakeAt?.pointee = until
      outStep.pointee = Int32(SELENE_STEP_WAIT)
    case .done:
      outStep.pointee = Int32(SELENE_STEP_DONE)
    }
  }
}

@_cdecl("selene_cycle_end") @implementation
public func selene_cycle_end(
  _ cycle: selene_cycle, _ out_report: UnsafeMutablePointer<UnsafeMutablePointer<selene_report>?>!
) -> selene_status {
  attempt { () throws(SeleneError) in
    let report = try Scheduler.enter(cycle: cycle) { (scheduler, cycle, moment) throws(SeleneError) in
      try scheduler.end(cycle, at: moment)
    }
    out_report?.pointee = report.block()
  }
}

@_cdecl("selene_cycle_wait") @implementation
public func selene_cycle_wait(
  _ cycle: selene_cycle, _ timeout: Int64,
  _ out_report: UnsafeMutablePointer<UnsafeMutablePointer<selene_report>?>!,
  _ out_wake_at: UnsafeMutablePointer<Int64>!
) -> selene_status {
  attempt { () throws(SeleneError) in
    let out = try require(out_report, "out_report")
    let timeout = try checkedTimeout(timeout)
    let (report, wakeAt) = try Scheduler.enter(cycle: cycle, isQuestion: true) {
      (scheduler, cycle, moment) throws(SeleneError) in
      try scheduler.await(cycle, timeout: timeout, at: moment)
    }
    out.pointee = report?.block()
    if report == nil { out_wake_at?.pointee = wakeAt }
  }
}

@_cdecl("selene_cycle_drain") @implementation
public func selene_cycle_drain(_ cycle: selene_cycle, _ grace: Int64) -> selene_status {
  attempt { () throws(SeleneError) in
    try Scheduler.enter(cycle: cycle) { (scheduler, cycle, moment) throws(SeleneError) in
      try scheduler.drain(cycle, grace: grace, at: moment)
    }
  }
}

@_cdecl("selene_cycle_descriptor") @implementation
public func selene_cycle_descriptor(_ cycle: selene_cycle, _ out_fd: UnsafeMutablePointer<Int32>!) -> selene_status {
  attempt { () throws(SeleneError) in
    let out = try require(out_fd, "out_fd")
    out.pointee = try Scheduler.enter(cycle: cycle) { (scheduler, cycle, _) throws(SeleneError) in
      try scheduler.descriptor(of: cycle)
    }
  }
}

@_cdecl("selene_cycle_run") @implementation
public func selene_cycle_run(
  _ scheduler: selene_scheduler, _ window: UnsafePointer<selene_window>!,
  _ out_report: UnsafeMutablePointer<UnsafeMutablePointer<selene_report>?>!
) -> selene_status {
  attempt { () throws(SeleneError) in
    let (engine, cycle) = try Scheduler.enter(try worker(at: scheduler), probing: .asked) {
      (scheduler, moment) throws(SeleneError) in
      (scheduler, try scheduler.start(try SeleneABI.window(window, for: scheduler), at: moment))
    }
    let report = try engine.finish(cycle)
    out_report?.pointee = report.block()
  }
}

@_cdecl("selene_cycle_run_async") @implementation
public func selene_cycle_run_async(
  _ scheduler: selene_scheduler, _ window: UnsafePointer<selene_window>!, _ report: selene_report_fn!,
  _ context: UnsafeMutableRawPointer!, _ destroy: selene_destroy_fn!, _ out_cycle: UnsafeMutablePointer<selene_cycle>!,
  _ out_deadline: UnsafeMutablePointer<Int64>!
) -> selene_status {
  attempt(ending: context, with: destroy) { () throws(SeleneError) in
    let (report, destroy, context) = (
      report as selene_report_fn?, destroy as selene_destroy_fn?, context as UnsafeMutableRawPointer?
    )
    let (cycle, deadline) = try Scheduler.enter(try worker(at: scheduler), probing: .asked) {
      (scheduler, moment) throws(SeleneError) in
      let cycle = try scheduler.startAsync(
        try SeleneABI.window(window, for: scheduler),
        receive: report.map { report in
          { made in
            let block = made.block()
            report(block, context)
            block.deallocate()
          }
        },
        destroy: destroy.map { destroy in { destroy(context) } }, at: moment)
      return (cycle.handle, cycle.deadline)
    }
    out_cycle?.pointee = cycle
    out_deadline?.pointee = deadline
  }
}

@_cdecl("selene_cycle_plan") @implementation
public func selene_cycle_plan(
  _ scheduler: selene_scheduler, _ window: UnsafePointer<selene_window>!,
  _ out_plan: UnsafeMutablePointer<UnsafeMutablePointer<selene_plan>?>!
) -> selene_status {
  attempt(scheduler, SERVICE_CYCLE_PLAN, word(window), word(out_plan)) { () throws(SeleneError) in
    let out = try require(out_plan, "out_plan")
    let plan = try Scheduler.enter(scheduler, probing: .asked, isQuestion: true) {
      (scheduler, moment) throws(SeleneError) in
      try scheduler.plan(try SeleneABI.window(window, for: scheduler), at: moment)
    }
    out.pointee = plan.block()
  }
}

extension Plan {
  func block() -> UnsafeMutablePointer<selene_plan> {
    Block.make { block in
      var made = selene_plan()
      made.struct_size = UInt32(MemoryLayout<selene_plan>.size)
      made.eligible = UInt64(eligible)
      made.run_count = UInt64(entries.count)
      made.runs = block.array(entries.count) { index, block in
        let entry = entries[index]
        return selene_plan_run(
          id: block.text(entry.definition.id), score: entry.score, estimate: entry.estimate, starts_at: entry.startsAt)
      }
      return made
    }
  }
}

extension selene_pace {
  init(_ terms: PaceTerms) {
    self.init(
      fresh_since: terms.freshSince, cost: terms.cost, known_runs: UInt32(terms.runs), news_runs: UInt32(terms.news),
      pace: terms.perMille, pace_class: Int32(terms.pace))
  }
}

extension Report {
  func block() -> UnsafeMutablePointer<selene_report> {
    // Several may have it.
    if let given { return service_report_copy(given).assumingMemoryBound(to: selene_report.self) }
    return make()
  }

  private func make() -> UnsafeMutablePointer<selene_report> {
    Block.make { block in
      var report = selene_report()
      report.struct_size = UInt32(MemoryLayout<selene_report>.size)
      report.flags = isStored ? 0 : UInt32(SELENE_REPORT_NOT_STORED)
      report.cycle = cycle
      report.result = isLost ? Int32(SELENE_OUTCOME_FAILED) : tally.result.rawValue
      report.kinds = kinds.rawValue
      report.began_at = time.begin
      report.ended_at = endedAt
      report.deadline = time.deadline
      report.budget = budget
      report.reserve = time.deadline - time.expiresAt
      report.eligible = UInt64(eligible)
      report.did_not_fit = UInt64(didNotFit)
      report.new_data = tally.newData
      report.no_data = tally.noData
      report.failed = tally.failed
      report.abandoned = tally.abandoned
      report.expired = tally.expired
      report.stopped = tally.stopped
      report.run_count = UInt64(runs.count)
      report.runs = block.array(runs.count) { index, block in
        let run = runs[index]
        return selene_report_run(
          id: block.text(run.definition.id), run: run.token, outcome: run.finalOutcome.rawValue,
          stop_reason: run.stopReason.rawValue, attempt: run.attempt, priority: Int32(run.definition.priority),
          score: run.score, estimate: run.estimate, started_at: run.startedAt, response_time: run.responseTime)
      }
      if !paces.isEmpty { report.paces = block.array(paces.count) { index, _ in selene_pace(paces[index]) } }
      return report
    }
  }
}

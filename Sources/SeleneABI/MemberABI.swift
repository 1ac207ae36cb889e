// What processes that are connected do with handlers, cycles and runs: the owner's side (L5 to L9).

import CSelene
import CService
import SeleneCore
import SeleneEngine

/// The arguments of an operation, as the server has them.
private struct Words {
  let words: UnsafePointer<UInt64>

  subscript(place: Int) -> UInt64 { words[place] }
  func number(_ place: Int) -> Int64 { Int64(bitPattern: words[place]) }
  func number32(_ place: Int) -> Int32 { Int32(truncatingIfNeeded: words[place]) }
  func pointer<T>(_ place: Int) -> UnsafeMutablePointer<T>? { UnsafeMutablePointer(bitPattern: UInt(words[place])) }
  func text(_ place: Int) -> (UnsafePointer<CChar>?, Int64) {
    (UnsafePointer(bitPattern: UInt(words[place])), number(place + 1))
  }
  /// The window that is the first of them.
  func window(_ scheduler: Scheduler) throws(SeleneError) -> Window {
    try SeleneABI.window(pointer(0).map { UnsafePointer($0) }, for: scheduler)
  }
  /// That an output is wanted where its function has no use without it.
  func require(_ place: Int, _ field: Literal) throws(SeleneError) { if words[place] == 0 { throw .null(field) } }
  func out<T>(_ place: Int, _ value: T) { (pointer(place) as UnsafeMutablePointer<T>?)?.pointee = value }
}

extension service_crews {
  /// What a server lets its clients do.
  static var ofScheduler: service_crews {
    service_crews(
      join: { scheduler, name, length, process, member in
        attempt { () throws(SeleneError) in
          let name = try borrow(name, length, "pool")
          member.pointee = try Scheduler.enter(scheduler) { (scheduler, _) throws(SeleneError) in
            try scheduler.join(name, process: process)
          }
        }
      },
      leave: { scheduler, member, how in
        _ = attempt { () throws(SeleneError) in
          try Scheduler.enter(scheduler, member: member) { (scheduler, member, moment) throws(SeleneError) in
            scheduler.leave(member, Leaving(rawValue: how) ?? .died, at: moment)
          }
        }
      },
      act: { scheduler, member, operation, words in
        attempt { () throws(SeleneError) in
          try perform(scheduler, member, service_operation(rawValue: operation), Words(words: words))
        }
      },
      census: { scheduler, member, handlers, runs in
        _ = attempt { () throws(SeleneError) in
          try Scheduler.enter(scheduler, member: member, isQuestion: true) {
            (_, member, _) throws(SeleneError) in
            (handlers.pointee, runs.pointee) = (UInt64(member.handlerCount), UInt64(member.openCount))
          }
        }
      },
      hear: { scheduler, member, bell in
        attempt { () throws(SeleneError) in
          try Scheduler.enter(scheduler, member: member, isQuestion: true) {
            (scheduler, member, _) throws(SeleneError) in
            scheduler.listen(member, bell: bell)
          }
        }
      },
      news: { scheduler, bell, each, context in
        _ = attempt { () throws(SeleneError) in
          try Scheduler.enter(scheduler, isQuestion: true) { (scheduler, _) throws(SeleneError) in
            scheduler.fetchNews(bell: bell) { each(context, $0, $1, $2, $3 ? 1 : 0) }
          }
        }
      },
      tick: { scheduler, isAwaiting in
        var delay = Time.second
        isAwaiting.pointee = 0
        _ = attempt { () throws(SeleneError) in
          delay = try Scheduler.enter(scheduler, isQuestion: true) { (scheduler, moment) throws(SeleneError) in
            isAwaiting.pointee = scheduler.isAwaiting ? 1 : 0
            return scheduler.untilDue(at: moment)
          }
        }
        return delay
      },
      changes: { scheduler in
        attempt { () throws(SeleneError) in
          try Scheduler.enter(scheduler, isQuestion: true) { (scheduler, _) throws(SeleneError) in
            try scheduler.refuseToChangeTasks()
          }
        }
      })
  }
}

private func perform(
  _ handle: UInt64, _ number: UInt64, _ operation: service_operation, _ words: Words
) throws(SeleneError) {
  switch operation {
  case SERVICE_HANDLER_REGISTER:
    let name = try borrow(words.text(0).0, words.text(0).1, "name")
    try Scheduler.enter(handle, member: number) { (scheduler, member, _) throws(SeleneError) in
      try scheduler.offer(name, isCalled: words[2] & 1 != 0, by: member)
    }
  case SERVICE_HANDLER_UNREGISTER:
    let name = try borrow(words.text(0).0, words.text(0).1, "name")
    try Scheduler.enter(handle, member: number) { (scheduler, member, _) throws(SeleneError) in
      try scheduler.withdraw(name, by: member)
    }
  case SERVICE_CLIENT_REST:
    try Scheduler.enter(handle, member: number) { (scheduler, member, moment) throws(SeleneError) in
      scheduler.rest(member, at: moment)
    }
  case SERVICE_RUN_ADOPT:
    let adopted = try Scheduler.enter(handle, member: number) { (scheduler, member, moment) throws(SeleneError) in
      try scheduler.adopt(words[0], for: member, at: moment)
    }
    switch adopted {
    case .unknown: words.out(1, Int32(0))
    case .under(let token):
      words.out(1, Int32(1))
      words.out(2, Int64(bitPattern: token))
    case .tooLate: words.out(1, Int32(2))
    }
  case SERVICE_DRIVER_OPEN:
    let draft = try driver(words.pointer(0).map { UnsafePointer($0) })
    try Scheduler.enter(handle, member: number) { (scheduler, member, _) throws(SeleneError) in
      try scheduler.openDriver(draft, hasThread: words[1] & 1 != 0, for: member)
    }
  case SERVICE_DRIVER_STEP:
    try words.require(0, "out_cycle")
    let step = try Scheduler.step(handle, member: number)
    words.out(0, step.cycle)
    words.out(1, Int32(step.lanes))
    words.out(2, step.wakeAt)
    words.out(3, step.delay)
  case SERVICE_DRIVER_STOP:
    try Scheduler.enter(handle, member: number) { (scheduler, member, moment) throws(SeleneError) in
      scheduler.stopDriver(of: member, at: moment)
    }
  case SERVICE_SCHEDULER_NEXT_WAKEUP:
    let (at, now) = try Scheduler.enter(handle, member: number, probing: .asked, isQuestion: true) {
      (scheduler, member, moment) throws(SeleneError) in
      (scheduler.nextWakeup(for: member, at: moment), moment.now)
    }
    words.out(0, at ?? Time.never)
    words.out(1, at.map { $0.subtracting(now) } ?? Time.never)
  case SERVICE_CYCLE_PLAN:
    try words.require(1, "out_plan")
    let plan = try Scheduler.enter(handle, member: number, probing: .asked, isQuestion: true) {
      (scheduler, member, moment) throws(SeleneError) in
      try scheduler.plan(try words.window(scheduler), for: member, at: moment)
    }
    words.out(1, plan.block())
  default:
    if operation.rawValue < SERVICE_RUN_COMPLETE.rawValue {
      try actOnCycle(handle, number, operation, words)
    } else {
      try actOnRun(handle, number, operation, words)
    }
  }
}

private func actOnCycle(
  _ handle: UInt64, _ number: UInt64, _ operation: service_operation, _ words: Words
) throws(SeleneError) {
  switch operation {
  case SERVICE_CYCLE_BEGIN:
    try words.require(1, "out_cycle")
    let cycle = try Scheduler.enter(handle, member: number, probing: .asked) {
      (scheduler, member, moment) throws(SeleneError) in
      try scheduler.begin(try words.window(scheduler), for: member, at: moment).handle
    }
    words.out(1, cycle)
  case SERVICE_CYCLE_CALL:
    try words.require(2, "out_cycle")
    let (cycle, deadline) = try Scheduler.enter(handle, member: number, probing: .asked) {
      (scheduler, member, moment) throws(SeleneError) in
      let cycle = try scheduler.call(try words.window(scheduler), isAsync: words[1] & 1 != 0, for: member, at: moment)
      return (cycle.handle, cycle.time.deadline)
    }
    words.out(2, cycle)
    words.out(3, deadline)
  case SERVICE_CYCLE_NEXT:
    try words.require(2, "out_step")
    try words.require(1, "out_run")
    try Scheduler.enter(handle, member: number) { (scheduler, member, moment) throws(SeleneError) in
      let cycle = try scheduler.cycle(words[0], of: member)
      tell(try scheduler.next(cycle, for: member, at: moment), words, from: 1)
    }
  case SERVICE_CYCLE_TAKE:
    try words.require(3, "out_run")
    try words.require(4, "out_step")
    let outcome = try given(words.number32(2))
    try Scheduler.enter(handle, member: number) { (scheduler, member, moment) throws(SeleneError) in
      let cycle = try scheduler.cycle(words[0], of: member)
      let last = words[1] == 0 ? 0 : try scheduler.number(words[1], of: member)
      let step = try scheduler.take(cycle, for: member, after: last, outcome, at: moment)
      tell(step, words, from: 3)
      if case .wait(let until) = step { words.out(6, scheduler.delay(until: until, at: moment)) }
    }
  case SERVICE_CYCLE_PROGRESS:
    try Scheduler.enter(handle, member: number, isQuestion: true) {
      (scheduler, member, moment) throws(SeleneError) in
      let step = try scheduler.progress(of: try scheduler.cycle(words[0], of: member), for: member, at: moment)
      var (isOver, wakeAt, delay) = (Int32(1), moment.now, Span(0))
      if case .wait(let until) = step {
        (isOver, wakeAt, delay) = (0, until, scheduler.delay(until: until, at: moment))
      }
      words.out(1, isOver)
      words.out(2, wakeAt)
      words.out(3, delay)
    }
  case SERVICE_CYCLE_END:
    let report = try Scheduler.enter(handle, member: number) { (scheduler, member, moment) throws(SeleneError) in
      try scheduler.end(try scheduler.cycle(words[0], of: member), for: member, at: moment)
    }
    if words[1] != 0 { words.out(1, report.block()) }
  default:
    try Scheduler.enter(handle, member: number) { (scheduler, member, moment) throws(SeleneError) in
      try scheduler.drain(try scheduler.cycle(words[0], of: member), for: member, grace: words.number(1), at: moment)
    }
  }
}

/// Tells a step: its run, which, and when to come again. The caller holds the scheduler's lock.
private func tell(_ step: Step, _ words: Words, from place: Int) {
  switch step {
  case .run(let run):
    words.out(place, run.block(nil))
    words.out(place + 1, Int32(SELENE_STEP_RUN))
  case .wait(let until):
    words.out(place + 1, Int32(SELENE_STEP_WAIT))
    words.out(place + 2, until)
  case .done: words.out(place + 1, Int32(SELENE_STEP_DONE))
  }
}

private func actOnRun(
  _ handle: UInt64, _ number: UInt64, _ operation: service_operation, _ words: Words
) throws(SeleneError) {
  let isFailure = operation == SERVICE_RUN_FAIL
  let isText = isFailure || operation == SERVICE_RUN_PROGRESS
  let message =
    isText
    ? try LastFailure.message(
      try borrow(words.text(3).0, words.text(3).1, "message", atMost: LastFailure.longestMessage),
      isFailure ? "message" : "text") : nil
  switch operation {
  case SERVICE_RUN_STOPPING: try words.require(1, "out_reason")
  case SERVICE_RUN_REMAINING: try words.require(1, "out_remaining")
  case SERVICE_RUN_GET: try words.require(1, "out_info")
  case SERVICE_RUN_FENCE: try words.require(1, "out_fence")
  default: break
  }
  try Scheduler.enter(handle, member: number, isQuestion: true) { (scheduler, member, moment) throws(SeleneError) in
    let run = try scheduler.number(words[0], of: member)
    defer { scheduler.forget(run, of: member) }
    switch operation {
    case SERVICE_RUN_COMPLETE:
      try scheduler.complete(run, words.number32(1), retryDelay: nil, by: member, at: moment)
    case SERVICE_RUN_RETRY:
      try scheduler.complete(
        run, Outcome.failed.rawValue, retryDelay: words.number(1), by: member, at: moment)
    case SERVICE_RUN_FAIL:
      let delay = words.number(2)
      try scheduler.fail(
        run, words.number32(1), retryDelay: delay == -1 ? nil : delay, because: message, by: member, at: moment)
    case SERVICE_RUN_COMPLETE_UNTIL:
      try scheduler.complete(
        run, words.number32(1), retryDelay: nil, until: words.number(2), by: member, at: moment)
    case SERVICE_RUN_STOPPING:
      words.out(1, try scheduler.stopping(run, at: moment).reason.rawValue)
    case SERVICE_RUN_REMAINING:
      words.out(1, try scheduler.stopping(run, at: moment).remaining)
    case SERVICE_RUN_PROGRESS:
      try scheduler.progress(run, done: words.number(1), total: words.number(2), message, by: member, at: moment)
    case SERVICE_RUN_SET_OUTPUT:
      let (start, length) = words.text(1)
      try scheduler.setOutput(run, try borrow(output: start, length), by: member)
    case SERVICE_RUN_GET: words.out(1, try scheduler.block(ofRun: run))
    case SERVICE_RUN_FENCE:
      let key = try scheduler.key(run)
      words.out(1, key.run)
      words.out(2, key.task)
    case SERVICE_RUN_DECIDED_BY_HOST: try scheduler.letHostDecide(run)
    default: throw SeleneError(.unsupported, "operation", "not one of a run")
    }
  }
}

extension Run {
  /// What its host is told, owned by it; what it is told besides, if the scheduler is given.
  fileprivate func block(_ scheduler: Scheduler?) -> UnsafeMutablePointer<selene_run_info> {
    let (progress, deadline) = (scheduler?.progress(ofRun: token), scheduler?.deadline(of: self))
    return Block.make { block in
      var info = selene_run_info(self)
      info.id = block.text(definition.id)
      info.handler = block.text(definition.handler)
      info.input = block.text(definition.input)
      if let deadline { info.deadline = deadline }
      guard let progress else { return info }
      info.progress_text = block.text(progress.text?.buffer ?? noText)
      (info.progress_at, info.progress_done, info.progress_total) = (progress.at, progress.done, progress.total)
      return info
    }
  }
}

extension Scheduler {
  /// A run that has not come back, for a host. The caller holds the lock.
  func block(ofRun number: UInt64) throws(SeleneError) -> UnsafeMutablePointer<selene_run_info> {
    try run(number).block(self)
  }
}

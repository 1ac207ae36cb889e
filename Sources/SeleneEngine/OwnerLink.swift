// How the owner of a connection is asked: what the border fills in, and the values that pass there.

import SeleneCore

/// What a host says of a run: its outcome, and what belongs to it.
package struct Completion {
  package let outcome: Outcome
  /// A failure's own delay, or nil.
  package var retryDelay: Span?
  /// When its task is due again (W7), or nil.
  package var next: Instant?
  /// Why it failed, or nil.
  package var message: Bytes?
}

/// A run as its owner tells of it.
package struct GivenRun {
  /// As the connection numbers it.
  package var number: UInt64 = 0
  package var id = UnsafeRawBufferPointer(start: nil, count: 0)
  package var handler = UnsafeRawBufferPointer(start: nil, count: 0)
  package var input = UnsafeRawBufferPointer(start: nil, count: 0)
  package var kind: Int32 = 1
  package var priority: Int32 = 3
  package var attempt: UInt32 = 0
  package var generation: UInt32 = 0
  package var score: Double = 0
  package var estimate: Span = 0
  package var startedAt: Instant = 0
  package var expiresAt: Instant = 0
  package var deadline: Instant = 0
  /// Where its texts are; whoever has it deallocates it.
  package let block: UnsafeMutableRawPointer

  package init(block: UnsafeMutableRawPointer) { self.block = block }
}

/// What a cycle of an owner offers.
package enum GivenStep {
  case run(GivenRun)
  /// Until when, by the owner's clock, and how long that is; −1: waiting is of no use.
  case wait(until: Instant, delay: Span)
  case done
}

/// What an owner has granted to a driver: a cycle of so many lanes, or 0, and when to come again.
package struct GivenWindow {
  package let cycle: UInt64
  package let lanes: Int
  package let until: Instant
  package let delay: Span

  package init(cycle: UInt64, lanes: Int, until: Instant, delay: Span) {
    (self.cycle, self.lanes, self.until, self.delay) = (cycle, lanes, until, delay)
  }
}

/// Who calls the handlers of a cycle.
package enum Caller {
  /// Nobody: the host takes its runs.
  case host
  /// This process, while the call that began it waits.
  case waiting
  /// This process, later.
  case later
}

/// The right to the next request; while somebody has it nobody else hears the owner.
package typealias Turn = UnsafeMutableRawPointer

/// How an owner is asked; the border fills it in. All is called without the scheduler's lock.
package struct OwnerLink {
  package var enter: () throws(SeleneError) -> Turn
  package var exit: (Turn) -> Void
  package var offer: (Turn, UnsafeRawBufferPointer, Bool) throws(SeleneError) -> Void
  package var withdraw: (Turn, UnsafeRawBufferPointer) -> Void
  /// The cycle of a window, and when that is over at the latest.
  package var begin: (Turn, Window, Caller) throws(SeleneError) -> (cycle: UInt64, deadline: Instant)
  /// The next run of a cycle behind the last one of a lane (0: none) and its outcome (−1: none).
  package var take: (Turn, UInt64, UInt64, Int32, Bool) throws(SeleneError) -> GivenStep
  /// An outcome that nobody could be asked to take: the next owner is told.
  package var keep: (Turn, UInt64, Int32) -> Void
  package var decide: (Turn, UInt64, Completion) throws(SeleneError) -> Void
  /// A function of a run: its operation, and the words behind the number.
  package var ask: (Turn, UInt64, UInt32, RunWords) throws(SeleneError) -> Void
  package var progress: (Turn, UInt64) throws(SeleneError) -> GivenStep
  /// Ends a cycle; its report, as the border has it.
  package var end: (Turn, UInt64) throws(SeleneError) -> UnsafeMutableRawPointer
  /// Lets a report name its cycle and runs as this process does.
  package var name: (UnsafeMutableRawPointer, UInt64, (UInt64) -> UInt64) -> Void
  package var drain: (Turn, UInt64, Span) throws(SeleneError) -> Void
  package var rest: (Turn) -> Void
  package var drive: (Turn, DriverDraft, Bool) throws(SeleneError) -> Void
  package var step: (Turn) throws(SeleneError) -> GivenWindow
  package var undrive: (Turn) -> Void
  package var hear: (Turn) throws(SeleneError) -> Void
  package var drop: (Turn) -> Void
  /// Goes to the next owner, which may wait for runs that are at work here; in how long to look again.
  package var comeBack: (Turn) -> Span
  /// The same, whatever is at work here.
  package var settle: (Turn) throws(SeleneError) -> Void
  /// Without the turn: waits for news, the bell, or a time.
  package var read: (Span) -> Void
  /// Wakes who waits there.
  package var ring: () -> Void
  /// That the owner has gone, with what was begun there.
  package var lost: () -> SeleneError

  package init(
    enter: @escaping () throws(SeleneError) -> Turn, exit: @escaping (Turn) -> Void,
    offer: @escaping (Turn, UnsafeRawBufferPointer, Bool) throws(SeleneError) -> Void,
    withdraw: @escaping (Turn, UnsafeRawBufferPointer) -> Void,
    begin: @escaping (Turn, Window, Caller) throws(SeleneError) -> (cycle: UInt64, deadline: Instant),
    take: @escaping (Turn, UInt64, UInt64, Int32, Bool) throws(SeleneError) -> GivenStep,
    keep: @escaping (Turn, UInt64, Int32) -> Void,
    decide: @escaping (Turn, UInt64, Completion) throws(SeleneError) -> Void,
    ask: @escaping (Turn, UInt64, UInt32, RunWords) throws(SeleneError) -> Void,
    progress: @escaping (Turn, UInt64) throws(SeleneError) -> GivenStep,
    end: @escaping (Turn, UInt64) throws(SeleneError) -> UnsafeMutableRawPointer,
    name: @escaping (UnsafeMutableRawPointer, UInt64, (UInt64) -> UInt64) -> Void,
    drain: @escaping (Turn, UInt64, Span) throws(SeleneError) -> Void, rest: @escaping (Turn) -> Void,
    drive: @escaping (Turn, DriverDraft, Bool) throws(SeleneError) -> Void,
    step: @escaping (Turn) throws(SeleneError) -> GivenWindow, undrive: @escaping (Turn) -> Void,
    hear: @escaping (Turn) throws(SeleneError) -> Void, drop: @escaping (Turn) -> Void,
    comeBack: @escaping (Turn) -> Span, settle: @escaping (Turn) throws(SeleneError) -> Void,
    read: @escaping (Span) -> Void, ring: @escaping () -> Void,
    lost: @escaping () -> SeleneError
  ) {
    (self.enter, self.exit, self.offer, self.withdraw) = (enter, exit, offer, withdraw)
    (self.begin, self.take, self.keep, self.decide, self.ask) = (begin, take, keep, decide, ask)
    (self.progress, self.end, self.name, self.drain, self.rest) = (progress, end, name, drain, rest)
    (self.drive, self.step, self.undrive, self.hear, self.drop) = (drive, step, undrive, hear, drop)
    (self.comeBack, self.settle, self.read, self.ring, self.lost) = (comeBack, settle, read, ring, lost)
  }
}

/// The words of a function of a run behind its number.
package struct RunWords {
  package let (a, b, c, d): (UInt64, UInt64, UInt64, UInt64)

  package init(_ a: UInt64 = 0, _ b: UInt64 = 0, _ c: UInt64 = 0, _ d: UInt64 = 0) {
    (self.a, self.b, self.c, self.d) = (a, b, c, d)
  }
}

// Library threads: started when a cycle needs them, kept for the next, never more than that.

import CPlatform
import SeleneCore

/// What a library thread is asked to do.
enum Job {
  /// Calls handlers of a cycle until nothing is left for it.
  case lane(Cycle)
  /// Ends a cycle in time.
  case coordinate(Cycle)
  /// Follows a driver until it is stopped.
  case drive(Driver)
}

/// The threads of a scheduler. Guarded by its lock.
struct Workers {
  /// Threads that were started and not joined.
  var threads: [UInt64] = []
  /// Threads that wait for a job.
  var idle = 0
  var jobs: [Job] = []
  /// A thread that waits for a job is to deliver what is in the outbox.
  var isTellerCalled = false
  /// Since when library threads are in functions of the host other than handlers.
  var calls: [(number: UInt64, since: Instant)] = []
  var lastCall: UInt64 = 0
  /// Threads in handlers whose runs are over, the library's and those of lanes.
  var leftBehind = 0
  /// Handlers in which too many of them are.
  var stuckHandlers = 0
  /// Lanes of rolling cycles that wait for something to do.
  var rollingWaiters = 0
  /// The table's stamp when they were last told to look.
  var rolledStamp: UInt64 = 0
  /// A cycle had a descriptor.
  var hasWatches = false
  /// Library threads that are in a callback of the host.
  var inHost = 0
  /// Threads that have not left.
  var alive = 0
  var isStopping = false
}

/// What a new thread is given.
private final class ThreadStart {
  let scheduler: Scheduler
  init(_ scheduler: Scheduler) { self.scheduler = scheduler }
}

private func threadBody(_ context: UnsafeMutableRawPointer) {
  Unmanaged<ThreadStart>.fromOpaque(context).takeRetainedValue().scheduler.work()
}

extension Scheduler {
  /// Sees to it that this many threads are free; the caller holds the lock.
  ///
  /// - Throws: `exhausted` if the system refuses a thread.
  func ensureThreads(_ count: Int) throws(SeleneError) {
    while workers.idle - workers.jobs.count - (workers.isTellerCalled ? 1 : 0) < count {
      let start = Unmanaged.passRetained(ThreadStart(self))
      let thread = platform_thread_start(threadBody, start.toOpaque(), options.blockedSignals)
      guard thread != 0 else {
        start.release()
        let error = SeleneError(.exhausted, "the system refused to start a thread")
        troubleBegins(.thread, error, at: clock.last)
        throw error
      }
      workers.threads.append(thread)
      workers.alive += 1
      // It counts as idle from here: its first act is to look for a job.
      workers.idle += 1
    }
    troubleEnds(.thread, at: clock.last)
  }

  func submit(_ job: Job) {
    workers.jobs.append(job)
    slot.monitor.call()
  }

  /// The life of a library thread.
  fileprivate func work() {
    var frame = platform_frame()
    withUnsafeMutablePointer(to: &frame) { frame in
      platform_frame_push(frame, workerOwner)
      // In a child this thread has nothing to do; if it is the only one there, the process ends with it.
      try? takeJobs()
      platform_frame_pop(frame)
    }
  }

  /// The owner of the outermost frame of this scheduler's threads.
  private var workerOwner: UInt64 { life | 1 << 62 }

  /// Whether this thread is one of the library's, also in a handler.
  var isLibraryThread: Bool { platform_frame_within(workerOwner) != 0 }

  /// Unlocks for a callback of the host, and locks again.
  ///
  /// - Throws: `forked`, as `leave`.
  func outside(_ body: () throws(SeleneError) -> Void) throws(SeleneError) {
    // A callback within a callback is on the same thread.
    let isOnWorker = isLibraryThread && !isInsideCallback
    if isOnWorker { workers.inHost += 1 }
    unlock()
    try body()
    lock()
    if isOnWorker {
      workers.inHost -= 1
      slot.monitor.broadcast()
    }
  }

  private func takeJobs() throws(SeleneError) {
    lock()
    while true {
      if !workers.jobs.isEmpty {
        let job = workers.jobs.removeFirst()
        workers.idle -= 1
        try perform(job)
        workers.idle += 1
      } else if workers.isTellerCalled {
        workers.isTellerCalled = false
        workers.idle -= 1
        try standBy()
        workers.idle += 1
      } else if workers.isStopping {
        break
      } else {
        slot.monitor.rest()
      }
    }
    workers.idle -= 1
    workers.alive -= 1
    slot.monitor.broadcast()
    unlock()
  }

  /// Called and left with the lock held.
  private func perform(_ job: Job) throws(SeleneError) {
    switch job {
    case .lane(let cycle): try runLane(cycle)
    case .coordinate(let cycle):
      awaitEnd(of: cycle)
      _ = end(cycle, at: tick())
    case .drive(let driver):
      unlock()
      follow(driver)
      // A child comes here from a callback of a step.
      guard slot.isOfThisProcess else { throw .forked }
      lock()
      driver.hasLeft = true
      slot.monitor.broadcast()
    }
    try leave()
    lock()
  }
}

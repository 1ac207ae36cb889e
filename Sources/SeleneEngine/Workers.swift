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
  /// Hears what an owner says.
  case hear
  /// Makes durable what was accepted, for one who cannot wait for that.
  case save(HandedSave)

  /// What its thread is called meanwhile; at most 15 bytes.
  var name: StaticString {
    switch self {
    case .lane: "selene/lane"
    case .coordinate: "selene/window"
    case .drive: "selene/driver"
    case .hear: "selene/stop"
    case .save: "selene/store"
    }
  }
}

/// The threads of a scheduler. Guarded by its lock.
struct Workers {
  /// Threads that were started and not joined.
  var threads: [UInt64] = []
  /// Threads that wait for a job, or were called for one.
  var idle = 0
  let line = Line()
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
  /// They work for more than the store; then they also tell the host what happens.
  var tell = false
  var isStopping = false
  /// What each of them does.
  var serving: [Serving] = []
  /// Runs that were let go while threads are in their handlers.
  var letGo: [Run] = []
  /// Drivers that were stopped and may not have left.
  var stopped: [StoppedDriver] = []

  /// The calling thread begins to work, or waits for a job again.
  mutating func thisThread(works: Bool, on job: Job? = nil) {
    let thread = platform_thread_number()
    idle += works ? -1 : 1
    guard let place = serving.firstIndex(where: { $0.thread == thread }) else { return }
    (serving[place].isIdle, serving[place].job) = (!works, job)
  }
}

/// A driver that was stopped, its windows on library threads, and their runs that were in handlers then.
struct StoppedDriver {
  let driver: Driver
  let windows: [Cycle]
  let inHandler: [Run]

  var hasLeft: Bool {
    driver.hasLeft && windows.allSatisfy { $0.isEnded } && !inHandler.contains { $0.isInHandler }
  }
}

/// What a thread of the library does.
struct Serving {
  let thread: UInt64
  var isIdle = true
  var job: Job?
  /// It ends in a callback, which is over, and still counts among those in the host.
  var endsInHost = false

  init(thread: UInt64) { self.thread = thread }
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
  /// - Throws: `exhausted` if the system refuses a thread, `unsupported` if the host does.
  func ensureThreads(_ count: Int) throws(SeleneError) {
    try refuseWithoutThreads()
    while workers.idle - workers.jobs.count - (workers.isTellerCalled ? 1 : 0) < count {
      let start = Unmanaged.passRetained(ThreadStart(self))
      threadHooks?.beginUse()
      let thread = platform_thread_start(
        Self.idleName.cString, threadBody, start.toOpaque(), options.blockedSignals, options.stackSize,
        options.isBackground ? 1 : 0)
      guard thread != 0 else {
        start.release()
        _ = threadHooks?.endUse()
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

  /// What a thread of the library is called that waits for a job, or delivers what is in the outbox.
  private static var idleName: StaticString { "selene/worker" }

  /// - Throws: `unsupported` where the library may start no thread (B2).
  package func refuseWithoutThreads() throws(SeleneError) {
    guard options.hasThreads else {
      throw SeleneError(
        .unsupported, "opened with SELENE_OPTIONS_NO_THREADS; only pulled, inline and lent cycles are possible")
    }
  }

  func submit(_ job: Job) {
    if case .save = job {} else { workers.tell = true }
    workers.jobs.append(job)
    slot.monitor.call(workers.line)
  }

  /// The life of a library thread.
  fileprivate func work() {
    var mark = platform_mark()
    withUnsafeMutablePointer(to: &mark) { mark in
      platform_frame_push(mark, workerOwner, HostCall.Kind.worker.rawValue, platform_thread_number())
      // In a child this thread has nothing to do; if it is the only one there, the process ends with it.
      try? serve()
      _ = platform_frame_pop(mark)
    }
  }

  /// Takes jobs; the host is told of the thread before and after.
  private func serve() throws(SeleneError) {
    lock()
    workers.serving.append(Serving(thread: platform_thread_number()))
    if let begin = threadHooks?.begin {
      let call = HostCall(kind: .hook, number: 0)
      try outside { () throws(SeleneError) in try callHost(life, call) { begin() } }
    }
    unlock()
    try takeJobs()
    guard let threadHooks else { return }
    if let end = threadHooks.end { try callHost(life) { end() } }
    lock()
    let isLast = threadHooks.endUse()
    unlock()
    if isLast { try threadHooks.finish(life) }
  }

  /// The owner of the outermost frame of this scheduler's threads.
  private var workerOwner: UInt64 { life | Self.workerBit }
  static let workerBit: UInt64 = 1 << 62

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
      wake()
    }
  }

  private func takeJobs() throws(SeleneError) {
    lock()
    while true {
      if !workers.jobs.isEmpty {
        let job = workers.jobs.removeFirst()
        workers.thisThread(works: true, on: job)
        platform_thread_rename(job.name.cString)
        try perform(job)
        platform_thread_rename(Self.idleName.cString)
        workers.thisThread(works: false)
      } else if workers.isTellerCalled {
        workers.isTellerCalled = false
        // A close waits for that, too.
        if isClosing { wake() }
        workers.thisThread(works: true)
        try standBy()
        workers.thisThread(works: false)
      } else if workers.isStopping {
        break
      } else {
        slot.monitor.lineUp(in: workers.line)
      }
    }
    workers.idle -= 1
    workers.alive -= 1
    let thread = platform_thread_number()
    workers.serving.removeAll { $0.thread == thread }
    wake()
    unlock()
  }

  /// Called and left with the lock held.
  private func perform(_ job: Job) throws(SeleneError) {
    switch job {
    case .lane(let cycle): try runLane(cycle)
    case .coordinate(let cycle):
      awaitEnd(of: cycle)
      _ = end(cycle, at: tick())
    case .hear: try owner?.hear(self)
    case .save(let handed): save(handed)
    case .drive(let driver):
      let handle = Handle(.scheduler, slot: slot.index, number: slot.number).rawValue
      unlock()
      Self.follow(driver, of: handle)
      // A child comes here from a callback of a step.
      guard slot.isOfThisProcess else { throw .forked }
      lock()
      driver.hasLeft = true
      wake()
    }
    try leave()
    lock()
  }
}

// What the governor is told and asked (G1 to G6, G9).

import SeleneCore
import SeleneGovernor

extension Scheduler {
  // MARK: Telling

  /// Another profile from now on.
  ///
  /// - Throws: a status of stores; then nothing has changed.
  package func setProfile(_ profile: Profile, at moment: Moment) throws(SeleneError) {
    try tell(at: moment.now, isKept: false) {
      $0.setProfile(profile, at: moment.now)
    } recording: {
      $0.profile(profile, at: moment.now)
    }
  }

  /// The host says what a signal is, for a time or until it says otherwise.
  ///
  /// - Throws: `invalidArgument`, a status of stores; then nothing has changed.
  package func setSignal(
    _ number: Int32, _ value: Int64, validFor: Span, at moment: Moment
  ) throws(SeleneError) {
    let signal = try Signal(checking: number)
    try units.check("valid_for", validFor, .min, .max)
    let now = moment.now
    let until = validFor > 0 ? now.adding(validFor) : Time.never
    try tell(at: now, isKept: signal.isKept) { governor throws(SeleneError) in
      try governor.signals.set(signal, value, by: .host, at: now, until: until)
    } recording: {
      $0.signal(signal, value, by: .host, until: until, at: now)
    }
  }

  /// The host clears its value of a signal, which is read from the system if tasks wait for what it says.
  ///
  /// - Throws: `invalidArgument`, a status of stores; then nothing has changed.
  package static func clearSignal(_ handle: UInt64, _ number: Int32) throws(SeleneError) {
    let signal = try Signal(checking: number)
    try readSignals(handle) {
      $0.groups(givenBack: signal)
    } _: { (scheduler, moment) throws(SeleneError) in
      try scheduler.clearSignal(number, at: moment)
    }
  }

  /// The same without reading.
  package func clearSignal(_ number: Int32, at moment: Moment) throws(SeleneError) {
    let signal = try Signal(checking: number)
    try tell(at: moment.now, isKept: signal.isKept) {
      $0.signals.clear(signal, by: .host, at: moment.now)
    } recording: {
      $0.clear(signal, by: .host, at: moment.now)
    }
  }

  /// The host says what a kind used besides time.
  ///
  /// - Throws: `invalidArgument`, a status of stores; then nothing has changed.
  package func reportUse(of kind: Int32, cpuTime: Span, bytes: Int64, at moment: Moment) throws(SeleneError) {
    let kind = try Kind(checking: kind)
    guard cpuTime >= 0 else { throw .range("cpu_time", cpuTime, 0, .max, .duration) }
    guard bytes >= 0 else { throw .range("bytes", bytes, 0, .max, .bytes) }
    try tell(at: moment.now, isKept: true) {
      $0.report(kind, cpuTime: cpuTime, bytes: bytes, at: moment.now)
    } recording: {
      $0.report(kind, cpuTime: cpuTime, bytes: bytes, at: moment.now)
    }
  }

  /// The host was used.
  ///
  /// - Throws: `invalidArgument`, a status of stores; then nothing has changed.
  package func reportUse(from begin: Instant, to end: Instant, at moment: Moment) throws(SeleneError) {
    try units.check(instant: "began_at", begin, .min, .max)
    try units.check(instant: "ended_at", end, .min, .max)
    guard begin <= end else { throw .range("ended_at", end, begin, .max, .instant, "began_at or later") }
    guard end <= moment.now else { throw .range("ended_at", end, .min, moment.now, .instant, "now or earlier") }
    try tell(at: moment.now, isKept: true) {
      $0.use(from: begin, to: end, at: moment.now)
    } recording: {
      $0.use(from: begin, to: end, at: moment.now)
    }
  }

  /// Lets the governor take in what the host says, and stops the runs against which that raises a veto.
  ///
  /// - Parameter write: its line in a trace, which stands before what follows from it.
  /// - Throws: what the body throws, or a status of stores; then nothing has changed.
  func tell(
    at now: Instant, isKept: Bool, _ body: (inout Governor) throws(SeleneError) -> Void,
    recording write: (inout TraceWriter) -> Void
  ) throws(SeleneError) {
    let (raised, lost, runs) = try transaction(at: now) { () throws(SeleneError) in
      keepGovernance()
      try body(&governance.governor)
      record(write)
      if isKept { governance.isUnsaved = true }
      let lost = openRuns(without: governance.governor.signals, at: now)
      requeue(lost, .constraintLost, at: now)
      let raised = governance.look(at: now)
      let runs = openRuns(of: raised)
      requeue(runs, .preempted, at: now)
      return (raised, lost, runs)
    }
    for run in lost { stop(run, .constraintLost, at: now) }
    for run in runs { stop(run, .preempted, at: now) }
    preempt(raised, at: now)
    lookAtConstraints(at: now)
    followSignals()
  }

  /// What waits for something that depends on signals looks again.
  private func followSignals() {
    if !cycles.isEmpty { nextDue = min(nextDue, governance.nextLook) }
    letDriversLook()
  }

  /// Time has raised a veto, or lifted one (G6).
  func lookAtVetoes(at now: Instant) {
    let raised = governance.look(at: now)
    for run in openRuns(of: raised) { stop(run, .preempted, at: now) }
    preempt(raised, at: now)
  }

  /// Nothing more of these kinds is dispatched in the cycles that are open.
  private func preempt(_ raised: KindSet, at now: Instant) {
    guard !raised.isEmpty else { return }
    for cycle in cycles {
      cycle.preempted.formUnion(raised)
      for kind in Kind.allCases where raised.contains(kind) {
        let factor = governance.governor.standing(kind, at: now).trailingZeroBitCount
        table.waits.veto(cycle.waitNumber, kind, factor: UInt8(truncatingIfNeeded: factor), at: now)
      }
    }
  }

  private func openRuns(of kinds: KindSet) -> [Run] {
    guard !kinds.isEmpty else { return [] }
    return cycles.flatMap { cycle in cycle.runs.filter { $0.isOpen && kinds.contains($0.definition.kind) } }
  }

  // MARK: Reading the system

  /// Reads signals of the system without the lock, tells the governor, and calls a body that looks at them.
  ///
  /// - Parameter groups: which, asked for under the lock. If these are more by then, because another call set a profile or
  ///   cleared a signal, they are read, too, before the body looks.
  package static func readSignals<R>(
    _ handle: UInt64, _ groups: (Scheduler) -> SignalGroups, _ body: (Scheduler, Moment) throws(SeleneError) -> R
  ) throws(SeleneError) -> R {
    var source = try enter(handle) { (scheduler, _) throws(SeleneError) in
      SignalSources(groups(scheduler), of: scheduler)
    }
    var read: SignalGroups = []
    while true {
      read.formUnion(source.groups)
      let readings = source.read()
      let (result, missing): (R?, SignalSources) = try enter(handle) { [read] (scheduler, moment) throws(SeleneError) in
        if let readings { scheduler.absorb(readings, at: moment.now) }
        let missing = SignalSources(groups(scheduler).subtracting(read), of: scheduler)
        return (missing.groups.isEmpty ? try body(scheduler, moment) : nil, missing)
      }
      if let result { return result }
      source = missing
    }
  }

  /// What the system says of a signal counts from now on.
  func absorb(_ readings: SignalReadings, at now: Instant) {
    let before = governance.governor.signals
    let isNew = governance.absorb(readings, at: now)
    // What lasts longer than it did changes nothing yet.
    defer { lookAtConstraints(at: now) }
    guard isNew || governance.recording != nil else { return }
    record { writer in
      Signal.forEach { signal in
        let said = governance.governor.signals.said(signal, by: .probe, at: now)
        let old = before.said(signal, by: .probe, at: now)
        guard said?.value != old?.value || said?.until != old?.until else { return }
        if let said {
          writer.signal(signal, said.value, by: .probe, until: said.until, at: now)
        } else {
          writer.clear(signal, by: .probe, at: now)
        }
      }
    }
    lookAtVetoes(at: now)
    followSignals()
  }

  /// The groups worth reading before a decision about some kinds; with a host clock none, so that all is as the host says.
  func groups(_ kinds: KindSet, onlyStopping: Bool = false) -> SignalGroups {
    reach.groups(kinds, onlyStopping: onlyStopping, governance.governor, at: clock.last)
  }

  /// The group of a signal, unless the host sets it.
  func groups(_ signal: Signal) -> SignalGroups {
    reach.groups(signal, governance.governor.signals, at: clock.last)
  }

  var reach: SignalReach { SignalReach(followsSystem: clock.host == nil, hasStore: store.isDurable) }

  /// A signal as a decision would see it.
  ///
  /// - Throws: `invalidArgument`.
  package static func signal(_ handle: UInt64, _ number: Int32) throws(SeleneError) -> Reading {
    let signal = try Signal(checking: number)
    return try readSignals(handle) {
      $0.groups(signal)
    } _: { (scheduler, moment) throws(SeleneError) in
      scheduler.governance.governor.signals.reading(signal, at: moment.now)
    }
  }

  // MARK: Decisions

  /// Asks whether a kind deserves a window now.
  ///
  /// - Throws: `invalidArgument`.
  package static func ask(_ handle: UInt64, _ kind: Int32, neverRan: Bool) throws(SeleneError) -> Decision {
    let kind = try Kind(checking: kind)
    return try readSignals(handle) {
      $0.groups(KindSet(kind))
    } _: { (scheduler, moment) throws(SeleneError) in
      scheduler.decide(kind, neverRan: neverRan, at: moment.now)
    }
  }

  /// Decides, and lets it be known.
  func decide(_ kind: Kind, neverRan: Bool = false, at now: Instant) -> Decision {
    let decision = governance.governor.decide(kind, neverRan: neverRan, at: now)
    note(decision, neverRan: neverRan, at: now)
    return decision
  }

  /// Lets a decision be known.
  func note(_ decision: Decision, neverRan: Bool, at now: Instant) {
    governance.last[decision.kind] = decision
    let factor = decision.isGranted ? nil : decision.firstVeto?.factor.rawValue ?? 0
    table.waits.set(refusal: factor, of: decision.kind, at: now)
    record { $0.decision(decision, neverRan: neverRan) }
    publish(decided(decision), at: now)
  }

  private func decided(_ decision: Decision) -> Change {
    let change = Change(decision.isGranted ? .granted : .refused)
    change.kinds = KindSet(decision.kind)
    change.detail = Int32(decision.firstVeto?.factor.rawValue ?? 0)
    change.timeAt = decision.isGranted ? 0 : decision.askAgainAt
    return change
  }

  /// The last decision about a kind.
  ///
  /// - Throws: `invalidArgument`, `notFound`.
  package func lastDecision(_ kind: Int32) throws(SeleneError) -> Decision {
    guard let decision = governance.last[try Kind(checking: kind)] else {
      throw SeleneError(.notFound, "kind", "nothing has been decided about it since the scheduler was opened")
    }
    return decision
  }

  /// The refusal that keeps a kind from its next window, or nil.
  func refusal(_ kind: Kind) -> Decision? {
    guard let decision = governance.last[kind], !decision.isGranted else { return nil }
    return pace[kind].lastBegin ?? .min <= decision.at ? decision : nil
  }

  package static func forecast(_ handle: UInt64, _ kind: Int32, _ count: Int) throws(SeleneError) -> [ForecastWindow] {
    let kind = try Kind(checking: kind)
    return try readSignals(handle) {
      $0.groups(KindSet(kind))
    } _: { (scheduler, moment) throws(SeleneError) in
      scheduler.governance.governor.forecast(kind, count, at: moment.now)
    }
  }

  // MARK: The ledger

  package func balance(
    _ kind: Int32, at moment: Moment
  ) throws(SeleneError) -> (balance: Ledger.Balance, lastBegin: Instant?) {
    let kind = try Kind(checking: kind)
    let governor = governance.governor
    return (governor.ledger.balance(kind, governor.profile.quotas, at: moment.now), governor.ledger.lastBegin[kind])
  }

  /// Whether windows are booked.
  var keepsBooks: Bool {
    var keeps = governance.governor.profile.demands
    if !keeps { forEachDriver { if $0.terms.isGoverned { keeps = true } } }
    return keeps
  }

  /// Charges a window to its kinds (G4).
  func book(begin kinds: KindSet, budget: Span, at now: Instant) {
    if !kinds.isEmpty { keepGovernance() }
    for kind in Kind.allCases where kinds.contains(kind) {
      // What an open-ended one has taken up to now, whose place this one takes.
      if cycles.contains(where: { $0.isOpenEnded && $0.booked.contains(kind) }) {
        governance.governor.end(kind, extends: true, at: now)
        record { $0.end(kind, extends: true, at: now) }
      }
      governance.governor.begin(kind, budget: budget, at: now)
      governance.isUnsaved = true
      record { $0.begin(kind, budget: budget, at: now) }
    }
  }

  /// Gives back what a cycle's window did not use, and charges what the runs of an open-ended one took besides (V1). While
  /// another of the kind is open, that one is charged.
  func book(endOf cycle: Cycle, at now: Instant) {
    guard !cycle.booked.isEmpty else { return }
    keepGovernance()
    for kind in Kind.allCases
    where cycle.booked.contains(kind) && !cycles.contains(where: { $0 !== cycle && $0.booked.contains(kind) }) {
      governance.governor.end(kind, extends: cycle.isOpenEnded, at: now)
      governance.isUnsaved = true
      record { $0.end(kind, extends: cycle.isOpenEnded, at: now) }
    }
  }

  // MARK: Traces (G9)

  func record(_ write: (inout TraceWriter) -> Void) {
    if let recording = governance.recording { write(&recording.writer) }
  }

  /// Records into a new file from now on.
  ///
  /// - Throws: `alreadyExists`, `invalidArgument`, `storeCannotOpen`.
  package func startTrace(_ path: UnsafeRawBufferPointer, at moment: Moment) throws(SeleneError) {
    guard governance.recording == nil else {
      throw SeleneError(.alreadyExists, "a trace is being recorded already; stop it first")
    }
    let recording = try Recording.make(path, at: moment.now)
    recording.writer.state(governance.governor, at: moment.now)
    governance.recording = recording
  }

  package func stopTrace() {
    flushTrace()
    governance.recording = nil
  }

  /// Brings what was recorded into the file. A file that cannot be written is not written any more.
  func flushTrace() {
    guard let recording = governance.recording, !recording.flush() else { return }
    governance.recording = nil
    publish(Change(.traceEnded), at: clock.last)
  }
}

/// Which files of the system to read, without the lock of the scheduler that wants to know.
struct SignalSources {
  let groups: SignalGroups
  /// The file system itself; tests of the probes read other roots.
  private let root = Bytes(copying: UnsafeRawBufferPointer(start: nil, count: 0))
  private let store: Bytes

  init(_ groups: SignalGroups, of scheduler: Scheduler) {
    self.groups = groups
    store = scheduler.store.path ?? root
  }

  /// Reads them; nil if there is nothing to read.
  func read() -> SignalReadings? { groups.isEmpty ? nil : SignalReadings(groups, root: root, store: store) }
}

extension Signal {
  /// A host's number.
  ///
  /// - Throws: `invalidArgument`.
  init(checking number: Int32) throws(SeleneError) {
    guard let signal = UInt8(exactly: number).flatMap(Signal.init) else {
      throw .range("signal", number, 1, Int64(Signal.count), .number, "1 … 22 (SELENE_SIGNAL_)")
    }
    self = signal
  }
}

extension Kind {
  /// A host's number.
  ///
  /// - Throws: `invalidArgument`.
  init(checking number: Int32) throws(SeleneError) {
    guard let kind = UInt8(exactly: number).flatMap(Kind.init) else {
      throw .kind("kind", number)
    }
    self = kind
  }
}

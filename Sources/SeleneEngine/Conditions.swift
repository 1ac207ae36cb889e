// Which constraints are satisfied, by the signals that the governor reads, too (C17, W1).

import SeleneCore
import SeleneGovernor

/// What picks go by. Guarded by the scheduler's lock.
struct Conditions {
  let satisfied: Constraints
  /// When it is something else because a reading expires.
  let changesAt: Instant

  init(_ signals: Signals, at now: Instant) {
    satisfied = signals.satisfied(at: now)
    changesAt = signals.nextChange(ofSatisfied: satisfied, after: now)
  }
}

/// Which constraints a call looks at, so that the system is asked for their signals.
package enum Probing: Sendable {
  case none
  /// Those that any task has asked for.
  case asked
  case all
}

/// What the system said before a call took the lock.
final class Probe: Sendable {
  let readings: SignalReadings

  init(_ readings: SignalReadings) { self.readings = readings }
}

extension SignalReach {
  /// The groups that say whether some constraints are satisfied, but those that the host sets.
  func groups(of constraints: Constraints, _ signals: Signals, at now: Instant) -> SignalGroups {
    var groups: SignalGroups = []
    constraints.forEachSignal { groups.formUnion(self.groups($0, signals, at: now)) }
    return groups
  }
}

extension Scheduler {
  /// What is worth reading before a call that looks at constraints.
  @inline(__always)
  func groups(_ probing: Probing) -> SignalGroups {
    let wanted: Constraints =
      switch probing {
      case .none: []
      case .asked: table.terms.asked
      case .all: .all
      }
    guard !wanted.isEmpty else { return [] }
    return reach.groups(of: wanted, governance.governor.signals, at: clock.last)
  }

  /// All that tasks may ask for and have.
  var satisfied: Needs { needs(conditions.satisfied) }

  private func needs(_ constraints: Constraints) -> Needs {
    Needs(constraints, host: table.terms.conditions.satisfied)
  }

  /// It may be something else from now on: waits are told apart by it (W8).
  func noteSatisfied(at now: Instant) {
    table.waits.set(satisfied: satisfied.rawValue, of: table.terms.conditions, at: now)
  }

  /// What that would be with what was read for a call, which changes nothing.
  func satisfied(probing moment: Moment) -> Needs {
    moment.probe == nil ? satisfied : needs(signals(probing: moment).satisfied(at: moment.now))
  }

  /// The signals likewise.
  func signals(probing moment: Moment) -> Signals {
    guard let probe = moment.probe else { return governance.governor.signals }
    var (known, signals) = (governance.probe, governance.governor.signals)
    _ = known.apply(probe.readings, to: &signals, at: moment.now)
    return signals
  }

  /// Calls a body with each instant before another at which expiring readings give tasks more than they have until then, and
  /// with what is satisfied from then on.
  func forEachGain(probing moment: Moment, before end: () -> Instant, _ body: (Instant, Needs) -> Void) {
    guard moment.probe != nil || conditions.changesAt != Time.never else { return }
    let signals = signals(probing: moment)
    var satisfied = signals.satisfied(at: moment.now)
    var at = signals.nextChange(ofSatisfied: satisfied, after: moment.now)
    while at < end() {
      let then = signals.satisfied(at: at)
      if !then.isSubset(of: satisfied) { body(at, needs(then)) }
      (satisfied, at) = (then, signals.nextChange(ofSatisfied: then, after: at))
    }
  }

  /// What signals say of constraints counts from now on; runs in flight that lose one are stopped.
  func lookAtConstraints(at now: Instant) {
    let before = conditions.satisfied
    conditions = Conditions(governance.governor.signals, at: now)
    nextDue = min(nextDue, conditions.changesAt)
    guard conditions.satisfied != before else { return }
    noteSatisfied(at: now)
    if conditions.satisfied.isSubset(of: before) {
      letDriversLook()
    } else {
      lookAgain()
    }
    for run in openRuns(without: satisfied) { stop(run, .constraintLost, at: now) }
  }

  /// A task is about to be registered while a cycle is open: what it is the first to ask for is read before a pick goes by it.
  /// Once for each constraint, so that the lock may be held meanwhile.
  func readFirst(_ constraints: Constraints, at now: Instant) {
    let new = constraints.intersection(.all).subtracting(readFor)
    guard !new.isEmpty else { return }
    readFor.formUnion(new)
    let groups = reach.groups(of: new.subtracting(table.terms.asked), governance.governor.signals, at: now)
    guard !groups.isEmpty, let readings = SignalSources(groups, of: self).read() else { return }
    absorb(readings, at: now)
  }

  /// The runs in flight that need more than what signals satisfy.
  func openRuns(without signals: Signals, at now: Instant) -> [Run] {
    cycles.isEmpty ? [] : openRuns(without: needs(signals.satisfied(at: now)))
  }

  /// The runs in flight that need more than what is satisfied.
  func openRuns(without satisfied: Needs) -> [Run] {
    guard !cycles.isEmpty else { return [] }
    return cycles.flatMap { cycle in
      cycle.runs.filter { $0.isOpen && !$0.definition.needs.isSubset(of: satisfied) }
    }
  }

  // MARK: What hosts say of constraints

  /// Lets the host set the signals of some constraints, and clears those that it set so before; these are read from the
  /// system first.
  ///
  /// - Throws: `invalidArgument`, a status of stores; then nothing has changed.
  package static func setConditions(_ handle: UInt64, _ owned: UInt32, satisfied: UInt32) throws(SeleneError) {
    try readSignals(handle) { scheduler in
      var groups: SignalGroups = []
      for signal in scheduler.setByBit.subtracting(Constraints(rawValue: owned)).ownSignals {
        groups.formUnion(scheduler.groups(givenBack: signal))
      }
      return groups
    } _: { (scheduler, moment) throws(SeleneError) in
      try scheduler.setConditions(owned, satisfied: satisfied, at: moment)
    }
  }

  /// The group of a signal that the host sets until now, if tasks ask for what it says.
  func groups(givenBack signal: Signal) -> SignalGroups {
    guard governance.governor.signals.said(signal, by: .host, at: clock.last) != nil else { return [] }
    var isAsked = false
    table.terms.asked.forEachSignal { if $0 == signal { isAsked = true } }
    return isAsked ? reach.group(of: signal) : []
  }

  /// The same without reading.
  package func setConditions(_ owned: UInt32, satisfied: UInt32, at moment: Moment) throws(SeleneError) {
    guard owned & ~Constraints.all.rawValue == 0 else { throw .constraints("constraints", owned) }
    guard satisfied & ~owned == 0 else {
      throw .range("satisfied", satisfied, 0, Int64(owned), .bits, "only bits that constraints has")
    }
    let (now, set) = (moment.now, Constraints(rawValue: owned))
    var words = set.words(satisfied: Constraints(rawValue: satisfied))
    for signal in setByBit.subtracting(set).ownSignals { words.append((signal, nil)) }
    let signals = governance.governor.signals
    try tell(at: now, isKept: false) { [words] governor throws(SeleneError) in
      for word in words {
        if let value = word.value {
          try governor.signals.set(word.signal, value, by: .host, at: now)
        } else {
          governor.signals.clear(word.signal, by: .host, at: now)
        }
      }
    } recording: { [words] writer in
      for word in words {
        if let value = word.value {
          writer.signal(word.signal, value, by: .host, until: Time.never, at: now)
        } else if signals.said(word.signal, by: .host, at: now) != nil {
          writer.clear(word.signal, by: .host, at: now)
        }
      }
    }
    setByBit = set
  }

  package func conditions(at moment: Moment) -> (satisfied: Constraints, host: Constraints) {
    let signals = signals(probing: moment)
    return (signals.satisfied(at: moment.now), signals.hostSet(at: moment.now))
  }
}

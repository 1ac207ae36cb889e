// Answers, read from the rows of their statements.

import SeleneCore

extension NodeAnswer {
  /// The answer to a call; nil if these are not rows of its statement.
  package init?(to call: NodeCall, rows: [[NodeValue]]) {
    switch call {
    case .hello:
      guard rows.count == 1, rows[0].count == 2, let worker = rows[0][0].integer, let now = rows[0][1].integer else {
        return nil
      }
      self = .hello(worker: worker, now: now)
    case .beat:
      guard let answer = BeatAnswer(rows) else { return nil }
      self = .beat(answer)
    case .classes:
      var found: [FleetClass] = []
      for row in rows {
        guard let one = FleetClass(row) else { return nil }
        found.append(one)
      }
      self = .classes(found)
    case .turn:
      guard let answer = TurnAnswer(rows) else { return nil }
      self = .turn(answer)
    case .fate:
      var fates: [RunFate] = []
      for row in rows {
        guard let one = RunFate(row) else { return nil }
        fates.append(one)
      }
      self = .fate(fates)
    case .bye: self = .bye
    }
  }
}

extension BeatAnswer {
  /// What, number, value.
  fileprivate init?(_ rows: [[NodeValue]]) {
    self.init()
    for row in rows {
      guard row.count == 3, let what = row[0].integer, let number = row[1].integer else { return nil }
      switch what {
      case 0: expires = number
      case 1: lost.append(LostRun(run: number, reason: StopReason(row[2])))
      case 2: difference = number
      case 3: tookBack = number
      case 4: isDraining = true
      // A later release of the schema may tell more.
      default: break
      }
    }
  }
}

extension TurnAnswer {
  /// What, run, state, at, seq, id, handler, class, input, est, attempts, generation, line, last run.
  fileprivate init?(_ rows: [[NodeValue]]) {
    self.init()
    for row in rows {
      guard row.count == 14, let what = row[0].integer else { return nil }
      switch what {
      case 0:
        guard let run = row[1].integer else { return nil }
        decided.append(DecidedRun(run: run, counts: !row[2].isNull))
      case 1:
        guard let run = NodeRun(row) else { return nil }
        claimed.append(run)
      case 2:
        guard let run = row[1].integer else { return nil }
        lost.append(LostRun(run: run, reason: StopReason(row[2])))
      case 3: nextDue = row[3].integer
      case 4: took = row[3].integer ?? 0
      case 5:
        guard let run = row[1].integer else { return nil }
        kept.append(run)
      default: break
      }
    }
  }
}

extension NodeRun {
  fileprivate convenience init?(_ row: [NodeValue]) {
    guard let run = row[1].integer, let task = row[4].integer, let id = row[5].text, let handler = row[6].text,
      let fleetClass = row[7].small, let input = row[8].bytes, let estimate = row[9].integer,
      let attempt = row[10].small, let generation = row[11].small, let line = row[12].small,
      let lastRun = row[13].integer
    else { return nil }
    self.init(
      RunKey(run: run, task: task), id: id, handler: handler, input: input, fleetClass: fleetClass,
      estimate: max(estimate, 0), attempt: attempt, generation: generation, line: line, lastRun: lastRun,
      runsBeside: row[2].integer == 1)
  }
}

extension RunFate {
  /// Run, fate.
  fileprivate init?(_ row: [NodeValue]) {
    guard row.count == 2, let run = row[0].integer, let fate = row[1].small.flatMap({ Fate(rawValue: $0) }) else {
      return nil
    }
    self.init(run: run, fate: fate)
  }
}

extension FleetClass {
  /// Class, kind, constraints, labels, handler.
  fileprivate init?(_ row: [NodeValue]) {
    guard row.count == 5, let number = row[0].small, let kind = row[1].integer.flatMap({ UInt8(exactly: $0) }),
      let kind = Kind(rawValue: kind), let constraints = row[2].integer.flatMap({ UInt32(exactly: $0) }),
      let labels = row[3].texts, let handler = row[4].text
    else { return nil }
    self.init(number, kind, Constraints(rawValue: constraints), labels: labels, handler: handler)
  }
}

extension StopReason {
  /// As the database numbers it; one that it does not tell, or that is of a later release, is a run that somebody else has.
  fileprivate init(_ value: NodeValue) {
    self = value.small.flatMap { StopReason(rawValue: $0) } ?? .interrupted
  }
}

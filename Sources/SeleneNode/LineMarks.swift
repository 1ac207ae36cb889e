// Where claims look for tasks: from the beginning of every line of a class, or from where the last ones ended (N7).

import SeleneCore

/// Tasks of one class and priority that are expected to take about as long, in the order of their last runs.
package struct LineMark: Equatable, Sendable {
  package let line: Int32
  /// The last run that was claimed there: before it are entries that cannot be vacuumed while somebody holds an old snapshot.
  package internal(set) var since: Instant

  package init(line: Int32, since: Instant) { (self.line, self.since) = (line, since) }

  /// Lines are of classes (N4).
  var fleetClass: Int32 { line >> 8 }
  var isOfSuspects: Bool { line & 1 == 1 }

  /// From the beginning of each line of some classes, but those of suspects: by priority, and by what is expected.
  static func plain(of classes: [Int32]) -> [LineMark] {
    var lines: [LineMark] = []
    for one in classes {
      for priority in Int32(1)...5 {
        for cost in Int32(0)..<8 {
          lines.append(LineMark(line: one << 8 | priority << 4 | cost << 1, since: .min))
        }
      }
    }
    return lines
  }
}

/// What the last claims found.
struct LineMarks {
  private(set) var marks: [LineMark] = []
  /// What waited and was due before then has joined its line, by the database's clock; what has not does so with the next look.
  private(set) var dueSince: Instant = 0
  /// When all lines were last looked at from their beginnings.
  private var lookedAt: Instant = .min
  /// For how long after that they are not: looks take a twentieth of the time at most, since dead entries make them long.
  private var rest: Span = 0
  /// How long the last look at all lines took.
  private var took: Span = 0
  /// Somewhere else something may be: a claim since the last look got less than it asked for, or somebody said so.
  private var isStale = false

  private static let longestRest = 60 * Time.second

  /// When all lines may be looked at again.
  var looksAgain: Instant { rest > 0 ? lookedAt.adding(rest) : .min }

  /// Tasks may have come into a line before its mark, or into another line: all are looked at as soon as that may be.
  mutating func hint() { isStale = true }

  /// Only these classes are served from now on, and there may be new ones.
  mutating func serve(_ classes: [Int32]) {
    marks.removeAll { !classes.contains($0.fleetClass) }
    isStale = true
  }

  /// The marks that a claim may use; none if it is to look at all lines.
  func usable(at now: Instant, for span: Span) -> [LineMark] {
    now.subtracting(lookedAt) < max(isStale ? 0 : span, rest) ? marks : []
  }

  /// What a claim gave. Where that is less than it asked for, its lines are at their end, and others may have something.
  ///
  /// - Parameter took: how long the database was at it.
  /// - Parameter began: when it was sent, by the database's clock; nil if that is not known.
  /// - Parameter nextDue: when the first of what still waits is due, by the same.
  mutating func note(
    _ runs: [NodeRun], of claim: NodeClaim, at now: Instant, took: Span, began: Instant?, nextDue: Instant?
  ) {
    if claim.isOfAllLines {
      (marks, isStale) = ([], false)
      lookedAt = now
      // Once may be chance: somebody waited for a disk, or for a processor.
      let usual = max(min(took, self.took), 0)
      self.took = took
      rest = usual < Self.longestRest / 20 ? 20 * usual : Self.longestRest
      // Less a second: another's clock may have been a little behind when it was registered. And of very many only some have
      // joined their lines with this claim.
      dueSince = max(min(began?.subtracting(Time.second) ?? 0, nextDue ?? Time.never), 0)
    }
    let sum: Span = runs.reduce(0) { $0.adding($1.estimate) }
    let isFull = runs.count >= claim.most || (!runs.isEmpty && sum.adding(sum / Span(runs.count)) >= claim.total)
    if !isFull { isStale = true }
    for run in runs {
      if let place = marks.firstIndex(where: { $0.line == run.line }) {
        marks[place].since = max(marks[place].since, run.lastRun)
      } else {
        marks.append(LineMark(line: run.line, since: run.lastRun))
      }
    }
  }
}

// Where claims look for tasks: from the beginning of every line of a class, or from where the last ones ended (N7).

import SeleneCore

/// Tasks of one class and priority that are expected to take about as long, in the order of their last runs.
package struct LineMark: Equatable, Sendable {
  package let line: Int32
  /// The last run that was claimed there: before it are entries that cannot be vacuumed while somebody holds an old snapshot.
  package internal(set) var since: Instant

  package init(line: Int32, since: Instant) { (self.line, self.since) = (line, since) }
}

/// What the last claims found.
struct LineMarks {
  private(set) var marks: [LineMark] = []
  /// When all lines were last looked at from their beginnings.
  private var lookedAt: Instant = .min

  /// Tasks may have come into a line before its mark, or into another line: the next claim looks at all.
  mutating func forget() { marks = [] }

  /// The marks that a claim may use; none if it is to look at all lines.
  func usable(at now: Instant, for span: Span) -> [LineMark] { now.subtracting(lookedAt) < span ? marks : [] }

  /// What a claim gave. Where that is less than it asked for, its lines are at their end, and others may have something.
  mutating func note(_ runs: [NodeRun], of claim: NodeClaim, at now: Instant) {
    if claim.lines.isEmpty {
      marks = []
      lookedAt = now
    }
    let sum: Span = runs.reduce(0) { $0.adding($1.estimate) }
    let isFull = runs.count >= claim.most || (!runs.isEmpty && sum.adding(sum / Span(runs.count)) >= claim.total)
    guard isFull else { return forget() }
    for run in runs {
      if let place = marks.firstIndex(where: { $0.line == run.line }) {
        marks[place].since = max(marks[place].since, run.lastRun)
      } else {
        marks.append(LineMark(line: run.line, since: run.lastRun))
      }
    }
  }
}

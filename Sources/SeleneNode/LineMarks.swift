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
  /// What waited and was due before then has joined its line, by the database's clock; what has not does so with the next look.
  private(set) var dueSince: Instant = 0
  /// When all lines were last looked at from their beginnings.
  private var lookedAt: Instant = .min
  /// For how long after that they are not: looks take a twentieth of the time at most, since dead entries make them long.
  private var rest: Span = 0
  /// How long the last look at all lines took.
  private var took: Span = 0
  /// The last claim got less than it asked for.
  private var isAtEnd = false

  private static let longestRest = 60 * Time.second

  /// When all lines may be looked at again.
  var looksAgain: Instant { rest > 0 ? lookedAt.adding(rest) : .min }

  /// Tasks may have come into a line before its mark, or into another line: the next claim looks at all.
  mutating func forget() { marks = [] }

  /// The marks that a claim may use; none if it is to look at all lines.
  func usable(at now: Instant, for span: Span) -> [LineMark] {
    now.subtracting(lookedAt) < max(isAtEnd ? 0 : span, rest) ? marks : []
  }

  /// What a claim gave. Where that is less than it asked for, its lines are at their end, and others may have something.
  ///
  /// - Parameter took: how long the database was at it.
  /// - Parameter began: when it was sent, by the database's clock; nil if that is not known.
  mutating func note(_ runs: [NodeRun], of claim: NodeClaim, at now: Instant, took: Span = 0, began: Instant? = nil) {
    if claim.lines.isEmpty {
      marks = []
      lookedAt = now
      // Once may be chance: somebody waited for a disk, or for a processor.
      let usual = max(min(took, self.took), 0)
      self.took = took
      rest = usual < Self.longestRest / 20 ? 20 * usual : Self.longestRest
      // Less a second: another's clock may have been a little behind when it was registered.
      dueSince = max(began?.subtracting(Time.second) ?? 0, 0)
    }
    let sum: Span = runs.reduce(0) { $0.adding($1.estimate) }
    isAtEnd = !(runs.count >= claim.most || (!runs.isEmpty && sum.adding(sum / Span(runs.count)) >= claim.total))
    if isAtEnd && rest == 0 { return forget() }
    for run in runs {
      if let place = marks.firstIndex(where: { $0.line == run.line }) {
        marks[place].since = max(marks[place].since, run.lastRun)
      } else {
        marks.append(LineMark(line: run.line, since: run.lastRun))
      }
    }
  }
}

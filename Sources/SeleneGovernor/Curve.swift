// The stated tables behind every score (G3): whole numbers, straight between their points.

import SeleneCore

/// A function of small integers that is straight between its stated points.
package struct Curve: Sendable {
  /// x, y, x, y, … with growing x.
  private let points: [Int64]

  /// Observation in per mille of the requirement to score.
  package static let load = Curve(points: [100, 1000, 500, 900, 1000, 500, 1500, 200, 2000, 0])
  /// An hour's probability of use in per mille of the mean hour's, to the score of a refresh window in it.
  package static let used = Curve(points: [0, 0, 750, 500, 1500, 1000])
  /// The same for a processing window.
  package static let quiet = Curve(points: [0, 1000, 1250, 500, 2000, 0])
  /// Days without use in per mille of the usual distance between days of use, to what is left of the probability.
  package static let recency = Curve(points: [0, 1000, 2000, 1000, 3000, 700, 4000, 450, 6000, 200, 10_000, 60])

  private init(points: [Int64]) { self.points = points }

  /// The value at x, rounded down; beyond the ends that of the end.
  package func value(at x: Int64) -> Int64 {
    var index = 2
    if x <= points[0] { return points[1] }
    while index < points.count {
      let (x0, y0, x1, y1) = (points[index - 2], points[index - 1], points[index], points[index + 1])
      if x <= x1 { return y0 + ((y1 - y0) * (x - x0) - (y1 < y0 ? x1 - x0 - 1 : 0)) / (x1 - x0) }
      index += 2
    }
    return points[points.count - 1]
  }
}

extension Int64 {
  /// This in per mille of a whole, rounded down and held at 10^9; of nothing: 0 if this is 0 too.
  package func perMille(of whole: Int64) -> Int64 {
    let most: Int64 = 1_000_000_000
    guard self > 0 else { return 0 }
    guard whole > 0 else { return most }
    let (product, overflow) = multipliedReportingOverflow(by: 1000)
    return Swift.min(most, overflow ? self / Swift.max(1, whole / 1000) : product / whole)
  }
}

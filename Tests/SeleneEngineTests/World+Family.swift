// The families of worlds in which rules of order are compared: each has something that a rule may stumble over.

import SeleneCore

/// What the worlds of a family have in common.
struct Shape {
  /// How the lengths of one task's runs are spread about their middle.
  enum Tail {
    case logNormal(Double)
    case pareto(Double)
  }

  enum Rhythm {
    case even
    /// Twenty windows two minutes apart, then none for as long as twenty would have taken.
    case bursts
    /// Most of a day's windows in the afternoon.
    case days
  }

  enum Declared {
    case middle
    case fiveSeconds
    /// Anything from a hundredth to a hundred times.
    case anything

    func span(ofMiddle middle: Double, _ chance: inout Chance) -> Span {
      let wrong = chance.pick([0.01, 0.1, 1, 10, 100])
      switch self {
      case .middle: return Int64(middle)
      case .fiveSeconds: return 5 * Time.second
      case .anything: return min(Int64(middle * wrong), Time.hour)
      }
    }
  }

  var tasks = 24
  var windows = 144
  var every = 15 * Time.minute
  var lanes: UInt32 = 1
  /// Empty: 30 s each.
  var budgets: [Span] = []
  var rhythm = Rhythm.even
  /// What running each task once takes, in windows.
  var load = 3.0
  /// Of the tasks' middles about their mean, as a logarithm's deviation.
  var spread = 0.8
  var tail = Tail.logNormal(0.6)
  /// How much the level of all lengths wanders.
  var drift = 0.0
  /// What is left of a run's length if nothing is new.
  var whenQuiet = 1.0
  /// Minutes from change to change, from the busiest source to the quietest.
  var gaps = 15.0...3_000.0
  var changesInBursts = false
  var declared = Declared.middle
  /// The share of runs that say the opposite of what they found.
  var misreports = 0.0
  var failures = 0.0
  /// Sources that always fail.
  var dead = 0
  /// Tasks whose runs never fit.
  var hogs = 0

  init(_ change: (inout Shape) -> Void = { _ in }) { change(&self) }
}

/// A family of worlds.
enum Family: String, CaseIterable, Sendable {
  case calm = "lengths that vary little"
  case wide = "lengths that vary much"
  case tails = "heavy tails"
  case hits = "hit or miss: quick when nothing is new"
  case drift = "drift, with jumps"
  case bursts = "windows in bursts"
  case days = "a phone's days, windows of all lengths"
  case lanes = "four lanes"
  case wrong = "wrong declarations"
  case misreported = "misreported news"
  case failing = "failures and dead sources"
  case many = "many tasks, few windows"
  case flurries = "news in flurries"
  case quick = "all sources change all the time"
  case equal = "equal tasks"
  case large = "a few tasks of half a window"
  case hogs = "tasks that fit no window"
  case idle = "time for everything"

  var shape: Shape {
    switch self {
    case .calm: Shape { $0.tail = .logNormal(0.3) }
    case .wide: Shape { $0.tail = .logNormal(1.2) }
    case .tails: Shape { $0.tail = .pareto(1.6) }
    case .hits:
      Shape {
        $0.whenQuiet = 0.1
        $0.load = 6
      }
    case .drift: Shape { $0.drift = 1 }
    case .bursts: Shape { $0.rhythm = .bursts }
    case .days:
      Shape {
        $0.rhythm = .days
        $0.budgets = [5, 10, 20, 30, 60].map { $0 * Time.second }
      }
    case .lanes:
      Shape {
        $0.lanes = 4
        $0.tasks = 60
        $0.load = 10
        $0.windows = 96
      }
    case .wrong: Shape { $0.declared = .anything }
    case .misreported: Shape { $0.misreports = 0.3 }
    case .failing:
      Shape {
        $0.failures = 0.2
        $0.dead = 3
      }
    case .many:
      Shape {
        $0.tasks = 100
        $0.load = 8
        $0.windows = 72
        $0.every = 30 * Time.minute
      }
    case .flurries: Shape { $0.changesInBursts = true }
    case .quick: Shape { $0.gaps = 1...10 }
    case .equal:
      Shape {
        $0.spread = 0
        $0.gaps = 60...60.1
        $0.declared = .fiveSeconds
      }
    case .large:
      Shape {
        $0.tasks = 8
        $0.load = 4
        $0.spread = 0.3
      }
    case .hogs: Shape { $0.hogs = 2 }
    case .idle:
      Shape {
        $0.load = 0.6
        $0.windows = 96
      }
    }
  }
}

// Habits: what is learnt of generated people, how well it is calibrated, and what it gains (G5).

import SeleneCore
import SeleneGovernor
import Testing

/// Somebody whose use of a host is generated, hour by hour.
struct Person: Sendable {
  let name: String
  /// The probability of use at an hour of a day, per mille.
  let habit: @Sendable (_ day: Int, _ hour: Int) -> Int

  static let all: [Person] = [
    Person(name: "commuter") { day, hour in
      guard day % 7 < 5 else { return (10...22).contains(hour) ? 300 : 20 }
      return [7, 8, 17, 18].contains(hour) ? 850 : [12, 21, 22].contains(hour) ? 500 : hour < 6 ? 5 : 60
    },
    Person(name: "office") { day, hour in day % 7 < 5 && (9...17).contains(hour) ? 800 : 15 },
    Person(name: "night worker") { _, hour in hour >= 22 || hour < 5 ? 700 : 40 },
    Person(name: "evening only") { _, hour in (19...22).contains(hour) ? 600 : 10 },
    Person(name: "weekend only") { day, hour in day % 7 >= 5 && (9...20).contains(hour) ? 500 : 2 },
    Person(name: "now and then") { _, _ in 40 },
    Person(name: "always") { _, _ in 950 },
    Person(name: "moves abroad") { day, hour in (8...11).contains((hour + (day > 60 ? 9 : 0)) % 24) ? 700 : 30 },
    Person(name: "long holidays") { day, hour in day % 90 > 75 ? 0 : (16...20).contains(hour) ? 700 : 40 },
    Person(name: "gives up") { day, hour in day > 70 ? 0 : (16...20).contains(hour) ? 700 : 40 },
  ]
}

@Suite("UsePrediction") struct UsePredictionTests {
  private static let epoch: Instant = 19_000 * Time.day

  /// Whether each hour of so many days saw use.
  private static func days(_ person: Person, _ count: Int, _ chance: inout Chance) -> [[Bool]] {
    (0..<count).map { day in (0..<24).map { hour in chance.below(1000) < person.habit(day, hour) } }
  }

  private static func at(_ day: Int, _ hour: Int) -> Instant { epoch + Int64(day) * Time.day + Int64(hour) * Time.hour }

  private static func live(_ prediction: inout UsePrediction, _ day: Int, _ hours: [Bool]) {
    for (hour, isUsed) in hours.enumerated() where isUsed {
      prediction.use(from: at(day, hour) + Time.minute, to: at(day, hour) + 9 * Time.minute, offset: 0)
    }
  }

  /// The four two-hour windows of a day that promise most.
  private static func best(_ outlook: UsePrediction.Outlook, _ day: Int) -> Set<Int> {
    var free = Set(0..<24)
    for _ in 0..<4 {
      func promise(_ hour: Int) -> Int64 {
        outlook.probability(at: at(day, hour)) + outlook.probability(at: at(day, hour + 1))
      }
      let starts = free.filter { $0 < 23 && free.contains($0 + 1) }.sorted()
      guard let start = starts.max(by: { promise($0) < promise($1) }) else { break }
      free.subtract([start, start + 1])
    }
    return Set(0..<24).subtracting(free)
  }

  private static let even: Set<Int> = [0, 1, 6, 7, 12, 13, 18, 19]

  @Test("G5 windows where use is likely meet more of it than evenly spaced ones, never less beyond noise")
  func share() throws {
    var chance = Chance("share of use")
    var (allMet, allEven, allUsed) = (0, 0, 0)
    for person in Person.all {
      var (met, byEven, used) = (0, 0, 0)
      for _ in 0..<5 {
        var prediction = UsePrediction()
        for (day, hours) in Self.days(person, 120, &chance).enumerated() {
          if day >= 14 {
            let best = Self.best(prediction.outlook(at: Self.at(day, 0), offset: 0), day)
            for hour in 0..<24 where hours[hour] {
              used += 1
              met += best.contains(hour) ? 1 : 0
              byEven += Self.even.contains(hour) ? 1 : 0
            }
          }
          Self.live(&prediction, day, hours)
        }
      }
      let noise = 3 * Int(Double(used).squareRoot()) + 1
      print(
        "G5 \(person.name): \(1000 * met / max(1, used)) ‰ met, evenly \(1000 * byEven / max(1, used)) ‰ of \(used)")
      try verify(met >= byEven - noise, "\(person.name): \(met) of \(used), evenly \(byEven)")
      allMet += met
      allEven += byEven
      allUsed += used
    }
    print("G5 all: \(1000 * allMet / allUsed) ‰ met, evenly \(1000 * allEven / allUsed) ‰, SELENE_SEED=\(Seed.value)")
    try verify(allMet * 10 > allEven * 13, "all: \(allMet) of \(allUsed), evenly \(allEven)")
  }

  @Test("G5 probabilities are calibrated: of the hours said to have p, about p see use")
  func calibration() throws {
    var chance = Chance("calibration")
    var (hours, said, seen) = (
      [Int](repeating: 0, count: 10), [Int](repeating: 0, count: 10), [0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
    )
    for person in Person.all where person.name != "moves abroad" {
      for _ in 0..<6 {
        var prediction = UsePrediction()
        for (day, used) in Self.days(person, 120, &chance).enumerated() {
          let outlook = prediction.outlook(at: Self.at(day, 0), offset: 0)
          if outlook.isKnown && day >= 10 {
            for hour in 0..<24 {
              let probability = Int(outlook.probability(at: Self.at(day, hour)))
              let bin = min(9, probability / 100)
              hours[bin] += 1
              said[bin] += probability
              seen[bin] += used[hour] ? 1000 : 0
            }
          }
          Self.live(&prediction, day, used)
        }
      }
    }
    var (error, worst) = (0, 0)
    for bin in 0..<10 where hours[bin] > 200 {
      let (p, q) = (said[bin] / hours[bin], seen[bin] / hours[bin])
      print("G5 said \(p) ‰, seen \(q) ‰ of \(hours[bin]) hours")
      // A twenty-fifth of all hours is enough not to be chance, nor the one thing that hours of the day cannot know: weekends.
      if hours[bin] * 25 > hours.reduce(0, +) { worst = max(worst, abs(p - q)) }
      error += abs(said[bin] - seen[bin])
    }
    print("G5 mean error \(error / hours.reduce(0, +)) ‰, SELENE_SEED=\(Seed.value)")
    try verify(worst <= 80, "worst \(worst) ‰")
    try verify(error / hours.reduce(0, +) <= 20, "mean error \(error / hours.reduce(0, +)) ‰")
  }

  @Test("G5 nothing is known before the third day ends; then refresh waits for use and processing avoids it")
  func scores() {
    var prediction = UsePrediction()
    for day in 0..<10 {
      let outlook = prediction.outlook(at: Self.at(day, 0), offset: 0)
      #expect(outlook.isKnown == (day >= 3))
      if !outlook.isKnown { #expect(outlook.score(.refresh, at: Self.at(day, 5)) == 500) }
      for hour in [8, 20] {
        prediction.use(from: Self.at(day, hour), to: Self.at(day, hour) + 1, offset: 0)
      }
    }
    let outlook = prediction.outlook(at: Self.at(10, 0), offset: 0)
    for hour in 0..<24 {
      let isUsed = hour == 8 || hour == 20
      #expect((outlook.score(.refresh, at: Self.at(10, hour)) >= 500) == isUsed)
      #expect((outlook.score(.processing, at: Self.at(10, hour)) >= 500) == !isUsed)
      #expect((outlook.probability(at: Self.at(10, hour)) > 700) == isUsed)
    }
  }

  @Test("G5 counts halve in 28 days")
  func halfLife() {
    var prediction = UsePrediction()
    prediction.use(from: Self.at(0, 9), to: Self.at(0, 9), offset: 0)
    prediction.use(from: Self.at(1, 3), to: Self.at(1, 3), offset: 0)
    let first = prediction.numbers[9]
    prediction.use(from: Self.at(29, 3), to: Self.at(29, 3), offset: 0)
    #expect(first == 1 << 20)
    #expect(abs(prediction.numbers[9] - 1 << 19) < 40)
  }

  @Test("G5 hours are those of the local day")
  func offsets() {
    for offset: Int64 in [-43_200, -12_600, 0, 3_600, 20_700, 50_400] {
      var prediction = UsePrediction()
      for day in 0..<5 {
        let local = Self.at(day, 7) - offset * Time.second
        prediction.use(from: local, to: local + 59 * Time.minute, offset: offset)
      }
      let outlook = prediction.outlook(at: Self.at(5, 0) - offset * Time.second, offset: offset)
      for hour in 0..<24 {
        let local = Self.at(5, hour) - offset * Time.second
        #expect((outlook.probability(at: local) > 500) == (hour == 7))
        #expect(UsePrediction.beginOfHour(local + 17 * Time.minute, offset: offset) == local)
      }
    }
  }

  @Test("G5 after a long absence the probabilities fall, and a year later nothing is known")
  func absence() {
    var prediction = UsePrediction()
    for day in 0..<40 { Self.live(&prediction, day, (0..<24).map { $0 == 9 }) }
    var last: Int64 = 1000
    for day in [40, 43, 45, 50, 60] {
      let probability = prediction.outlook(at: Self.at(day, 0), offset: 0).probability(at: Self.at(day, 9))
      #expect(probability < last)
      last = probability
    }
    #expect(last < 60)
    #expect(!prediction.outlook(at: Self.at(1200, 0), offset: 0).isKnown)
  }

  @Test("G5 moved with its clock it knows as much, and nothing of it lies in the future")
  func shifted() {
    var prediction = UsePrediction()
    for day in 0..<30 { Self.live(&prediction, day, (0..<24).map { $0 == 9 }) }
    for span in [-2000 * Time.day, -Time.day - Time.hour, 400 * Time.day, -19_030 * Time.day, 0] {
      var moved = prediction
      moved.shift(by: span)
      let now = Self.at(29, 10) + span
      let (before, after) = (
        prediction.outlook(at: Self.at(29, 10), offset: 0), moved.outlook(at: now, offset: 0)
      )
      #expect(moved.lastUse == prediction.lastUse.map { $0 + span })
      for hour: Int64 in 20...40 where span % Time.day == 0 {
        #expect(
          after.probability(at: now + hour * Time.hour) == before.probability(at: Self.at(29, 10) + hour * Time.hour))
      }
      moved.use(from: now, to: now, offset: 0)
      #expect(moved.outlook(at: now, offset: 0).probability(at: now) == 1000)
    }
  }

  @Test("G5 as numbers and back it predicts the same; foreign numbers are refused and never trap")
  func numbers() throws {
    var chance = Chance("prediction numbers")
    var prediction = UsePrediction()
    #expect(try UsePrediction(numbers: prediction.numbers).numbers == prediction.numbers)
    for day in 0..<30 { Self.live(&prediction, day, (0..<24).map { _ in chance.once(in: 3) }) }
    let numbers = prediction.numbers
    #expect(numbers.count == 30)
    #expect(try UsePrediction(numbers: numbers).numbers == numbers)
    for _ in 0..<5_000 {
      var broken = numbers
      for _ in 0...chance.below(4) {
        broken[chance.below(broken.count)] = chance.pick([
          .min, .max, -1, 0, 1 << 20, 1 << 30, chance.span(.min ... .max),
        ])
      }
      guard var prediction = try? UsePrediction(numbers: broken) else { continue }
      let now = chance.pick([.min, .max, 0, Self.at(31, 4)])
      let outlook = prediction.outlook(at: now, offset: chance.pick([0, -64_800, 64_800]))
      try verify((0...1000).contains(outlook.probability(at: now)), "probability of \(broken)")
      try verify((0...1000).contains(outlook.score(.refresh, at: now)), "score of \(broken)")
      prediction.use(from: now, to: now.adding(Time.hour), offset: 0)
    }
  }

  @Test("G5 the forecast lists hours in order, from when the budgets and the pace allow")
  func forecast() throws {
    var governor = Governor(BuiltInProfile.apple.profile)
    #expect(governor.forecast(.refresh, 3, at: Self.at(0, 5)).map(\.probability) == [500, 500, 500])
    for day in 0..<20 {
      governor.use(from: Self.at(day, 8), to: Self.at(day, 9) + Time.minute, at: Self.at(day, 9))
    }
    governor.begin(.refresh, budget: 30 * Time.second, at: Self.at(20, 8))
    let now = Self.at(20, 8) + Time.minute
    let refresh = governor.forecast(.refresh, 4, at: now)
    #expect(
      refresh.map(\.begin) == [Self.at(20, 8) + 15 * Time.minute, Self.at(20, 9), Self.at(21, 8), Self.at(21, 9)])
    #expect(refresh.map(\.end) == [Self.at(20, 9), Self.at(20, 10), Self.at(21, 9), Self.at(21, 10)])
    #expect(refresh.allSatisfy { $0.probability > 800 })
    let processing = governor.forecast(.processing, 64, at: now)
    #expect(processing.count == 64)
    #expect(processing.allSatisfy { $0.probability > 800 })
    #expect(Set(processing.map { ($0.begin - Self.at(20, 0)) / Time.hour % 24 }) == Set(0..<24).subtracting([8, 9]))
    try governor.signals.set(.hostPresence, 2, by: .host, at: now)
    #expect(governor.forecast(.refresh, 4, at: now).isEmpty)
    try governor.signals.set(.hostPresence, 2, by: .host, at: now, until: Self.at(21, 9))
    #expect(governor.forecast(.refresh, 1, at: now).map(\.begin) == [Self.at(21, 9)])
  }
}

// docs/governor.md says what the code does: its tables are read and compared (G1, G2).

import Foundation
import SeleneCore
import SeleneGovernor
import Testing

@Suite("GovernorManual") struct GovernorManualTests {
  /// The cells of the tables of the manual, without backquotes, by the heading that they stand under.
  private static let rows: [(section: String, cells: [String])] = {
    let manual = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
      "../../docs/governor.md")
    var section = ""
    var rows: [(String, [String])] = []
    for line in ((try? String(contentsOf: manual, encoding: .utf8)) ?? "").split(separator: "\n") {
      if line.hasPrefix("#") { section = String(line.drop { "# ".contains($0) }) }
      if line.hasPrefix("`") && !line.hasPrefix("```") { section = String(line.dropFirst().prefix { $0 != "`" }) }
      guard line.hasPrefix("|") else { continue }
      let cells = line.split(separator: "|", omittingEmptySubsequences: false).dropFirst().dropLast()
      rows.append((section, cells.map { $0.replacing("`", with: "").trimmingCharacters(in: .whitespaces) }))
    }
    return rows
  }()

  private static func text(_ name: Literal) -> String { "\(name)" }

  @Test("G1 the manual's signals are the code's, with the meaning of their absence")
  func signals() {
    let rows = Self.rows.filter { $0.section == "Signals" && Int($0.cells[0]) != nil }
    #expect(rows.count == Signal.count)
    for (row, signal) in zip(rows, Signal.allCases) {
      #expect(row.cells[0] == "\(signal.rawValue)")
      #expect(row.cells[1] == Self.text(signal.name))
      #expect(row.cells[4] == "\(signal.unknownMeans)")
      let isProbed = row.cells[3] != "– (host)"
      #expect(isProbed || signal.lookAgain == 0)
    }
  }

  @Test("G2 the manual's factors are the code's, with what they usually require")
  func factors() {
    let rows = Self.rows.filter { $0.section == "Factors" && Int($0.cells[0]) != nil }
    #expect(rows.count == Factor.count)
    for (row, factor) in zip(rows, Factor.allCases) {
      #expect(row.cells[0] == "\(factor.rawValue)")
      #expect(row.cells[1] == Self.text(factor.name))
      if factor != .budget { #expect(row.cells[2].hasSuffix(factor.wantsAtLeast ? "at least" : "at most")) }
      let expected =
        switch factor {
        case .budget: "–"
        case .rate: "15 min"
        case .recentUse: "7 days"
        default: "\(factor.usualRequirement)"
        }
      #expect(row.cells[3].split(separator: "(")[0].trimmingCharacters(in: .whitespaces) == expected)
    }
  }

  @Test("G2 the manual's profiles are the code's", arguments: [BuiltInProfile.apple, .server, .strict])
  func profiles(profile: BuiltInProfile) {
    var listed: [String: [String]] = [:]
    for row in Self.rows where row.section == Self.text(profile.name) && row.cells[0] != "factor" {
      listed[row.cells[0]] = row.cells
    }
    for factor in Factor.allCases {
      let cells = listed[Self.text(factor.name)] ?? ["", "–", "–"]
      for kind in Kind.allCases {
        let rule = profile.profile.rule(factor, kind)
        let cell =
          switch rule.mode {
          case .ignored: "–"
          case .veto: rule.preempts ? "veto, stops" : "veto"
          case .weight: "weight"
          }
        #expect(cells[1 + kind.index] == cell, "\(profile) \(factor) \(kind)")
      }
    }
    #expect(!listed.isEmpty)
  }
}

// The node of Sources/SeleneNode as a process: a line in is a call, with the time; a line out is what the node wants then. So a
// test in Python can be its driver, on a real database.

import Foundation
import SeleneCore
import SeleneNode

/// A JSON value, read.
struct Told {
  let value: Any?

  subscript(key: String) -> Told { Told(value: (value as? [String: Any])?[key]) }
  var integer: Int64? { (value as? NSNumber)?.int64Value }
  var string: String? { value as? String }
  var list: [Told] { (value as? [Any] ?? []).map { Told(value: $0) } }
  var bytes: Bytes? { string.flatMap { Data(base64Encoded: $0) }.map { Bytes($0) } }

  /// A cell: a number, {"t": text}, {"b": base64}, a list, or null.
  var cell: NodeValue {
    if let integer { return .integer(integer) }
    if let text = self["t"].string { return .text(Bytes(Data(text.utf8))) }
    if let bytes = self["b"].bytes { return .bytes(bytes) }
    return value is [Any] ? .array(list.map(\.cell)) : .null
  }
}

extension Bytes {
  convenience init(_ data: Data) { self.init(count: data.count) { $0.copyBytes(from: data) } }

  var data: Data { Data(buffer) }
  var string: String { String(decoding: buffer, as: UTF8.self) }
}

extension NodeValue {
  var json: Any {
    switch self {
    case .null: NSNull()
    case .integer(let number): number
    case .boolean(let value): value
    case .text(let text): text.string
    case .bytes(let bytes): ["b": bytes.data.base64EncodedString()]
    case .array(let values): values.map(\.json)
    }
  }
}

/// The node and its statements.
struct Host {
  private var node: FleetNode
  private let statements: NodeStatements

  init(_ told: Told) throws {
    var options = NodeOptions()
    options.lease = told["lease"].integer ?? options.lease
    options.horizon = told["horizon"].integer ?? options.horizon
    options.poll = told["poll"].integer ?? options.poll
    options.seed = UInt64(ProcessInfo.processInfo.processIdentifier)
    try options.check(.own)
    node = FleetNode(options)
    func text(_ key: String) -> Bytes { Bytes(Data((told[key].string ?? "").utf8)) }
    statements = NodeStatements(
      schema: text("schema"), name: text("name"), version: text("version"),
      queues: told["queues"].list.compactMap { $0.string.map { Bytes(Data($0.utf8)) } }, relaxed: false)
  }

  /// Does what a line says.
  mutating func hear(_ told: Told) throws {
    let now = told["now"].integer ?? 0
    let number = UInt64(told["number"].integer ?? 0)
    switch told["do"].string {
    case "rows":
      node.answered(number, rows: told["rows"].list.map { $0.list.map(\.cell) }, at: now)
    case "failed":
      let state = told["state"].string.map { text in Data(text.utf8).withUnsafeBytes { SQLState($0) } }
      node.failed(
        number, state.map { .refused($0) } ?? (told["sent"].value as? Bool == true ? .maybeSent : .notSent), at: now)
    case "offer":
      let (handlers, labels) = (
        Set(told["handlers"].list.compactMap(\.string)), Set(told["labels"].list.compactMap(\.string))
      )
      node.offer(
        NodeRoom(lanes: Int(told["lanes"].integer ?? 1), until: told["until"].integer ?? .max) { one in
          handlers.contains(one.handler.string) && one.labels.allSatisfy { labels.contains($0.string) }
        }, at: now)
    case "withdraw": node.withdraw(at: now)
    case "hint": node.hint(at: now)
    case "close": node.close(at: now, grace: told["grace"].integer ?? 0)
    case "ended":
      let run = told["run"].integer ?? 0
      guard let outcome = told["outcome"].integer.flatMap({ Outcome(rawValue: Int32($0)) }) else {
        node.ended(run, .returned, at: now)
        break
      }
      let decision = try NodeDecision(
        outcome, response: told["response"].integer ?? 0,
        failure: told["failure"].string.map { Bytes(Data($0.utf8)) }, result: told["result"].bytes)
      node.ended(run, .decided(decision), at: now)
    default: break
    }
  }

  /// What the node wants now.
  mutating func say(at now: Instant) -> [String: Any] {
    var line: [String: Any] = [:]
    if let request = node.step(at: now) {
      let statement = statements.statement(of: request.call, lease: node.options.lease)
      line["request"] = [
        "number": request.number, "sql": statement.sql.string, "values": statement.values.map(\.json),
        "timeout": request.timeout,
      ]
    }
    line["actions"] = node.takeActions().map { words(of: $0) }
    line["wake"] = node.nextWake
    line["closed"] = node.isClosed
    return line
  }

  private func words(of action: NodeAction) -> [Any] {
    switch action {
    case .begin(let run):
      ["begin", run.key.run, run.key.task, run.id.string, run.handler.string, run.input.data.base64EncodedString()]
    case .stop(let run, .leaseLost): ["stop", run, "lease_lost"]
    case .stop(let run, .leaving): ["stop", run, "leaving"]
    case .stop(let run, .taken(let reason)): ["stop", run, "\(reason)"]
    case .decided(let run, let counts): ["decided", run, counts]
    case .clocksDiffer(let span): ["clocks_differ", span]
    case .clocksAgree: ["clocks_agree"]
    case .tookBack(let count): ["took_back", count]
    case .draining: ["draining"]
    case .refused: ["refused"]
    case .unreadable: ["unreadable"]
    }
  }
}

func read() -> Told? {
  readLine().map { line in Told(value: try? JSONSerialization.jsonObject(with: Data(line.utf8))) }
}

guard let first = read() else { exit(0) }
var host = try Host(first)
while let told = read() {
  try host.hear(told)
  let line = try JSONSerialization.data(withJSONObject: host.say(at: told["now"].integer ?? 0))
  FileHandle.standardOutput.write(line + Data("\n".utf8))
}

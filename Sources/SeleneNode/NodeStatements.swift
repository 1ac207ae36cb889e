// The functions of a fleet's schema as statements: each call of a node is one, and a commit of its own (N29).

import SeleneCore

/// A statement with numbered parameters, and their values.
package struct NodeStatement: Sendable {
  package let sql: Bytes
  package let values: [NodeValue]
}

/// The statements of one node.
package final class NodeStatements: Sendable {
  /// Which protocols these statements are of; a fleet that speaks none of them refuses hello (N33).
  private static let protocols: [Int32] = [1]

  private let name: Bytes
  private let version: Bytes
  private let queues: [Bytes]
  private let hello: Bytes
  private let beat: Bytes
  private let lastBeats: Bytes
  private let classes: Bytes
  private let turn: Bytes
  private let turnBefore: Bytes
  private let fate: Bytes
  private let bye: Bytes

  /// - Parameter schema: that of the fleet, as it is called, without quotes.
  /// - Parameter name: of the node, for people.
  /// - Parameter queues: whose tasks it takes; empty: of all.
  /// - Parameter relaxed: as the options say it; a fleet of an earlier release does not know the word.
  package init(schema: Bytes, name: Bytes, version: Bytes, queues: [Bytes], relaxed: Bool) {
    (self.name, self.version, self.queues) = (name, version, queues)
    // Parameters say their types, so that no client has to.
    hello = Self.text(
      "select worker, now from ", schema,
      relaxed
        ? "hello($1::text, $2::bigint, $3::text, $4::int[], relaxed => true)"
        : "hello($1::text, $2::bigint, $3::text, $4::int[])")
    beat = Self.text(
      "select what, number, value from ", schema,
      "beat($1::bigint, $2::bigint, $3::bigint[], $4::int[], $5::int[], $6::bigint[], $7::bigint[])")
    lastBeats = Self.text(
      "select what, number, value from ", schema,
      "beat($1::bigint, $2::bigint, $3::bigint[], $4::int[], $5::int[], $6::bigint[], $7::bigint[], holds_all => true)")
    classes = Self.text(
      "select class, kind::int, constraints, labels, handler from ", schema, "classes($1::text[])")
    let turnBegins: StaticString =
      "select what, run, state, at, seq, id, handler, class, input, est, attempts, generation, line, last_run from "
    turn = Self.text(
      turnBegins, schema,
      """
      turn($1::bigint, $2::bigint[], $3::bigint[], $4::int[], $5::bigint[], $6::bigint[], $7::text[], $8::bytea[], \
      back_seqs => $9::bigint[], back_runs => $10::bigint[], held => $11::bigint[], classes => $12::int[], \
      most => $13::int, room => $14::bigint, total => $15::bigint, first => $16::boolean, lines => $17::int[], \
      since => $18::bigint[], due_since => $19::bigint, lanes => $20::int, started => $21::bigint[])
      """)
    // Of a fleet whose schema is of an earlier release.
    turnBefore = Self.text(
      turnBegins, schema,
      """
      turn($1::bigint, $2::bigint[], $3::bigint[], $4::int[], $5::bigint[], $6::bigint[], $7::text[], $8::bytea[], \
      back_seqs => $9::bigint[], back_runs => $10::bigint[], held => $11::bigint[], classes => $12::int[], \
      most => $13::int, room => $14::bigint, total => $15::bigint, first => $16::boolean, lines => $17::int[], \
      since => $18::bigint[], due_since => $19::bigint)
      """)
    fate = Self.text("select run, fate from ", schema, "fate($1::bigint[], $2::bigint[], $3::text[])")
    bye = Self.text("select ", schema, "bye($1::bigint)")
  }

  /// A text with the name of the schema as SQL has it.
  private static func text(_ before: StaticString, _ schema: Bytes, _ after: StaticString) -> Bytes {
    var bytes = [UInt8](UnsafeBufferPointer(start: before.utf8Start, count: before.utf8CodeUnitCount))
    let quote = UInt8(ascii: "\"")
    bytes.append(quote)
    for byte in schema.buffer {
      if byte == quote { bytes.append(quote) }
      bytes.append(byte)
    }
    bytes += [quote, UInt8(ascii: ".")]
    bytes.append(contentsOf: UnsafeBufferPointer(start: after.utf8Start, count: after.utf8CodeUnitCount))
    return bytes.withUnsafeBytes { Bytes(copying: $0) }
  }

  /// The statement of a call.
  package func statement(of call: NodeCall, lease: Span) -> NodeStatement {
    switch call {
    case .hello:
      NodeStatement(
        sql: hello, values: [.text(name), .integer(lease), .text(version), .integers(Self.protocols)])
    case .beat(let call):
      NodeStatement(
        sql: call.holdsAll ? lastBeats : beat,
        values: [
          .integer(call.worker), NodeValue(call.elapsed), .integers(call.held), .integers(call.serves),
          column(.fleetClass, of: call.times), column(.count, of: call.times), column(.total, of: call.times),
        ])
    case .classes:
      NodeStatement(sql: classes, values: [queues.isEmpty ? .null : .array(queues.map { .text($0) })])
    case .turn(let call): NodeStatement(sql: call.started == nil ? turnBefore : turn, values: values(of: call))
    case .fate(let decisions):
      NodeStatement(
        sql: fate,
        values: [column(.task, of: decisions), column(.run, of: decisions), column(.id, of: decisions)])
    case .bye(let worker): NodeStatement(sql: bye, values: [.integer(worker)])
    }
  }

  private func values(of turn: NodeTurn) -> [NodeValue] {
    let (ended, claim) = (turn.decisions, turn.claim)
    var (tasks, runs, lines, since): ([Int64], [Int64], [Int32], [Int64]) = ([], [], [], [])
    for key in turn.back {
      tasks.append(key.task)
      runs.append(key.run)
    }
    for mark in claim?.lines ?? [] {
      lines.append(mark.line)
      since.append(mark.since)
    }
    var values: [NodeValue] = [
      .integer(turn.worker), column(.task, of: ended), column(.run, of: ended), column(.outcome, of: ended),
      column(.response, of: ended), column(.delay, of: ended), column(.failure, of: ended), column(.result, of: ended),
      .integers(tasks), .integers(runs), .integers(turn.held), .integers(claim?.classes ?? []),
      .integer(Int64(claim?.most ?? 0)), .integer(claim?.room ?? 0), .integer(claim?.total ?? 0),
      .boolean(claim?.isFirst ?? false), .integers(lines), .integers(since), .integer(claim?.dueSince ?? 0),
    ]
    if let started = turn.started { values += [.integer(Int64(turn.lanes)), .integers(started)] }
    return values
  }

  // MARK: Columns

  /// What of decisions; one loop for all, because each closure that goes through them has its own.
  private enum DecisionColumn {
    case task, run, id, outcome, response, delay, failure, result
  }

  private func column(_ column: DecisionColumn, of decisions: [OpenDecision]) -> NodeValue {
    var values: [NodeValue] = []
    for one in decisions {
      let value: NodeValue =
        switch column {
        case .task: .integer(one.key.task)
        case .run: .integer(one.key.run)
        case .id: .text(one.id)
        case .outcome: .integer(Int64(one.decision.outcome.rawValue))
        case .response: .integer(one.decision.response)
        case .delay: NodeValue(one.decision.delay)
        case .failure: one.decision.failure.map { .text($0) } ?? .null
        case .result: one.decision.result.map { .bytes($0) } ?? .null
        }
      values.append(value)
    }
    return .array(values)
  }

  /// What of the times of classes.
  private enum TimeColumn {
    case fleetClass, count, total
  }

  private func column(_ column: TimeColumn, of times: [ClassTime]) -> NodeValue {
    var values: [Int64] = []
    for one in times {
      switch column {
      case .fleetClass: values.append(Int64(one.fleetClass))
      case .count: values.append(one.count)
      case .total: values.append(one.total)
      }
    }
    return .integers(values)
  }
}

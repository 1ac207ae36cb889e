// The functions of a fleet's schema as statements: each call of a node is one, and a commit of its own (N29).

import SeleneCore

/// A statement with numbered parameters, and their values.
package struct NodeStatement: Sendable {
  package let sql: Bytes
  package let values: [NodeValue]
}

/// The statements of one node.
package struct NodeStatements: Sendable {
  private let name: Bytes
  private let version: Bytes
  private let queues: [Bytes]
  private let hello: Bytes
  private let beat: Bytes
  private let classes: Bytes
  private let turn: Bytes
  private let fate: Bytes
  private let bye: Bytes

  /// - Parameter schema: that of the fleet, as it is called, without quotes.
  /// - Parameter name: of the node, for people.
  /// - Parameter queues: whose tasks it takes; empty: of all.
  package init(schema: Bytes, name: Bytes, version: Bytes, queues: [Bytes]) {
    (self.name, self.version, self.queues) = (name, version, queues)
    // Parameters say their types, so that no client has to.
    hello = Self.text("select worker, now from ", schema, "hello($1::text, $2::bigint, $3::text)")
    beat = Self.text(
      "select what, number, value from ", schema,
      "beat($1::bigint, $2::bigint, $3::bigint[], $4::int[], $5::int[], $6::bigint[], $7::bigint[])")
    classes = Self.text(
      "select class, kind::int, constraints, labels, handler from ", schema, "classes($1::text[])")
    turn = Self.text(
      """
      select what, run, state, at, seq, id, handler, class, input, est, attempts, generation, line, last_run from \

      """, schema,
      """
      turn($1::bigint, $2::bigint[], $3::bigint[], $4::int[], $5::bigint[], $6::bigint[], $7::text[], $8::bytea[], \
      back_seqs => $9::bigint[], back_runs => $10::bigint[], held => $11::bigint[], classes => $12::int[], \
      most => $13::int, room => $14::bigint, total => $15::bigint, first => $16::boolean, lines => $17::int[], \
      since => $18::bigint[])
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
    case .hello: NodeStatement(sql: hello, values: [.text(name), .integer(lease), .text(version)])
    case .beat(let call):
      NodeStatement(
        sql: beat,
        values: [
          .integer(call.worker), NodeValue(call.elapsed), .integers(call.held), .integers(call.serves),
          .integers(call.times.map { $0.fleetClass }), .integers(call.times.map { $0.count }),
          .integers(call.times.map { $0.total }),
        ])
    case .classes:
      NodeStatement(sql: classes, values: [queues.isEmpty ? .null : .array(queues.map { .text($0) })])
    case .turn(let call): NodeStatement(sql: turn, values: values(of: call))
    case .fate(let decisions):
      NodeStatement(
        sql: fate,
        values: [
          .integers(decisions.map { $0.key.task }), .integers(decisions.map { $0.key.run }),
          .array(decisions.map { .text($0.id) }),
        ])
    case .bye(let worker): NodeStatement(sql: bye, values: [.integer(worker)])
    }
  }

  private func values(of turn: NodeTurn) -> [NodeValue] {
    let (ended, claim) = (turn.decisions, turn.claim)
    return [
      .integer(turn.worker), .integers(ended.map { $0.key.task }), .integers(ended.map { $0.key.run }),
      .integers(ended.map { $0.decision.outcome.rawValue }), .integers(ended.map { $0.decision.response }),
      .array(ended.map { NodeValue($0.decision.delay) }),
      .array(ended.map { one in one.decision.failure.map { .text($0) } ?? .null }),
      .array(ended.map { one in one.decision.result.map { .bytes($0) } ?? .null }),
      .integers(turn.back.map { $0.task }), .integers(turn.back.map { $0.run }), .integers(turn.held),
      .integers(claim?.classes ?? []), .integer(Int64(claim?.most ?? 0)), .integer(claim?.room ?? 0),
      .integer(claim?.total ?? 0), .boolean(claim?.isFirst ?? false),
      .integers(claim?.lines.map { $0.line } ?? []), .integers(claim?.lines.map { $0.since } ?? []),
    ]
  }
}

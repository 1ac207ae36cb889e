// Section NODE of the header.

import CSelene
import CService
import SeleneCore
import SeleneEngine
import SeleneNode

extension selene_node_options: SizedStruct {}

extension selene_node_request: SizedStruct {}

extension selene_node_info: SizedStruct {
  fileprivate init(_ standing: NodeStanding) {
    self.init()
    state = standing.state.rawValue
    (worker, believes_until) = (standing.worker, standing.worker == 0 ? 0 : standing.believesUntil)
    (working, ready, undecided) = (UInt64(standing.working), UInt64(standing.ready), UInt64(standing.undecided))
  }
}

// MARK: Open and close

@_cdecl("selene_node_open") @implementation
public func selene_node_open(
  _ scheduler: selene_scheduler, _ options: UnsafePointer<selene_node_options>!, _ out_fd: UnsafeMutablePointer<Int32>!
) -> selene_status {
  attempt { () throws(SeleneError) in
    var given = selene_node_options.initial
    if let options = options as UnsafePointer? {
      let known = UInt32(SELENE_NODE_OPTION_RELAXED)
      given = try read(options, flags: known, named: "0, or SELENE_NODE_OPTION_RELAXED (1)", "options")
    }
    var draft = NodeDraft()
    draft.schema = try borrow(given.schema, "schema", usual: "selene")
    draft.name = try borrow(given.name, "name", usual: "node")
    draft.version = UnsafeRawBufferPointer(start: version.utf8Start, count: version.utf8CodeUnitCount)
    draft.queues = try borrow(given.queues, count: given.queue_count, atMost: 1_000, "queues")
    draft.labels = try borrow(given.labels, count: given.label_count, atMost: 64, "labels")
    (draft.options.lease, draft.options.horizon, draft.options.poll) = (given.lease, given.horizon, given.poll)
    draft.options.relaxed = given.flags != 0
    let descriptor = try Scheduler.enter(scheduler) { (scheduler, moment) throws(SeleneError) in
      try scheduler.openNode(draft, at: moment).descriptor
    }
    (out_fd as UnsafeMutablePointer?)?.pointee = descriptor
  }
}

@_cdecl("selene_node_leave") @implementation
public func selene_node_leave(_ scheduler: selene_scheduler, _ grace: Int64) -> selene_status {
  attempt { () throws(SeleneError) in
    try Scheduler.enter(scheduler) { (scheduler, moment) throws(SeleneError) in
      try scheduler.leaveFleet(grace: grace, at: moment)
    }
  }
}

@_cdecl("selene_node_close") @implementation
public func selene_node_close(_ scheduler: selene_scheduler) -> selene_status {
  attempt { () throws(SeleneError) in
    try Scheduler.enter(scheduler) { (scheduler, moment) throws(SeleneError) in scheduler.closeNode(at: moment.now) }
  }
}

// MARK: Calls

/// What a request points to: the head of one block.
private struct LentRequest {
  let sql: selene_text
  let values: UnsafePointer<selene_value>?
  let count: Int
}

extension selene_value {
  fileprivate init(_ value: NodeValue, in block: inout Block) {
    self.init()
    switch value {
    case .null: type = Int32(SELENE_VALUE_NULL)
    case .integer(let number): (type, integer) = (Int32(SELENE_VALUE_INTEGER), number)
    case .boolean(let flag): (type, integer) = (Int32(SELENE_VALUE_BOOLEAN), flag ? 1 : 0)
    case .text(let text): set(Int32(SELENE_VALUE_TEXT), block.text(text.buffer))
    case .bytes(let bytes): set(Int32(SELENE_VALUE_BYTES), block.text(bytes.buffer))
    case .array(let values):
      let entries = block.array(values.count) { index, block in selene_value(values[index], in: &block) }
      (type, data, length) = (Int32(SELENE_VALUE_ARRAY), UnsafeRawPointer(entries), Int64(values.count))
    }
  }

  private mutating func set(_ kind: Int32, _ text: selene_text) {
    (type, data, length) = (kind, UnsafeRawPointer(text.data), text.length)
  }
}

@_cdecl("selene_node_step") @implementation
public func selene_node_step(
  _ scheduler: selene_scheduler, _ out_request: UnsafeMutablePointer<selene_node_request>!,
  _ out_wake_at: UnsafeMutablePointer<Int64>!
) -> selene_status {
  attempt { () throws(SeleneError) in
    let out = try require(out_request, "out_request")
    let size = try structSize(out, "out_request")
    try Scheduler.enter(scheduler, probing: .asked) { (scheduler, moment) throws(SeleneError) in
      let (node, found, wakeAt) = try scheduler.stepNode(at: moment)
      var request = selene_node_request.initial
      if let found {
        let statement = node.statements.statement(of: found.call, lease: node.options.lease)
        let lent = Block.make { block in
          let sql = block.text(statement.sql.buffer)
          let values = block.array(statement.values.count) { index, block in
            selene_value(statement.values[index], in: &block)
          }
          return LentRequest(sql: sql, values: values, count: statement.values.count)
        }
        node.lent?.deallocate()
        node.lent = UnsafeMutableRawPointer(lent)
        (request.number, request.sql, request.timeout) = (found.number, lent.pointee.sql, found.timeout)
        (request.values, request.value_count) = (lent.pointee.values, UInt64(lent.pointee.count))
      }
      write(request, to: out, size: size)
      (out_wake_at as UnsafeMutablePointer?)?.pointee = wakeAt
    }
  }
}

@_cdecl("selene_node_wait") @implementation
public func selene_node_wait(
  _ scheduler: selene_scheduler, _ timeout: Int64, _ out_ready: UnsafeMutablePointer<Int32>!
) -> selene_status {
  attempt { () throws(SeleneError) in
    let out = try require(out_ready, "out_ready")
    out.pointee = try Scheduler.awaitNode(scheduler, timeout: checkedTimeout(timeout)) ? 1 : 0
  }
}

/// A cell that a host gives.
private func value(_ given: selene_value, isEntry: Bool = false) throws(SeleneError) -> NodeValue {
  func bytes() throws(SeleneError) -> Bytes {
    guard given.length >= 0 else { throw .range("cells", given.length, 0, .max, .bytes) }
    guard given.data != nil || given.length == 0 else { throw .null("cells") }
    return Bytes(copying: UnsafeRawBufferPointer(start: given.data, count: Int(clamping: given.length)))
  }
  switch given.type {
  case Int32(SELENE_VALUE_NULL): return .null
  case Int32(SELENE_VALUE_INTEGER): return .integer(given.integer)
  case Int32(SELENE_VALUE_BOOLEAN): return .boolean(given.integer != 0)
  case Int32(SELENE_VALUE_TEXT): return .text(try bytes())
  case Int32(SELENE_VALUE_BYTES): return .bytes(try bytes())
  case Int32(SELENE_VALUE_ARRAY):
    guard !isEntry else { throw SeleneError(.invalidArgument, "cells", "an array in an array") }
    guard (0...mostCells).contains(given.length) else { throw .range("cells", given.length, 0, mostCells) }
    guard let entries = given.data?.assumingMemoryBound(to: selene_value.self) else {
      guard given.length == 0 else { throw .null("cells") }
      return .array([])
    }
    var values: [NodeValue] = []
    for index in 0..<Int(given.length) { values.append(try value(entries[index], isEntry: true)) }
    return .array(values)
  default: throw .range("cells", given.type, 0, Int64(SELENE_VALUE_ARRAY), .number, "a SELENE_VALUE_ number (0 … 5)")
  }
}

private let mostCells: Int64 = 16_777_216

@_cdecl("selene_node_rows") @implementation
public func selene_node_rows(
  _ scheduler: selene_scheduler, _ number: UInt64, _ cells: UnsafePointer<selene_value>!, _ rows: UInt64,
  _ columns: UInt64
) -> selene_status {
  attempt { () throws(SeleneError) in
    guard rows <= UInt64(mostCells) else { throw .range("rows", Int64(clamping: rows), 0, mostCells) }
    guard columns <= 1_600 else { throw .range("columns", Int64(clamping: columns), 0, 1_600) }
    guard rows * columns <= UInt64(mostCells) else {
      throw .range("rows", Int64(rows), 0, mostCells / Int64(columns))
    }
    var table: [[NodeValue]] = []
    if rows * columns > 0 {
      let cells = try require(cells, "cells")
      table.reserveCapacity(Int(rows))
      for row in 0..<Int(rows) {
        var found: [NodeValue] = []
        found.reserveCapacity(Int(columns))
        for column in 0..<Int(columns) { found.append(try value(cells[row * Int(columns) + column])) }
        table.append(found)
      }
    }
    try Scheduler.enter(scheduler) { [table] (scheduler, moment) throws(SeleneError) in
      try scheduler.answer(number, rows: table, at: moment)
    }
  }
}

@_cdecl("selene_node_failed") @implementation
public func selene_node_failed(
  _ scheduler: selene_scheduler, _ number: UInt64, _ sent: Int32, _ sqlstate: UnsafePointer<CChar>!,
  _ message: UnsafePointer<CChar>!
) -> selene_status {
  attempt { () throws(SeleneError) in
    guard (0...1).contains(sent) else { throw .range("sent", sent, 0, 1) }
    var failure: NodeFailure = sent == 1 ? .maybeSent : .notSent
    if let sqlstate = sqlstate as UnsafePointer? {
      let state = try borrow(sqlstate, -1, "sqlstate", atMost: 5)
      guard state.count == 5 else { throw .range("sqlstate", state.count, 5, 5, .bytes) }
      failure = .refused(SQLState(state))
    }
    let text = try borrow(message as UnsafePointer?, -1, "message", atMost: 1_024)
    try Scheduler.enter(scheduler) { [failure] (scheduler, moment) throws(SeleneError) in
      try scheduler.noAnswer(number, failure, text, at: moment)
    }
  }
}

@_cdecl("selene_node_hint") @implementation
public func selene_node_hint(_ scheduler: selene_scheduler) -> selene_status {
  attempt { () throws(SeleneError) in
    try Scheduler.enter(scheduler) { (scheduler, moment) throws(SeleneError) in try scheduler.hintNode(at: moment) }
  }
}

@_cdecl("selene_node_get") @implementation
public func selene_node_get(
  _ scheduler: selene_scheduler, _ out_info: UnsafeMutablePointer<selene_node_info>!
) -> selene_status {
  attempt { () throws(SeleneError) in
    let out = try require(out_info, "out_info")
    let size = try structSize(out, "out_info")
    let standing = try Scheduler.enter(scheduler, isQuestion: true) { (scheduler, _) throws(SeleneError) in
      try scheduler.standingOfNode()
    }
    write(selene_node_info(standing), to: out, size: size)
  }
}

// MARK: Runs

@_cdecl("selene_run_fence") @implementation
public func selene_run_fence(
  _ run: selene_run, _ out_fence: UnsafeMutablePointer<Int64>!, _ out_task: UnsafeMutablePointer<Int64>!
) -> selene_status {
  guard let out_fence = out_fence as UnsafeMutablePointer? else { return fail(.null("out_fence")) }
  return attempt { () throws(SeleneError) in
    try Scheduler.enter(run: run) { (scheduler, number, _) throws(SeleneError) in
      guard try !scheduler.asks(number, SERVICE_RUN_FENCE, word(out_fence), word(out_task)) else { return }
      let key = try scheduler.key(number)
      out_fence.pointee = key.run
      (out_task as UnsafeMutablePointer?)?.pointee = key.task
    }
  }
}

@_cdecl("selene_run_decided_by_host") @implementation
public func selene_run_decided_by_host(_ run: selene_run) -> selene_status {
  attempt { () throws(SeleneError) in
    try Scheduler.enter(run: run) { (scheduler, number, _) throws(SeleneError) in
      if try !scheduler.asks(number, SERVICE_RUN_DECIDED_BY_HOST) { try scheduler.letHostDecide(number) }
    }
  }
}

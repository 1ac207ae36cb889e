// Section SERVER of the header, and how a function goes to the owner where its scheduler is a connection.

import CSelene
import CService
import SeleneCore
import SeleneEngine

// MARK: Connections

/// The same for a function that the owner makes if the handle is a connection; the words are its arguments.
@inline(__always)
func attempt(
  _ scheduler: selene_scheduler, _ operation: service_operation, _ a: UInt64 = 0, _ b: UInt64 = 0, _ c: UInt64 = 0,
  _ d: UInt64 = 0, _ body: () throws(SeleneError) -> Void
) -> selene_status {
  guard service_is_connection(scheduler) == 0 else { return ask(scheduler, operation, a, b, c, d) }
  return attempt(body)
}

@inline(__always)
func word(_ pointer: UnsafeRawPointer?) -> UInt64 { UInt64(UInt(bitPattern: pointer)) }

@inline(__always)
func word(_ number: some FixedWidthInteger) -> UInt64 { UInt64(truncatingIfNeeded: number) }

@inline(never)
private func ask(
  _ scheduler: selene_scheduler, _ operation: service_operation, _ a: UInt64, _ b: UInt64, _ c: UInt64, _ d: UInt64
) -> selene_status {
  attempt { service_ask(scheduler, UInt32(operation.rawValue), a, b, c, d, $0) }
}

/// The same for a call of CService.
func attempt(_ call: (UnsafeMutablePointer<service_failure>) -> Int32) -> selene_status {
  attempt { () throws(SeleneError) in try calling(call) }
}

/// Makes a call of CService; throws what it leaves.
func calling(_ call: (UnsafeMutablePointer<service_failure>) -> Int32) throws(SeleneError) {
  let refusal = withUnsafeTemporaryAllocation(of: service_failure.self, capacity: 1) { room -> SeleneError? in
    guard let failure = room.baseAddress else { return nil }
    return call(failure) != 0 ? SeleneError(failure: failure) : nil
  }
  if let refusal { throw refusal }
}

extension SeleneError {
  /// What a call of CService left: the owner, or the connection to it, refused.
  init(failure: UnsafePointer<service_failure>) {
    func text(_ place: Int32) -> Detail {
      let start = service_text(failure, place)
      var count = 0
      while start[count] != 0 { count += 1 }
      return "\(text: UnsafeRawBufferPointer(start: start, count: count))"
    }
    var told = ToldFault(
      status: failure.pointee.status, sentence: text(0), texts: [text(1), text(2), text(3), text(4), text(5)])
    (told.flags, told.unit, told.value) = (failure.pointee.flags, failure.pointee.unit, failure.pointee.value)
    (told.least, told.greatest) = (failure.pointee.least, failure.pointee.greatest)
    self.init(told: told)
  }
}

// MARK: Options

extension selene_server_options: SizedStruct {
  fileprivate var hasDescriptor: Bool { flags & UInt32(SELENE_SERVER_DESCRIPTOR) != 0 }

  /// - Throws: `invalidArgument`.
  fileprivate func check(_ units: Units) throws(SeleneError) {
    guard rule_count <= 1024 else { throw .range("rule_count", rule_count, 0, 1024) }
    if rule_count > 0 {
      let rules = try require(rules, "rules")
      for index in 0..<Int(rule_count) {
        let known = UInt32(SELENE_RIGHT_ALL)
        guard rules[index].rights & ~known == 0 else {
          throw .range(
            "rules", rules[index].rights, 0, Int64(known), .bits,
            "0, or a sum of SELENE_RIGHT_LOOK (1), _READ (2), _ENQUEUE (4), _WORK (8), _MANAGE (16)"
          ).entry(index)
        }
      }
    }
    guard mode <= 0o777 else { throw .range("mode", mode, 0, 0o777) }
    guard (1...65_536).contains(max_clients) else { throw .range("max_clients", max_clients, 1, 65_536) }
    guard (65_536...1 << 30).contains(max_request_size) else {
      throw .range("max_request_size", max_request_size, 65_536, 1 << 30, .bytes)
    }
    guard descriptor >= 0 else { throw .range("descriptor", descriptor, 0, Int64(Int32.max)) }
    guard hasDescriptor || descriptor == 0 else {
      throw .range("descriptor", descriptor, 0, 0, .number, "0 without SELENE_SERVER_DESCRIPTOR in flags")
    }
    guard !hasDescriptor || path.length == 0 else {
      throw SeleneError(.invalidArgument, "path", "must be empty where a descriptor is given")
    }
    guard reserved == 0 else { throw .range("reserved", reserved, 0, 0) }
    try units.check("adopt", adopt, 0, Time.day)
    try Units.system.check("patience", patience, Time.millisecond, Time.day)
  }
}

extension selene_connect_options: SizedStruct {}

extension selene_server_info: SizedStruct {}

/// The name of a socket or a store.
private func borrow(place: selene_text) throws(SeleneError) -> UnsafeRawBufferPointer {
  let path = try borrow(path: place, "path")
  guard path.count < 4096 else { throw .range("path", path.count, 0, 4095, .bytes) }
  guard !path.contains(0) else { throw SeleneError(.invalidArgument, "path", "must not contain NUL") }
  return path
}

// MARK: Servers

/// Serves a scheduler on a thread of the library, or in steps of the host's.
private func serve(
  _ scheduler: selene_scheduler, _ options: UnsafePointer<selene_server_options>?,
  _ out_server: UnsafeMutablePointer<selene_server>?, _ out_fd: UnsafeMutablePointer<Int32>?, hasThread: Bool
) -> selene_status {
  var terms = service_terms()
  var adopt: Int64 = 0
  let status = attempt { () throws(SeleneError) in
    _ = try require(out_server, "out_server")
    let options = try options.map { given throws(SeleneError) in
      try read(
        given, flags: UInt32(SELENE_SERVER_DESCRIPTOR), named: "0, or SELENE_SERVER_DESCRIPTOR (1)", "options")
    }
    let given = options ?? selene_server_options.initial
    let path = try borrow(place: given.path)
    terms.path = path.baseAddress?.assumingMemoryBound(to: CChar.self)
    terms.path_length = UInt64(path.count)
    terms.rules = UnsafeRawPointer(given.rules)?.assumingMemoryBound(to: service_rule.self)
    terms.rule_count = given.rule_count
    (terms.mode, terms.max_clients, terms.max_frame) = (given.mode, given.max_clients, given.max_request_size)
    (terms.descriptor, terms.has_thread, terms.patience) = (
      given.hasDescriptor ? given.descriptor : -1, hasThread ? 1 : 0, given.patience
    )
    adopt = given.adopt
    try Scheduler.enter(scheduler, isQuestion: true) { (scheduler, _) throws(SeleneError) in
      try given.check(scheduler.units)
      if hasThread { try scheduler.refuseWithoutThreads() }
      scheduler.prepareToAwait(for: adopt)
    }
  }
  guard status == 0, let out_server else { return status }
  var taps = service_taps.ofEvents
  var crews = service_crews.ofScheduler
  let opened = attempt { service_open(scheduler, &terms, &taps, &crews, out_server, out_fd, $0) }
  guard opened == 0 else {
    _ = attempt { () throws(SeleneError) in
      try Scheduler.enter(scheduler) { (scheduler, _) throws(SeleneError) in
        scheduler.prepareToAwait(for: Scheduler.usualAdoption)
      }
    }
    return opened
  }
  let awaits = attempt { () throws(SeleneError) in
    try Scheduler.enter(scheduler) { (scheduler, moment) throws(SeleneError) in
      scheduler.awaitMembers(for: adopt, at: moment)
    }
  }
  // Another thread has closed the scheduler meanwhile: who did not find this server there does not end it.
  if awaits != 0 {
    let failure = UnsafeMutablePointer<service_failure>.allocate(capacity: 1)
    _ = service_close(out_server.pointee, failure)
    failure.deallocate()
  }
  return awaits
}

@_cdecl("selene_server_start") @implementation
public func selene_server_start(
  _ scheduler: selene_scheduler, _ options: UnsafePointer<selene_server_options>!,
  _ out_server: UnsafeMutablePointer<selene_server>!
) -> selene_status {
  serve(scheduler, options, out_server, nil, hasThread: true)
}

@_cdecl("selene_server_open") @implementation
public func selene_server_open(
  _ scheduler: selene_scheduler, _ options: UnsafePointer<selene_server_options>!,
  _ out_server: UnsafeMutablePointer<selene_server>!, _ out_fd: UnsafeMutablePointer<Int32>!
) -> selene_status {
  serve(scheduler, options, out_server, out_fd, hasThread: false)
}

@_cdecl("selene_server_step") @implementation
public func selene_server_step(
  _ server: selene_server, _ out_wake_at: UnsafeMutablePointer<Int64>!
) -> selene_status {
  attempt { service_step(server, out_wake_at, $0) }
}

@_cdecl("selene_server_get") @implementation
public func selene_server_get(
  _ server: selene_server, _ out_info: UnsafeMutablePointer<selene_server_info>!
) -> selene_status {
  var census = service_census()
  var size = 0
  let status = attempt { () throws(SeleneError) in
    let out: UnsafeMutablePointer<selene_server_info> = try require(out_info, "out_info")
    size = try structSize(out, "out_info")
  }
  guard status == 0 else { return status }
  return attempt { failure in
    let status = service_census_of(server, &census, failure)
    guard status == 0 else { return status }
    let info = selene_server_info(
      struct_size: 0, flags: 0, clients: census.clients, accepted: census.accepted, requests: census.requests,
      refused: census.refused, broken: census.broken)
    write(info, to: out_info, size: size)
    return 0
  }
}

@_cdecl("selene_server_close") @implementation
public func selene_server_close(_ server: selene_server) -> selene_status {
  server == 0 ? 0 : attempt { service_close(server, $0) }
}

@_cdecl("selene_client_list") @implementation
public func selene_client_list(
  _ scheduler: selene_scheduler, _ out_clients: UnsafeMutablePointer<UnsafeMutablePointer<selene_clients>?>!
) -> selene_status {
  attempt(scheduler, SERVICE_CLIENT_LIST, word(out_clients)) { () throws(SeleneError) in
    let out = try require(out_clients, "out_clients")
    try Scheduler.enter(scheduler, isQuestion: true) { (_, _) throws(SeleneError) in }
    // Without the lock: the thread of a server holds its own while it calls.
    out.pointee = service_clients(scheduler).assumingMemoryBound(to: selene_clients.self)
  }
}

// MARK: Connect

@_cdecl("selene_scheduler_connect") @implementation
public func selene_scheduler_connect(
  _ options: UnsafePointer<selene_connect_options>!, _ out_scheduler: UnsafeMutablePointer<selene_scheduler>!
) -> selene_status {
  var given = selene_connect_options()
  var path = UnsafeRawBufferPointer(start: nil, count: 0)
  var pool = path
  let status = attempt { () throws(SeleneError) in
    _ = try require(out_scheduler, "out_scheduler")
    given = try read(try require(options, "options"), "options")
    path = try borrow(place: given.path)
    guard !path.isEmpty else { throw SeleneError(.invalidArgument, "path", "must be given") }
    // What the process waits for in its own time.
    try Units.system.check("wait", given.wait, 0, Time.day)
    try Units.system.check("timeout", given.timeout, Time.millisecond, Time.day)
    guard (Int64(SELENE_SERVER_USER_ANY)...Int64(UInt32.max)).contains(given.server_user) else {
      throw .range(
        "server_user", given.server_user, Int64(SELENE_SERVER_USER_ANY), Int64(UInt32.max), .number,
        "the number of a user, SELENE_SERVER_USER_SAME (0) or SELENE_SERVER_USER_ANY (-1)")
    }
    pool = try borrow(given.pool, "pool")
    if !pool.isEmpty { try Identifier.check(pool, "pool") }
  }
  guard status == 0 else { return status }
  return attempt {
    service_connect(
      path.baseAddress?.assumingMemoryBound(to: CChar.self), UInt64(path.count),
      pool.baseAddress?.assumingMemoryBound(to: CChar.self), UInt64(pool.count), given.wait, given.timeout,
      given.server_user, out_scheduler, $0)
  }
}

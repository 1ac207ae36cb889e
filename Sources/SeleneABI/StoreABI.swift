// Section STORE of the header.

import CSelene
import CService
import SeleneCore
import SeleneEngine

extension selene_store_findings: SizedStruct {
  fileprivate init(_ findings: StoreFindings) {
    self.init()
    schema_version = UInt64(findings.schemaVersion)
    tasks = findings.tasks
    damaged = findings.damaged
  }
}

@_cdecl("selene_store_get") @implementation
public func selene_store_get(
  _ scheduler: selene_scheduler, _ out_info: UnsafeMutablePointer<UnsafeMutablePointer<selene_store_info>?>!
) -> selene_status {
  attempt(scheduler, SERVICE_STORE_GET, word(out_info)) { () throws(SeleneError) in
    let out = try require(out_info, "out_info")
    let facts = try Scheduler.enter(scheduler) { (scheduler, _) throws(SeleneError) in try scheduler.storeFacts() }
    out.pointee = Block.make { block in
      var info = selene_store_info()
      info.struct_size = UInt32(MemoryLayout<selene_store_info>.size)
      info.path = block.text(facts.path?.buffer ?? UnsafeRawBufferPointer(start: nil, count: 0))
      info.sqlite_version = block.text(facts.sqliteVersion?.buffer ?? UnsafeRawBufferPointer(start: nil, count: 0))
      info.relaxed = facts.isRelaxed ? 1 : 0
      info.schema_version = facts.schemaVersion
      info.page_size = facts.pageSize
      info.pages = facts.pages
      info.wal_size = facts.walSize
      info.commits = facts.commits
      info.owner = block.text(facts.owner?.buffer ?? UnsafeRawBufferPointer(start: nil, count: 0))
      return info
    }
  }
}

@_cdecl("selene_store_backup") @implementation
public func selene_store_backup(
  _ scheduler: selene_scheduler, _ path: UnsafePointer<CChar>!, _ path_length: Int64
) -> selene_status {
  attempt { () throws(SeleneError) in
    let path = try borrow(path: selene_text(data: path, length: path_length), "path")
    try Scheduler.enter(scheduler) { (scheduler, moment) throws(SeleneError) in
      try scheduler.backUp(to: path, at: moment)
    }
  }
}

@_cdecl("selene_store_check") @implementation
public func selene_store_check(
  _ path: UnsafePointer<CChar>!, _ path_length: Int64, _ out_findings: UnsafeMutablePointer<selene_store_findings>!
) -> selene_status {
  examine(out_findings) { findings throws(SeleneError) in
    let path = try borrow(path: selene_text(data: path, length: path_length), "path")
    try StoreFile.check(path, &findings)
  }
}

@_cdecl("selene_store_salvage") @implementation
public func selene_store_salvage(
  _ damaged: UnsafePointer<CChar>!, _ damaged_length: Int64, _ fresh: UnsafePointer<CChar>!, _ fresh_length: Int64,
  _ out_findings: UnsafeMutablePointer<selene_store_findings>!
) -> selene_status {
  examine(out_findings) { findings throws(SeleneError) in
    let damaged = try borrow(path: selene_text(data: damaged, length: damaged_length), "damaged")
    let fresh = try borrow(path: selene_text(data: fresh, length: fresh_length), "fresh")
    try StoreFile.salvage(damaged, into: fresh, &findings)
  }
}

/// Runs a body that looks into a file, and writes what it found.
private func examine(
  _ out: UnsafeMutablePointer<selene_store_findings>?, _ body: (inout StoreFindings) throws(SeleneError) -> Void
) -> selene_status {
  attempt { () throws(SeleneError) in
    let size = if let out { try structSize(out, "out_findings") } else { 0 }
    var findings = StoreFindings()
    try body(&findings)
    if let out { write(selene_store_findings(findings), to: out, size: size) }
  }
}

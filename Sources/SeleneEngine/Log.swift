// Lines for people (R5): what the library has to say, to one function of the host for the whole process.

import CPlatform
import SeleneCore

/// The log of the process. Lines are written anywhere, also under a scheduler's lock, and delivered where there is none: in
/// order, one at a time.
package enum Log {
  /// How bad it is; the raw values are the header's.
  package enum Level: Int32, Sendable {
    case error = 1
    case warning = 2
    case info = 3
  }

  /// A function of the host's.
  private final class Sink {
    let log: (Int32, UnsafePointer<CChar>) -> Void
    private let destroy: (() -> Void)?

    init(_ log: @escaping (Int32, UnsafePointer<CChar>) -> Void, destroy: (() -> Void)?) {
      self.log = log
      self.destroy = destroy
    }

    /// Ends the host's context. Called once, without a lock.
    ///
    /// - Throws: `forked`.
    func end() throws(SeleneError) {
      if let destroy { try callHost(noOwner) { destroy() } }
    }
  }

  private struct Line {
    let level: Level
    /// Ends with a NUL.
    let text: [UInt8]
  }

  /// A function that does not keep up loses what is beyond so many lines.
  private static let room = 1024
  /// No scheduler has this life.
  private static let noOwner: UInt64 = 0

  // All that varies is guarded by the registry lock, so a forked child finds it whole.

  nonisolated(unsafe) private static var sink: Sink?
  /// The one that a thread is calling; it ends behind that call.
  nonisolated(unsafe) private static var inUse: Sink?
  nonisolated(unsafe) private static var lines: [Line] = []
  nonisolated(unsafe) private static var lost = 0
  nonisolated(unsafe) private static var isDelivering = false
  /// The process that the lines and the delivering thread are of.
  nonisolated(unsafe) private static var process: UInt32 = 0

  /// Whether anybody listens; read without the lock.
  static var isOn: Bool { platform_load(platform_log_words()) != 0 }
  /// Whether there is a line that this thread could deliver; read without the lock.
  static var isWaiting: Bool { platform_load(platform_log_words() + 1) != 0 }

  private static func lock() {
    platform_registry_lock()
    let present = platform_fork_generation()
    guard process != present else { return }
    // What a parent had to say it says itself.
    (process, inUse, isDelivering, lost) = (present, nil, false, 0)
    lines.removeAll()
  }

  private static func unlock() {
    platform_store(platform_log_words(), sink == nil ? 0 : 1)
    platform_store(platform_log_words() + 1, lines.isEmpty || isDelivering ? 0 : 1)
    platform_registry_unlock()
  }

  /// Sets the function, or removes it.
  ///
  /// - Throws: `reentrant`, `forked`.
  package static func set(
    _ log: ((Int32, UnsafePointer<CChar>) -> Void)?, destroy: (() -> Void)?
  ) throws(SeleneError) {
    try Scheduler.refuseInsideClock()
    let new = log.map { Sink($0, destroy: destroy) }
    lock()
    let old = sink
    let isCalled = old != nil && inUse === old
    sink = new
    if new == nil { (lines, lost) = ([], 0) }
    unlock()
    if let old, !isCalled {
      do throws(SeleneError) {
        try old.end()
      } catch {
        // The caller, a child, ends what it gave.
        lock()
        sink = nil
        unlock()
        throw error
      }
    }
    if log == nil, let destroy { try? callHost(noOwner) { destroy() } }
  }

  /// Takes a line, if anybody listens. The caller may hold any lock but the registry's.
  static func write(_ level: Level, _ text: @autoclosure () -> Detail) {
    guard isOn else { return }
    append(level, text())
  }

  @inline(never)
  private static func append(_ level: Level, _ text: Detail) {
    let line = Line(level: level, text: text.bytes.map { $0 < 0x20 || $0 == 0x7f ? UInt8(ascii: "?") : $0 } + [0])
    lock()
    if lines.count < room { lines.append(line) } else { lost += 1 }
    unlock()
  }

  /// The next line. Guarded as all.
  private static func next() -> Line? {
    guard lines.isEmpty else { return lines.removeFirst() }
    guard lost > 0 else { return nil }
    let text: Detail = "\(lost) lines were lost, the log function did not keep up"
    lost = 0
    return Line(level: .warning, text: text.bytes + [0])
  }

  /// Delivers what waits, unless another thread is at it. The caller holds no lock.
  ///
  /// - Throws: `forked`, as `callHost`.
  package static func deliver() throws(SeleneError) {
    if isWaiting { try deliverAll() }
  }

  @inline(never)
  private static func deliverAll() throws(SeleneError) {
    lock()
    guard !isDelivering else { return unlock() }
    isDelivering = true
    while let sink, let line = next() {
      inUse = sink
      unlock()
      try callHost(PLATFORM_CLOSED_OWNER) {
        line.text.withUnsafeBytes { text in
          if let text = text.bindMemory(to: CChar.self).baseAddress { sink.log(line.level.rawValue, text) }
        }
      }
      lock()
      inUse = nil
      if self.sink !== sink {
        unlock()
        try sink.end()
        lock()
      }
    }
    isDelivering = false
    unlock()
  }
}

extension Log {
  /// An error of this library, which no host can help.
  package static func report(_ fault: SeleneError) {
    guard fault.code == .inconsistent else { return }
    write(.error, "a fault of the library: \(fault.detail)")
    try? deliver()
  }
}

extension Scheduler {
  /// Takes a line about this scheduler. The caller holds its lock; `leave` sees to the rest.
  func log(_ level: Log.Level, _ text: @autoclosure () -> Detail) {
    Log.write(level, "\(logName): \(text())")
  }

  /// What it is called in lines: by its file, or by its handle.
  private var logName: Detail {
    if let path = store.path { return "store \(path: path.buffer)" }
    return "scheduler \(Handle(.scheduler, slot: slot.index, number: slot.number).rawValue)"
  }
}

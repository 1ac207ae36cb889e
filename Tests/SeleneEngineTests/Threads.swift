// Threads for tests, built on pthread's locks only, which the thread sanitizer understands.

import Foundation
import Testing

extension Tag {
  /// Tests on several threads: `swift test --sanitize=thread --filter Threads`.
  @Tag static var threads: Self
}

/// A value that threads share.
final class Locked<Value>: @unchecked Sendable {  // every access holds the lock
  private let lock = NSLock()
  private var value: Value

  init(_ value: Value) { self.value = value }

  @discardableResult
  func with<R>(_ body: (inout Value) throws -> R) rethrows -> R {
    lock.lock()
    defer { lock.unlock() }
    return try body(&value)
  }

  var copy: Value { with { $0 } }
}

/// A door that threads wait at until it is opened.
final class Gate: @unchecked Sendable {  // every access holds the condition
  private let condition = NSCondition()
  private var isOpen = false
  private var count = 0

  func open() {
    condition.lock()
    isOpen = true
    condition.broadcast()
    condition.unlock()
  }

  /// Waits until it is open; false after a minute.
  @discardableResult
  func wait() -> Bool {
    condition.lock()
    defer { condition.unlock() }
    let limit = Date(timeIntervalSinceNow: 60)
    while !isOpen { if !condition.wait(until: limit) { return isOpen } }
    return true
  }

  /// Waits until so many threads came; false after a minute.
  func meet(_ threads: Int) -> Bool {
    condition.lock()
    count += 1
    if count >= threads { isOpen = true }
    condition.broadcast()
    condition.unlock()
    return wait()
  }
}

/// Runs a body on so many threads at once and waits for all of them.
func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
  let finished = (0..<count).map { _ in Gate() }
  for (index, gate) in finished.enumerated() {
    let thread = Thread {
      body(index)
      gate.open()
    }
    thread.stackSize = 1 << 20
    thread.start()
  }
  for gate in finished { gate.wait() }
}

/// Asks again until the answer is yes; false after a minute.
func eventually(_ isSo: () throws -> Bool) rethrows -> Bool {
  let limit = Date(timeIntervalSinceNow: 60)
  while Date() < limit {
    if try isSo() { return true }
    Thread.sleep(forTimeInterval: 0.001)
  }
  return false
}

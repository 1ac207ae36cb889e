// What happens.

import CSelene
import Synchronization

/// One change.
public struct Event: Hashable, Sendable {
  /// Counts 1, 2, 3 … in the order of the changes; those of events that found no room are missing.
  public let number: UInt64
  /// What it tells.
  public let type: EventType
  /// Of the task after it; nil: there is no task.
  public let state: State?
  /// When.
  public let time: Instant
  /// Of the task; empty: there is none.
  public let id: String
  /// A number whose meaning depends on the type; the header says which.
  public let detail: Int32
  /// Of the task.
  public let attempts: UInt32
  /// Why a run failed, or what the trouble is.
  public let message: String
  /// How many events found no room before this one.
  public let lost: UInt64

  init(_ raw: selene_event, lost: UInt64) {
    (number, type) = (raw.number, EventType(rawValue: raw.type))
    state = raw.state < 0 ? nil : State(rawValue: raw.state)
    (time, id) = (Instant(nanosecondsSinceEpoch: raw.time), raw.id.string)
    (detail, attempts, message) = (raw.detail, raw.attempts, raw.message.string)
    self.lost = lost
  }
}

/// The events of a scheduler from a moment on, in a queue: `for await event in events`, until the scheduler is closed or
/// other events are asked for. What two readers take, each takes once.
public final class Events: AsyncSequence, Sendable {
  private struct State {
    /// The oldest is the last of `next`.
    var next: [Event] = []
    var last: [Event] = []
    var lost: UInt64 = 0
    var isOver = false
    var waiting: [UInt64: CheckedContinuation<Event?, Never>] = [:]
    var order: [UInt64] = []
    var number: UInt64 = 0
    var count: Int { next.count + last.count }

    mutating func pop() -> Event? {
      if next.isEmpty {
        next = last.reversed()
        last.removeAll()
      }
      return next.popLast()
    }

    mutating func reader() -> CheckedContinuation<Event?, Never>? {
      order.isEmpty ? nil : waiting.removeValue(forKey: order.removeFirst())
    }
  }

  private let capacity: Int
  private let state = Mutex(State())

  init(_ capacity: Int) { self.capacity = capacity }

  /// Called by the library, for one event at a time.
  func tell(_ raw: selene_event) {
    let (reader, event) = state.withLock { state -> (CheckedContinuation<Event?, Never>?, Event?) in
      guard state.count < capacity else {
        state.lost += 1
        return (nil, nil)
      }
      let event = Event(raw, lost: state.lost)
      state.lost = 0
      if let reader = state.reader() { return (reader, event) }
      state.last.append(event)
      return (nil, nil)
    }
    reader?.resume(returning: event)
  }

  /// Called by the library, after the last one.
  func end() {
    let readers = state.withLock { state in
      state.isOver = true
      defer { (state.waiting, state.order) = ([:], []) }
      return Array(state.waiting.values)
    }
    for reader in readers { reader.resume(returning: nil) }
  }

  /// The next one, if one waits.
  public func poll() -> Event? { state.withLock { $0.pop() } }

  /// The next one, for which it waits; nil: there are no more, or its task was cancelled.
  public func next() async -> Event? {
    let number = state.withLock { state in
      state.number += 1
      return state.number
    }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let answer = state.withLock { state -> Event?? in
          if let event = state.pop() { return .some(event) }
          if state.isOver || Task.isCancelled { return .some(nil) }
          state.waiting[number] = continuation
          state.order.append(number)
          return nil
        }
        if let answer { continuation.resume(returning: answer) }
      }
    } onCancel: {
      let waiting = state.withLock { state in
        state.order.removeAll { $0 == number }
        return state.waiting.removeValue(forKey: number)
      }
      waiting?.resume(returning: nil)
    }
  }

  /// Reads one after the other.
  public struct AsyncIterator: AsyncIteratorProtocol {
    let events: Events

    /// The next one.
    public mutating func next() async -> Event? { await events.next() }
  }

  /// For `for await`.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(events: self) }
}

func tellEvent(event: UnsafePointer<selene_event>?, context: UnsafeMutableRawPointer?) {
  guard let event, let context else { return }
  Unmanaged<Events>.fromOpaque(context).takeUnretainedValue().tell(event.pointee)
}

func releaseEvents(_ context: UnsafeMutableRawPointer?) {
  if let context { Unmanaged<Events>.fromOpaque(context).takeRetainedValue().end() }
}

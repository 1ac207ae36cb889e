// Work that fails, retries, is stopped and goes on, on a store: sums of files, and a copy that takes longer than a window.

import Foundation
import Selene

func path(_ run: Run) -> String { String(decoding: run.input, as: UTF8.self) }

/// Prints the sum of a file; it is tried again where there is none.
@Sendable func sum(_ run: Run) async throws -> Outcome {
  let path = path(run)
  guard let bytes = FileManager.default.contents(atPath: path) else {
    throw Failure("\(URL(fileURLWithPath: path).lastPathComponent) is not there", retryAfter: .zero)
  }
  let sum = bytes.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
  print("\(run.id): \(String(format: "%016lx", sum)), attempt \(run.attempt)")
  return .newData
}

/// Copies a file piece by piece. What is there is not copied again, so it may be stopped and begun as often as need be.
@Sendable func copy(_ run: Run) async throws -> Outcome {
  let target = path(run) + ".copy"
  if !FileManager.default.fileExists(atPath: target) {
    _ = FileManager.default.createFile(atPath: target, contents: nil)
  }
  let from = try FileHandle(forReadingFrom: URL(fileURLWithPath: path(run)))
  let to = try FileHandle(forWritingTo: URL(fileURLWithPath: target))
  var copied = try to.seekToEnd()
  try from.seek(toOffset: copied)
  while let piece = try from.read(upToCount: 4096), !piece.isEmpty {
    try to.write(contentsOf: piece)
    copied += UInt64(piece.count)
    // A slow disk; the wait ends early if the run is asked to stop.
    do { try await Task.sleep(for: .milliseconds(150)) } catch { throw Failure("not done yet", retryAfter: .zero) }
  }
  print("\(run.id): \(copied) bytes")
  return .newData
}

/// A program that is started, works for a window, and ends; what is left to do, and why.
func live(_ folder: URL) async throws -> [String] {
  let path = folder.appendingPathComponent("store").path
  let scheduler = try Scheduler(Options(path: path, owner: "org.example.archive"))
  try scheduler.handle("sum", with: sum)
  try scheduler.handle("copy", with: copy)
  let known = Set(try scheduler.ids())
  let tasks: [(id: String, handler: String, file: String, priority: Priority, expected: Duration)] = [
    ("sum of a", "sum", "a", .normal, .milliseconds(1)), ("sum of b", "sum", "b", .normal, .milliseconds(1)),
    ("copy of big", "copy", "big", .low, .milliseconds(100)),
  ]
  // Those of an earlier life are known.
  for (id, handler, file, priority, expected) in tasks where !known.contains(id) {
    var task = TaskRequest.once(id, handler: handler)
    (task.priority, task.expectedResponse) = (priority, expected)
    task.input = Array(folder.appendingPathComponent(file).path.utf8)
    try scheduler.register(task)
  }
  _ = try await scheduler.run(Window(budget: .seconds(10), reserve: .seconds(5)))
  let left = try scheduler.ids(in: .enqueued).map { "\($0): \(try scheduler.task($0).failure)" }
  try scheduler.close()
  return left
}

let folder = FileManager.default.temporaryDirectory.appendingPathComponent("selene-archive-\(UUID().uuidString)")
try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
defer { try? FileManager.default.removeItem(at: folder) }
try Data("first".utf8).write(to: folder.appendingPathComponent("a"))
try Data(count: 40 * 4096).write(to: folder.appendingPathComponent("big"))
var left = try await live(folder)
for why in left { print(why) }
try Data("second".utf8).write(to: folder.appendingPathComponent("b"))
// What was copied is not copied again, so this comes to an end.
while !left.isEmpty { left = try await live(folder) }

// What a pulled run costs: for each line that it reads, a window of 500 runs, and ns a run. Argument: number of tasks.

import Selene

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

func window(_ scheduler: Scheduler) throws -> Int {
  let cycle = try scheduler.begin()
  var runs = 0
  while runs < 500, case .run(let run) = try cycle.next() {
    try run.complete(.newData)
    runs += 1
  }
  return runs
}

let tasks = CommandLine.arguments.count > 1 ? Int(CommandLine.arguments[1]) ?? 1000 : 1000
var options = Options()
options.noThreads = true
let scheduler = try Scheduler(options)
try scheduler.setConditions(.all, satisfied: .all)
try scheduler.pull("count")
for number in 0..<tasks {
  let digits = String(number)
  var task = TaskRequest.standing("task-" + String(repeating: "0", count: 11 - digits.count) + digits, handler: "count")
  task.expectedResponse = .zero
  try scheduler.register(task)
}
let clock = ContinuousClock()
while readLine() != nil {
  let begin = clock.now
  let runs = try window(scheduler)
  print(Double((clock.now - begin).components.attoseconds / 1_000_000_000) / Double(runs))
  fflush(nil)
}

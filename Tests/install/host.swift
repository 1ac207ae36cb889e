// host.c as a target of SwiftPM: one task, one window, one report.

import CSelene

var scheduler: selene_scheduler = 0
var runs: Int32 = 0
var task = selene_task()
var window = selene_window()
var report: UnsafeMutablePointer<selene_report>?

func fail() -> Never { fatalError(String(cString: selene_error_last().pointee.message.data)) }

task.struct_size = UInt32(MemoryLayout<selene_task>.size)
window.struct_size = UInt32(MemoryLayout<selene_window>.size)
window.budget = 60_000_000_000
let id = "install.check"
guard selene_scheduler_open(nil, &scheduler) == SELENE_OK,
  selene_handler_register(
    scheduler, id, -1,
    { @Sendable run, _, context in
      context?.assumingMemoryBound(to: Int32.self).pointee += 1
      _ = selene_run_complete(run, Int32(SELENE_OUTCOME_NEW_DATA))
    }, nil, &runs, nil) == SELENE_OK
else { fail() }
id.withCString { text in
  task.id = selene_text(data: text, length: -1)
  guard selene_task_register(scheduler, &task, nil) == SELENE_OK else { fail() }
}
guard selene_cycle_run(scheduler, &window, &report) == SELENE_OK, let report else { fail() }
print(SELENE_VERSION_STRING, runs, report.pointee.result == SELENE_OUTCOME_NEW_DATA ? 1 : 0)
selene_free(report)
guard selene_scheduler_close(scheduler, 1_000_000_000) == SELENE_OK else { fail() }

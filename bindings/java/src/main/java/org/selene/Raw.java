// Written by tools/java.py from include/api.json: make interface.
package org.selene;

/**
 * The functions of selene.h, with addresses as numbers. What is refused is a
 * {@link SeleneException}, but where a status is the answer. What they do not have is in {@link Native}.
 */
final class Raw {
    private Raw() {}



    /** The version of the library that is loaded, composed as SELENE_VERSION_NUMBER. */
    static native int selene_version();

    /** Frees what a function has made: a report, a record, a list, a decision. */
    static native void selene_free(long made);

    /** One sentence in English that explains a status. */
    static native long selene_status_message(int status);

    /** What a number is called: its constant without the prefix, in small letters, as "failed" for SELENE_NAMES_STATE and SELENE_STATE_FAILED; of a status in capitals, as "NOT_FOUND". */
    static native long selene_name(int names, long number);

    /** What was wrong in this thread's last failed call: its sentence (message), and the parts of it, for hosts that put it into words of their own. */
    static native long selene_error_last();

    /** Opens a scheduler. */
    static native void selene_scheduler_open(long options, long outScheduler);

    /** Stops dispatching, and waits until nothing runs. */
    static native int selene_scheduler_drain(long scheduler, long grace);

    /** Lets a drained scheduler dispatch again; does nothing if it is not drained. */
    static native void selene_scheduler_resume(long scheduler);

    /** Closes a scheduler: lets runs complete within a grace period, then stops those that are left. */
    static native void selene_scheduler_close(long scheduler, long grace);

    /** Reads scheduler time, which never goes backwards. */
    static native void selene_scheduler_now(long scheduler, long outNow);

    /** Sets the clock of a scheduler with SELENE_OPTIONS_SET_CLOCK, and does what is due by then. */
    static native void selene_clock_set(long scheduler, long now);

    /** Moves the clock of a scheduler with SELENE_OPTIONS_SET_CLOCK forward, from one instant at which something is due to the next, up to an instant. */
    static native void selene_clock_advance(long scheduler, long to, int flags, long patience, long outNext);

    /** Counts what the scheduler holds. */
    static native void selene_scheduler_get(long scheduler, long outInfo);

    /** Switches kinds on and off; initially all are on. */
    static native void selene_scheduler_enable(long scheduler, int kinds);

    /** Pauses kinds of tasks, everywhere or in one pool, until an instant, or resumes them. */
    static native void selene_scheduler_pause(long scheduler, int kinds, long pool, long poolLength, long until);

    /** Lists what selene_scheduler_pause holds back: first everywhere, then by pool, in the order of the bytes of their names. */
    static native void selene_pause_list(long scheduler, long outPauses);

    /** Says when it is worth opening the next window. */
    static native void selene_scheduler_next_wakeup(long scheduler, long outAt, long outDelay);

    /** Removes all terminal records (succeeded, failed, cancelled) now instead of after 24 h. */
    static native void selene_scheduler_prune(long scheduler, long outCount);

    /** Removes all tasks and all history; keeps handlers, options, switches and conditions. */
    static native void selene_scheduler_reset(long scheduler);

    /** Registers a handler under a name. */
    static native void selene_handler_register(
            long scheduler, long name, long nameLength, long run, long stop, long context, long destroy);

    /** Unregisters a handler; its tasks stay, ineligible from now on. */
    static native void selene_handler_unregister(long scheduler, long name, long nameLength);

    /** Registers a task. */
    static native void selene_task_register(long scheduler, long task, long outDisposition);

    /** Registers many tasks in one commit. */
    static native void selene_task_register_batch(
            long scheduler, long tasks, long count, long outStatuses, long outDispositions);

    /** Cancels a task, all that wait behind it, and what comes after it; a run in flight is stopped (CANCELLED). */
    static native void selene_task_cancel(long scheduler, long id, long idLength, long outCount);

    /** Cancels every live task with the tag, waiting ones included, and what waits behind them. */
    static native void selene_task_cancel_tag(long scheduler, long tag, long tagLength, long outCount);

    /** Cancels every live task. */
    static native void selene_task_cancel_all(long scheduler, long outCount);

    /** Enqueues a failed task again at once: the same definition, no attempts, and the response times and the failure of before. */
    static native void selene_task_retry(long scheduler, long id, long idLength);

    /** Enqueues a failed task again, and all tasks that failed because it did, or because one of those did. */
    static native void selene_task_retry_successors(long scheduler, long id, long idLength, long outCount);

    /** Enqueues all failed tasks again, or those that carry a tag, in the order in which they were registered. */
    static native void selene_task_retry_all(long scheduler, long tag, long tagLength, int flags, long outCount);

    /** Sets when a live task is due next, in place of the computed instant: the calendar of a host. */
    static native void selene_task_set_next(long scheduler, long id, long idLength, long next);

    /** Pauses a task and all that wait behind it: they stay as they are, and none begins until selene_task_resume. */
    static native void selene_task_pause(long scheduler, long id, long idLength, long outCount);

    /** Pauses every live task that has the tag now, including waiting ones, but not tasks that are registered with it later. */
    static native void selene_task_pause_tag(long scheduler, long tag, long tagLength, long outCount);

    /** Lets a paused task go on in the state that it has, and all that wait behind it; its age has grown meanwhile. */
    static native void selene_task_resume(long scheduler, long id, long idLength, long outCount);

    /** Lets every paused task with the tag go on, whether it was paused by its id or by a tag. */
    static native void selene_task_resume_tag(long scheduler, long tag, long tagLength, long outCount);

    /** Reads a task's record: the live one, or else the last. */
    static native void selene_task_get(long scheduler, long id, long idLength, long position, long outInfo);

    /** Reads what the last success of a task left (selene_run_set_output). */
    static native void selene_task_get_output(long scheduler, long id, long idLength, long outOutput);

    /** Lists the ids of all tasks, or of those with a tag, in order of registration. */
    static native void selene_task_list(long scheduler, long tag, long tagLength, long outIds);

    /** Lists the ids of the tasks in a state, for example of those that failed, in order of registration. */
    static native void selene_task_list_state(long scheduler, int state, long outIds);

    /** Gives every reason why a task does not run now, and its rank, score and estimate. */
    static native void selene_task_explain(long scheduler, long id, long idLength, long outExplanation);

    /** Gives where the time of a task went since it was last due, or since it was registered if it was due only once. */
    static native void selene_task_waits(long scheduler, long id, long idLength, long outWaits);

    /** Sets how many runs of a group may go on at a time, in whatever windows they are. */
    static native void selene_group_set_limit(long scheduler, long name, long nameLength, int limit);

    /** Pauses a group: its runs in flight go on, and none of its tasks begins until selene_group_resume, even if registered later. */
    static native void selene_group_pause(long scheduler, long name, long nameLength);

    /** Resumes a paused group. */
    static native void selene_group_resume(long scheduler, long name, long nameLength);

    /** Reads a group. */
    static native void selene_group_get(long scheduler, long name, long nameLength, long outInfo);

    /** Lists the names of all groups for which something is set, or that have tasks that wait or runs, in the order of their bytes. */
    static native void selene_group_list(long scheduler, long outNames);

    /** Begins a pulled cycle: reads the conditions that the host does not set and ranks what is eligible. */
    static native void selene_cycle_begin(long scheduler, long window, long outCycle);

    /** Takes the next run of a pulled cycle. */
    static native void selene_cycle_next(long cycle, long outStep, long outRun, long outWakeAt);

    /** Ends a cycle and reports. */
    static native void selene_cycle_end(long cycle, long outReport);

    /** Starts nothing more in a cycle, and gives its runs a grace period. */
    static native void selene_cycle_drain(long cycle, long grace);

    /** Runs a whole cycle and returns its report by the deadline, whatever the handlers do. */
    static native void selene_cycle_run(long scheduler, long window, long outReport);

    /** Runs a whole cycle on library threads and reports to a callback. */
    static native void selene_cycle_run_async(
            long scheduler, long window, long report, long context, long destroy, long outCycle, long outDeadline);

    /** Gives what such a window would pick now if every run took its estimate. */
    static native void selene_cycle_plan(long scheduler, long window, long outPlan);

    /** Opens a lane of a cycle that was begun with SELENE_WINDOW_LANES, or of a pulled one that has not given a run yet, whose runs are taken through lanes from then on. */
    static native void selene_lane_open(long cycle, long outLane);

    /** Returns from the previous run, gives its outcome if there is one, and takes the next run, waiting for one. */
    static native void selene_lane_next(
            long lane, int outcome, long timeout, long outStep, long outRun, long outWakeAt);

    /** Closes a lane. */
    static native void selene_lane_close(long lane);

    /** Waits for the report of a cycle that was begun with SELENE_WINDOW_LANES, which comes by its deadline. */
    static native void selene_cycle_wait(long cycle, long timeout, long outReport, long outWakeAt);

    /** Gives a descriptor for an event loop, which is readable when there may be a run for the lanes of a cycle, or its report. */
    static native void selene_cycle_descriptor(long cycle, long outFd);

    /** Gives a run's outcome, once. */
    static native void selene_run_complete(long run, int outcome);

    /** Gives the outcome FAILED and a delay, which replaces the backoff of this attempt. */
    static native void selene_run_retry(long run, long delay);

    /** Gives the outcome of a failure and its reason. */
    static native void selene_run_fail(long run, int outcome, long delay, long message, long messageLength);

    /** Gives a run's outcome and says when its task is due next, in place of the instant that is computed: the next period, the next begin of a standing task, or the retry of a failure (selene_task_set_next). */
    static native void selene_run_complete_until(long run, int outcome, long next);

    /** Asks whether a run should stop. */
    static native int selene_run_stopping(long run, long outReason);

    /** Waits until so much scheduler time has passed, or the run is asked to stop. */
    static native int selene_run_sleep(long run, long nanoseconds, long outReason);

    /** Gives how much time a run has until it is asked to stop. */
    static native int selene_run_remaining(long run, long outRemaining);

    /** Reports how far an open run has come, for observers of its task, and restarts its stall limit. */
    static native void selene_run_progress(long run, long done, long total, long text, long textLength);

    /** Attaches a pointer of the host's to a run: a host that calls selene_cycle_next sets it, and any code that has only the token, such as a stop function or a worker, can read it. */
    static native void selene_run_set_user(long run, long user);

    /** Reads the pointer that selene_run_set_user has set. */
    static native void selene_run_user(long run, long outUser);

    /** Sets the output that an open run leaves if it succeeds, for readers of its task and for the handlers of tasks that come after it: a result small enough for a row. */
    static native void selene_run_set_output(long run, long output, long length);

    /** Repeats what a handler was given, until the run has come back: for hosts that pass on the token alone, since what a callback is given lives only until it returns. */
    static native void selene_run_get(long run, long outInfo);

    /** Sets whether some constraints are satisfied, in one call, and clears those of the last such call that it does not name. */
    static native void selene_conditions_set(long scheduler, int constraints, int satisfied);

    /** Reads which constraints are satisfied, as a begin would now. */
    static native void selene_conditions_get(long scheduler, long outSatisfied, long outHost);

    /** Defines a condition of the host, such as "signed-in", "vpn" or "disk-mounted", which tasks require by its name (conditions of selene_task). */
    static native void selene_condition_define(long scheduler, long name, long nameLength);

    /** Removes the definition of a condition, which is then not satisfied: runs in flight that need it are stopped (CONSTRAINT_LOST), and tasks that require it wait until it is defined and set again. */
    static native void selene_condition_undefine(long scheduler, long name, long nameLength);

    /** Sets whether a condition of the host is satisfied. */
    static native void selene_condition_set(long scheduler, long name, long nameLength, int satisfied);

    /** Reads a condition of the host. */
    static native void selene_condition_get(long scheduler, long name, long nameLength, long outState);

    /** Lists the names of all conditions that are defined or that a task asks for, in the order of their bytes. */
    static native void selene_condition_list(long scheduler, long outNames);

    /** Lists the names of the conditions of the host that a task asks for and that are not satisfied, in the order of their bytes: the conditions behind SELENE_REASON_CONDITIONS of an explanation. */
    static native void selene_condition_missing(long scheduler, long id, long idLength, long outNames);

    /** Sets the one observer of a scheduler; an earlier one is released after the events that are queued for it. */
    static native void selene_scheduler_observe(long scheduler, long observer, long context, long destroy);

    /** Opens the queue of a scheduler's events, for hosts that read them instead of being called: beside the observer, or in its place. */
    static native void selene_events_open(long scheduler, long capacity, long outFd);

    /** Takes the next event out of the queue, or waits for one. */
    static native void selene_events_next(long scheduler, long timeout, long outEvent, long outFound, long outLost);

    /** Closes the queue with what waits in it; without one it does nothing. */
    static native void selene_events_close(long scheduler);

    /** Sets the one log function of the process; the library is silent without one. */
    static native void selene_log_set(long log, long context, long destroy);

    /** Gives where and how a scheduler stores its tasks. */
    static native void selene_store_get(long scheduler, long outInfo);

    /** Copies the store of a scheduler, as it is now, into a new file while it is in use. */
    static native void selene_store_backup(long scheduler, long path, long pathLength);

    /** Examines a store that is not open anywhere, without changing it. */
    static native void selene_store_check(long path, long pathLength, long outFindings);

    /** Saves every task that can be read from a damaged store into a new one. */
    static native void selene_store_salvage(
            long damaged, long damagedLength, long fresh, long freshLength, long outFindings);

    /** Serves a scheduler on a Unix socket, on a library thread of its own. */
    static native void selene_server_start(long scheduler, long options, long outServer);

    /** Serves a scheduler without a thread, from an event loop: whenever its descriptor is readable call selene_server_step. */
    static native void selene_server_open(long scheduler, long options, long outServer, long outFd);

    /** Takes in what clients of such a server have asked, one request of each, makes the calls in one commit, and answers. */
    static native void selene_server_step(long server, long outWakeAt);

    /** Counts what a server has done. */
    static native void selene_server_get(long server, long outInfo);

    /** Lists the processes that are connected to the servers of a scheduler, the latest first. */
    static native void selene_client_list(long scheduler, long outClients);

    /** Ends a server and removes its socket. */
    static native void selene_server_close(long server);

    /** Connects to the process that has a store open and serves it. */
    static native void selene_scheduler_connect(long options, long outScheduler);

    /** Sets a signal, overriding the system's reading until it expires or is cleared. */
    static native void selene_signal_set(long scheduler, int signal, long value, long validFor);

    /** Clears the host's value of a signal; the system's reading applies again. */
    static native void selene_signal_clear(long scheduler, int signal);

    /** Reads a signal as a decision would now. */
    static native void selene_signal_get(long scheduler, int signal, long outSignal);

    /** Sets what the governor requires from now on. */
    static native void selene_governor_set_profile(long scheduler, long profile);

    /** Asks whether a kind deserves a window now, and why. */
    static native void selene_governor_ask(long scheduler, int kind, int flags, long outDecision);

    /** Reads the last decision about a kind, of selene_governor_ask or of the driver. */
    static native void selene_governor_last(long scheduler, int kind, long outDecision);

    /** Reads what a kind has used in the last 24 hours and may still use by the present profile. */
    static native void selene_ledger_get(long scheduler, int kind, long outBalance);

    /** Reports what a kind used besides time. */
    static native void selene_ledger_report(long scheduler, int kind, long cpuTime, long bytes);

    /** Reports that the host was used. */
    static native void selene_use_report(long scheduler, long beganAt, long endedAt);

    /** Lists the hours in which a window would be granted if nothing but the time changed, for the next 14 days. */
    static native void selene_governor_forecast(long scheduler, int kind, long windows, long capacity, long outCount);

    /** Records signals, decisions, windows and runs to a file from now on, until the same call with NULL, or close. */
    static native void selene_trace_record(long scheduler, long path, long pathLength);

    /** Replays a trace: decides again what was decided then, from what was known then. */
    static native void selene_trace_replay(long path, long pathLength, long outDecisions, long outFirstDifference);

    /** Starts a library thread that acts as the system scheduler: it sleeps until something can run, asks the governor, and opens windows whose runs are called on library threads. */
    static native void selene_driver_start(long scheduler, long driver);

    /** Opens a driver without a thread, for event loops: whenever its descriptor is readable call selene_driver_step. */
    static native void selene_driver_open(long scheduler, long driver, long outFd);

    /** Does what is due: takes in changes of the system, asks the governor, and begins a pulled cycle for the host to work on. */
    static native void selene_driver_step(long scheduler, long outCycle, long outWakeAt);

    /** Waits until a step is due, for hosts that cannot use a descriptor: with selene_driver_step it makes the whole loop of a driver. */
    static native void selene_driver_wait(long scheduler, long timeout, long outReady);

    /** Stops the driver. */
    static native void selene_driver_stop(long scheduler, long grace);

    /** Runs a pending task now, as if the system had launched it, on a library thread, regardless of governor, pace and rank, with the budget that the driver gives its kind (30 s and 10 min without one). */
    static native void selene_task_launch(long scheduler, long id, long idLength);

    /** Ends the window of a running task now as if its time had run out: all its runs are asked to stop (EXPIRING) and are over after its reserve. */
    static native void selene_task_expire(long scheduler, long id, long idLength);

    /** Opens the node of a scheduler, which has at most one. */
    static native void selene_node_open(long scheduler, long options, long outFd);

    /** Does what is due, and gives the next statement to make. */
    static native void selene_node_step(long scheduler, long outRequest, long outWakeAt);

    /** Waits until a step is due, for hosts that cannot use a descriptor. */
    static native void selene_node_wait(long scheduler, long timeout, long outReady);

    /** Gives a node the result of its statement. */
    static native void selene_node_rows(long scheduler, long number, long cells, long rows, long columns);

    /** Tells a node that its statement has no result. */
    static native void selene_node_failed(long scheduler, long number, int sent, long sqlstate, long message);

    /** Tells a node that something may be due in its fleet, or that a task that it runs was cancelled there: a notification of LISTEN has come, say. */
    static native void selene_node_hint(long scheduler);

    /** Gives the state of a node. */
    static native void selene_node_get(long scheduler, long outInfo);

    /** Makes a node take nothing more: it gives back what was not begun, waits until its runs have come back, reports their outcomes to the database, and signs off. */
    static native void selene_node_leave(long scheduler, long grace);

    /** Closes the node of a scheduler; without one it does nothing. */
    static native void selene_node_close(long scheduler);

    /** Gives the number of a run in its fleet. */
    static native void selene_run_fence(long run, long outFence, long outTask);

    /** Declares that the host itself reports the outcome of a run to the fleet, with the fleet's function complete in a transaction of the handler, whose effects in that database are thus made exactly once. */
    static native void selene_run_decided_by_host(long run);
}

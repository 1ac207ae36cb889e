// Written by tools/csharp.py from include/api.json: make interface.
using System;

namespace Selene
{
    /// <summary>Why a call was refused, or failed. A number that has no name here is of a newer library.</summary>
    public enum Status
    {
        /// <summary>The kind is switched off.</summary>
        Unavailable = 1,
        /// <summary>The limit of pending once and periodic tasks of this kind (max_pending_refresh, max_pending_processing; by default there is none), or of waiting successors, is reached.</summary>
        TooManyPending = 2,
        /// <summary>The scheduler was opened with a list of permitted ids and this is not among them.</summary>
        NotPermitted = 3,
        /// <summary>The task of a window of one task cannot run now.</summary>
        ImmediateRunIneligible = 4,
        /// <summary>Expedited tasks have used their quota, and this one has SELENE_TASK_REFUSE_OUT_OF_QUOTA.</summary>
        OutOfQuota = 5,
        /// <summary>A parameter or a field is outside what is allowed.</summary>
        InvalidArgument = 16,
        /// <summary>The handle or token was never issued, is closed, or is of another type.</summary>
        InvalidHandle = 17,
        /// <summary>struct_size is too small, or a later field that this library does not know is set.</summary>
        UnsupportedStruct = 18,
        /// <summary>The combination that was asked for is not supported, such as library threads with a host clock.</summary>
        Unsupported = 19,
        /// <summary>The input is larger than the scheduler's max_input_size.</summary>
        TooLarge = 20,
        /// <summary>No task or handler has that name.</summary>
        NotFound = 21,
        /// <summary>A handler of that name is registered, or its last run has not returned.</summary>
        AlreadyExists = 22,
        /// <summary>The run was completed before; the first outcome stands.</summary>
        AlreadyCompleted = 23,
        /// <summary>The run was stopped, expired, or belongs to an earlier life of the scheduler.</summary>
        StaleRun = 24,
        /// <summary>A cycle is open, or too many threads are still in handlers that overran.</summary>
        Busy = 25,
        /// <summary>The minimum interval of the kind has not passed; selene_scheduler_next_wakeup says when.</summary>
        TooSoon = 26,
        /// <summary>This call is not legal inside a callback of the same scheduler.</summary>
        Reentrant = 27,
        /// <summary>The scheduler was opened before fork() and belongs to the parent.</summary>
        Forked = 28,
        /// <summary>A resource of the system or of the library ran out, such as threads.</summary>
        Exhausted = 29,
        /// <summary>An internal consistency check failed: a bug in this library.</summary>
        Internal = 30,
        /// <summary>The store cannot be opened or made: a directory, no such folder, no permission, read-only.</summary>
        StoreCannotOpen = 48,
        /// <summary>Another scheduler, in this process or another, has the store open; the message names the process.</summary>
        StoreLocked = 49,
        /// <summary>The file is damaged; selene_store_salvage saves what can be read.</summary>
        StoreCorrupt = 50,
        /// <summary>The file is not a Selene store, or that of another application (option owner); the message names both.</summary>
        StoreForeign = 51,
        /// <summary>The store was written by a newer version of this library.</summary>
        StoreNewer = 52,
        /// <summary>The disk or the quota is full; nothing changed.</summary>
        StoreFull = 53,
        /// <summary>Reading or writing failed; nothing changed.</summary>
        StoreIo = 54,
        /// <summary>A commit failed midway (a sync, or no memory): the on-disk state is unknown; reopen the store before using it.</summary>
        OutcomeUnknown = 55,
        /// <summary>The file of the store or its log (the same name with -wal) was removed, renamed or replaced while it was open; nothing changed.</summary>
        StoreMoved = 56,
        /// <summary>Of a connection: no process serves the store, or the one that did has ended or does not answer.</summary>
        OwnerAway = 57,
        /// <summary>Of a connection: the process that has the store open does not permit this user to do so.</summary>
        Refused = 58,
    }

    /// <summary>How long work takes. A window takes any number of kinds. A number that has no name here is of a newer library.</summary>
    [Flags]
    public enum Kind
    {
        /// <summary>None.</summary>
        None = 0,
        /// <summary>Short work, seconds.</summary>
        Refresh = 1,
        /// <summary>Long work, minutes.</summary>
        Processing = 2,
        /// <summary>All that this package knows.</summary>
        All = 3,
    }

    /// <summary>When a task is due. A number that has no name here is of a newer library.</summary>
    public enum Schedule
    {
        /// <summary>By period: periodic with one, else once.</summary>
        Default = 0,
        /// <summary>Until it succeeds, is abandoned, or its attempts are used up.</summary>
        Once = 1,
        /// <summary>Once a period.</summary>
        Periodic = 2,
        /// <summary>A candidate in every window, for ever.</summary>
        Standing = 3,
    }

    /// <summary>How important a task is. A number that has no name here is of a newer library.</summary>
    public enum Priority
    {
        /// <summary>SELENE_PRIORITY_VERY_LOW of the header.</summary>
        VeryLow = 1,
        /// <summary>SELENE_PRIORITY_LOW of the header.</summary>
        Low = 2,
        /// <summary>SELENE_PRIORITY_NORMAL of the header.</summary>
        Normal = 3,
        /// <summary>SELENE_PRIORITY_HIGH of the header.</summary>
        High = 4,
        /// <summary>SELENE_PRIORITY_VERY_HIGH of the header.</summary>
        VeryHigh = 5,
    }

    /// <summary>What becomes of a live task when another is registered under its id. A number that has no name here is of a newer library.</summary>
    public enum Existing
    {
        /// <summary>By schedule: keep for once tasks, update for the others.</summary>
        Default = 0,
        /// <summary>The old record stays exactly as it is.</summary>
        Keep = 1,
        /// <summary>The old one and all waiting behind it are cancelled (a run in flight is stopped); a new one starts.</summary>
        Replace = 2,
        /// <summary>The definition is replaced, history is kept.</summary>
        Update = 3,
        /// <summary>Waits until the one before it succeeds; if that fails or is cancelled, so is this.</summary>
        Append = 4,
        /// <summary>The same, but starts also after a failure.</summary>
        AppendOrReplace = 5,
        /// <summary>As KEEP; also what has succeeded stays as it is while its record is there, and what has ended while a task that comes after it needs it: the disposition is then KEPT.</summary>
        Skip = 6,
    }

    /// <summary>From when a period counts. A number that has no name here is of a newer library.</summary>
    public enum Recurrence
    {
        /// <summary>From the completion of the run.</summary>
        AfterCompletion = 0,
        /// <summary>On the grid of the first earliest begin; missed periods are skipped.</summary>
        Anchored = 1,
        /// <summary>Set by the host, for example by a calendar, with selene_task_set_next after registering and at each dispatch.</summary>
        Calendar = 2,
    }

    /// <summary>How the delay grows from failure to failure. A number that has no name here is of a newer library.</summary>
    public enum Backoff
    {
        /// <summary>By schedule: none for standing, exponential for the others.</summary>
        Default = 0,
        /// <summary>0.</summary>
        None = 1,
        /// <summary>d * n.</summary>
        Linear = 2,
        /// <summary>d * 2^(n-1).</summary>
        Exponential = 3,
    }

    /// <summary>What a task may ask of the system. A number that has no name here is of a newer library.</summary>
    [Flags]
    public enum Constraints
    {
        /// <summary>None.</summary>
        None = 0,
        /// <summary>A network is reachable (NETWORK).</summary>
        Network = 1,
        /// <summary>The machine is on external power (EXTERNAL_POWER).</summary>
        ExternalPower = 2,
        /// <summary>A network is reachable and does not cost by volume (NETWORK, METERED, which only a host knows).</summary>
        Unmetered = 4,
        /// <summary>No battery is being emptied, or 20 % or more of it is left (DISCHARGING, BATTERY_LEVEL).</summary>
        BatteryNotLow = 8,
        /// <summary>No user is active (USER_ACTIVE).</summary>
        Idle = 16,
        /// <summary>5 % or more of the file system that holds the store is free (STORAGE_FREE).</summary>
        StorageNotLow = 32,
        /// <summary>No display is on (DISPLAY_ON).</summary>
        DisplayOff = 64,
        /// <summary>A network is reachable and is not roaming (NETWORK, ROAMING, which only a host knows).</summary>
        NotRoaming = 128,
        /// <summary>All that this package knows.</summary>
        All = 255,
    }

    /// <summary>What a registration did. A number that has no name here is of a newer library.</summary>
    public enum Disposition
    {
        /// <summary>A new record.</summary>
        Added = 0,
        /// <summary>A new record in place of a live one.</summary>
        Replaced = 1,
        /// <summary>A new definition for the live record.</summary>
        Updated = 2,
        /// <summary>Nothing.</summary>
        Kept = 3,
        /// <summary>A successor that waits.</summary>
        Appended = 4,
        /// <summary>A new record that waits for a free place (SELENE_OPTIONS_HOLD).</summary>
        Held = 5,
    }

    /// <summary>What a task is at. A number that has no name here is of a newer library.</summary>
    public enum State
    {
        /// <summary>SELENE_STATE_ENQUEUED of the header.</summary>
        Enqueued = 0,
        /// <summary>Accepted beyond the limit; takes the next free place, higher priority first, then older first.</summary>
        Held = 1,
        /// <summary>Waits for the task before it.</summary>
        Blocked = 2,
        /// <summary>SELENE_STATE_RUNNING of the header.</summary>
        Running = 3,
        /// <summary>Terminal, as the next two.</summary>
        Succeeded = 4,
        /// <summary>SELENE_STATE_FAILED of the header.</summary>
        Failed = 5,
        /// <summary>SELENE_STATE_CANCELLED of the header.</summary>
        Cancelled = 6,
    }

    /// <summary>How a run ended. A number that has no name here is of a newer library.</summary>
    public enum Outcome
    {
        /// <summary>For selene_lane_next only: no outcome: it was given before, will be given later, or there was no run.</summary>
        None = -1,
        /// <summary>It worked, and found something new.</summary>
        NewData = 0,
        /// <summary>It worked, and there was nothing new.</summary>
        NoData = 1,
        /// <summary>It may be tried again, by backoff and max_attempts.</summary>
        Failed = 2,
        /// <summary>Failed for good.</summary>
        Abandoned = 3,
        /// <summary>In reports only: open after the deadline, or after the grace of its timeout or stall limit; counts as failed.</summary>
        Expired = 4,
        /// <summary>Ended by a stop: no attempt counts, and the task is enqueued again as before the run.</summary>
        Stopped = 5,
    }

    /// <summary>Why a run is asked to stop. A number that has no name here is of a newer library.</summary>
    public enum StopReason
    {
        /// <summary>SELENE_STOP_NONE of the header.</summary>
        None = 0,
        /// <summary>The reserve of the window has begun; completing is still possible until the deadline.</summary>
        Expiring = 1,
        /// <summary>Something more important needs the machine; the task is enqueued again as before the run.</summary>
        Preempted = 2,
        /// <summary>A constraint is no longer satisfied; enqueued again as before the run.</summary>
        ConstraintLost = 3,
        /// <summary>A new record took the id.</summary>
        Replaced = 4,
        /// <summary>SELENE_STOP_CANCELLED of the header.</summary>
        Cancelled = 5,
        /// <summary>The host ends the work: it closes the scheduler, stops the driver, or drains or ends the window.</summary>
        Shutdown = 6,
        /// <summary>In records only: its process ended while it ran; counts as failed.</summary>
        Interrupted = 7,
        /// <summary>Its task's timeout has passed; completing is still possible for stop_grace.</summary>
        TimedOut = 8,
        /// <summary>It reported no progress for its task's stall_limit; completing is still possible for stop_grace.</summary>
        Stalled = 9,
        /// <summary>In records only: its task waited when its latest_begin had passed, or could be tried again only then, and has failed.</summary>
        TooLate = 10,
        /// <summary>A run of a fleet whose node could not renew its lease in the database in time: another node may take the task soon.</summary>
        LeaseLost = 11,
    }

    /// <summary>Why a task does not run now. A number that has no name here is of a newer library.</summary>
    public enum Reason
    {
        /// <summary>Its earliest begin has not come.</summary>
        NotDue = 1,
        /// <summary>A constraint is not satisfied; constraints says which.</summary>
        Constraints = 2,
        /// <summary>No handler has that name; or the last cycle of its kind called handlers, and this one has no function.</summary>
        NoHandler = 3,
        /// <summary>It is held until a place is free.</summary>
        Held = 4,
        /// <summary>It waits for the task before it.</summary>
        Blocked = 5,
        /// <summary>It is running.</summary>
        Running = 6,
        /// <summary>Its kind is switched off.</summary>
        KindOff = 7,
        /// <summary>It was eligible in the last cycle of its kind, and its estimate did not fit.</summary>
        DidNotFit = 8,
        /// <summary>An earlier run of this id is over but has not returned.</summary>
        StillRunning = 9,
        /// <summary>It has succeeded, failed or been cancelled.</summary>
        Terminal = 10,
        /// <summary>Its id is not among the permitted ones.</summary>
        NotPermitted = 11,
        /// <summary>It had its run in the cycle that is open.</summary>
        HadItsRun = 12,
        /// <summary>The minimum interval of its kind has not passed.</summary>
        TooSoon = 13,
        /// <summary>A cycle of its kind is open and was begun before the task could run.</summary>
        NextCycle = 14,
        /// <summary>Its last run was interrupted by the end of its process, and its backoff has not passed.</summary>
        Interrupted = 15,
        /// <summary>The governor refused its kind the last time it was asked; selene_governor_last says why.</summary>
        Governor = 16,
        /// <summary>The store refused the last commit (SELENE_TROUBLE_STORE).</summary>
        StoreRefuses = 17,
        /// <summary>No library thread is available for a window (SELENE_TROUBLE_OVERRUN or _THREAD).</summary>
        NoThread = 18,
        /// <summary>Its handler's runs have left too many threads behind, and none has come back (SELENE_TROUBLE_HANDLER).</summary>
        HandlerStuck = 19,
        /// <summary>The scheduler was drained (selene_scheduler_drain).</summary>
        Drained = 20,
        /// <summary>It waits for a time while the clock has jumped (SELENE_TROUBLE_CLOCK).</summary>
        Clock = 21,
        /// <summary>The host has paused it (selene_task_pause).</summary>
        Paused = 22,
        /// <summary>The host has paused its group (selene_group_pause).</summary>
        GroupPaused = 23,
        /// <summary>As many runs of its group as may are under way (selene_group_set_limit).</summary>
        GroupFull = 24,
        /// <summary>It is expedited, but the quota is used up: it waits as an ordinary one (expedited_quota).</summary>
        OutOfQuota = 25,
        /// <summary>A condition of the host is not satisfied; selene_condition_missing says which.</summary>
        Conditions = 26,
        /// <summary>It belongs to a fleet whose database does not answer, or refuses its node's requests (SELENE_TROUBLE_FLEET): the outcome of its run cannot be reported, and when the lease can no longer be relied on the run is asked to stop.</summary>
        FleetAway = 27,
        /// <summary>The host has paused its kind, everywhere or in the pool that runs it (selene_scheduler_pause).</summary>
        KindPaused = 28,
        /// <summary>It may have ended a process, or another task that runs or is next may: of such tasks one runs at a time in a process, and one that is to blame runs alone there (selene_task_info.quarantined).</summary>
        Quarantined = 29,
        /// <summary>It has failed and is not due again yet.</summary>
        BackingOff = 64,
        /// <summary>It could run, and no window of its kind was open.</summary>
        NoWindow = 65,
        /// <summary>A window was open that it fitted, and nothing was taken from it.</summary>
        WindowOpen = 66,
        /// <summary>A window was open that it fitted, and others were dispatched.</summary>
        PreferredOthers = 67,
        /// <summary>No process had the store open.</summary>
        NoProcess = 68,
        /// <summary>Not known: a process had the store open and was killed, or had not yet told the store.</summary>
        NotKnown = 69,
        /// <summary>Too long ago, or too much has happened since, to be kept.</summary>
        Earlier = 70,
    }

    /// <summary>What an event tells. A number that has no name here is of a newer library.</summary>
    public enum EventType
    {
        /// <summary>A register call changed something; detail says what.</summary>
        Registered = 1,
        /// <summary>A run was dispatched.</summary>
        Started = 2,
        /// <summary>A run was asked to stop.</summary>
        Stopped = 3,
        /// <summary>A run is decided; or, without a run, a successor failed before it started.</summary>
        Completed = 4,
        /// <summary>The task will be tried again at time_at.</summary>
        Retry = 5,
        /// <summary>The task waits for a free place.</summary>
        Held = 6,
        /// <summary>A held task took a free place.</summary>
        Promoted = 7,
        /// <summary>SELENE_EVENT_CANCELLED of the header.</summary>
        Cancelled = 8,
        /// <summary>SELENE_EVENT_CYCLE_BEGUN of the header.</summary>
        CycleBegun = 9,
        /// <summary>SELENE_EVENT_CYCLE_ENDED of the header.</summary>
        CycleEnded = 10,
        /// <summary>A successor took the place of the task before it.</summary>
        Unblocked = 11,
        /// <summary>A run that did not return was released after release_after; its id is free.</summary>
        Released = 12,
        /// <summary>The task was running when its process ended; detail: a SELENE_SUSPICION_ number, or 0.</summary>
        Interrupted = 13,
        /// <summary>At open: the time last seen by the store was more than 24 h ahead of the wall clock and was treated as a mistake; all stored instants were moved by time_at ns.</summary>
        ClockMoved = 14,
        /// <summary>The governor refused a window of kinds; asking again may be worth it at time_at.</summary>
        Refused = 15,
        /// <summary>The governor granted a window of kinds.</summary>
        Granted = 16,
        /// <summary>The recording of a trace ended, because the file could not be written.</summary>
        TraceEnded = 17,
        /// <summary>Something keeps the scheduler from working, or no longer does; detail says what, status whether.</summary>
        Trouble = 18,
        /// <summary>A task was paused; without a task: the kinds in kinds, until time_at, in the pool whose name is in message (empty: everywhere); without kinds: the group whose name is in message.</summary>
        Paused = 19,
        /// <summary>What was paused goes on: a task, kinds (also when their time has come), or a group.</summary>
        Resumed = 20,
        /// <summary>A run reported its progress (selene_run_progress): the first report at once, later ones at most four times a second of scheduler time, and always the last one, before the end of the run.</summary>
        Progress = 21,
        /// <summary>A condition of the host is satisfied now (selene_condition_set); message is its name.</summary>
        ConditionMet = 22,
        /// <summary>A condition of the host is no longer satisfied; message is its name.</summary>
        ConditionLost = 23,
        /// <summary>The quota of expedited tasks is used up: they are ordinary ones until something is left again, at time_at if no more of it is used (expedited_quota).</summary>
        QuotaUsedUp = 24,
        /// <summary>Something of the quota of expedited tasks is left again.</summary>
        QuotaLeft = 25,
        /// <summary>A run has succeeded, and what it left is not kept, because it is too long (max_output_size): progress_done has its bytes, progress_total how many are kept at most.</summary>
        OutputLost = 26,
    }

    /// <summary>What a condition of the host is. A number that has no name here is of a newer library.</summary>
    public enum ConditionState
    {
        /// <summary>A task asks for it, but it is not defined.</summary>
        Undefined = 0,
        /// <summary>Defined, and not satisfied or not set yet.</summary>
        Unsatisfied = 1,
        /// <summary>Defined and satisfied.</summary>
        Satisfied = 2,
    }

    /// <summary>What the governor asks for before it grants a window. A number that has no name here is of a newer library.</summary>
    public enum Profile
    {
        /// <summary>Nothing but constraints.</summary>
        Open = 0,
        /// <summary>What a phone's system requires.</summary>
        Apple = 1,
        /// <summary>What a server requires: that the machine is not under load.</summary>
        Server = 2,
        /// <summary>All of both, for both kinds.</summary>
        Strict = 3,
    }

    /// <summary>What the governor looks at. A number that has no name here is of a newer library.</summary>
    public enum Signal
    {
        /// <summary>Charge of all batteries, 0 … 1000.</summary>
        BatteryLevel = 1,
        /// <summary>1 on external power.</summary>
        ExternalPower = 2,
        /// <summary>1 while the system should save power.</summary>
        LowPowerMode = 3,
        /// <summary>0 nominal, 1 fair (set by hosts only), 2 serious, 3 critical.</summary>
        Thermal = 4,
        /// <summary>1 while a person works at the machine.</summary>
        UserActive = 5,
        /// <summary>1 while a display is on.</summary>
        DisplayOn = 6,
        /// <summary>1 once a person has unlocked the machine since it started.</summary>
        Unlocked = 7,
        /// <summary>1 while a network is reachable.</summary>
        Network = 8,
        /// <summary>1 while the network costs by volume.</summary>
        Metered = 9,
        /// <summary>1 while all wireless radios are switched off.</summary>
        Airplane = 10,
        /// <summary>0 when the user does not permit this host to work in the background.</summary>
        BackgroundSwitch = 11,
        /// <summary>A SELENE_PRESENCE_ number.</summary>
        HostPresence = 12,
        /// <summary>Share of CPU time that is not idle: in the last seconds, or at this moment where none were observed.</summary>
        CpuBusy = 13,
        /// <summary>Share of the last 10 s in which some task waited for a CPU (pressure stall information).</summary>
        CpuPressure = 14,
        /// <summary>Likewise for memory.</summary>
        MemoryPressure = 15,
        /// <summary>Share of the last 10 s in which all tasks waited for memory.</summary>
        MemoryStalled = 16,
        /// <summary>Some task waited for input or output.</summary>
        IoPressure = 17,
        /// <summary>All tasks waited for input or output.</summary>
        IoStalled = 18,
        /// <summary>Free share of the file system that holds the store; without a store set by the host.</summary>
        StorageFree = 19,
        /// <summary>1 while a battery of the machine is being emptied.</summary>
        Discharging = 20,
        /// <summary>Local time minus UTC in seconds, −64 800 … 64 800.</summary>
        UtcOffset = 21,
        /// <summary>1 while roaming, which may cost more; for constraints only, no factor uses it.</summary>
        Roaming = 22,
    }

    /// <summary>What a profile can ask for. A number that has no name here is of a newer library.</summary>
    public enum Factor
    {
        /// <summary>The level while discharging, 1000 otherwise; at least.</summary>
        Battery = 1,
        /// <summary>… the factors 2 to 19 have the numbers and units of SELENE_SIGNAL_EXTERNAL_POWER … _STORAGE_FREE.</summary>
        ExternalPower = 2,
        /// <summary>SELENE_FACTOR_LOW_POWER_MODE of the header.</summary>
        LowPowerMode = 3,
        /// <summary>SELENE_FACTOR_THERMAL of the header.</summary>
        Thermal = 4,
        /// <summary>SELENE_FACTOR_USER_ACTIVE of the header.</summary>
        UserActive = 5,
        /// <summary>SELENE_FACTOR_DISPLAY_ON of the header.</summary>
        DisplayOn = 6,
        /// <summary>SELENE_FACTOR_UNLOCKED of the header.</summary>
        Unlocked = 7,
        /// <summary>SELENE_FACTOR_NETWORK of the header.</summary>
        Network = 8,
        /// <summary>SELENE_FACTOR_METERED of the header.</summary>
        Metered = 9,
        /// <summary>SELENE_FACTOR_AIRPLANE of the header.</summary>
        Airplane = 10,
        /// <summary>SELENE_FACTOR_BACKGROUND_SWITCH of the header.</summary>
        BackgroundSwitch = 11,
        /// <summary>SELENE_FACTOR_HOST_PRESENCE of the header.</summary>
        HostPresence = 12,
        /// <summary>SELENE_FACTOR_CPU_BUSY of the header.</summary>
        CpuBusy = 13,
        /// <summary>SELENE_FACTOR_CPU_PRESSURE of the header.</summary>
        CpuPressure = 14,
        /// <summary>SELENE_FACTOR_MEMORY_PRESSURE of the header.</summary>
        MemoryPressure = 15,
        /// <summary>SELENE_FACTOR_MEMORY_STALLED of the header.</summary>
        MemoryStalled = 16,
        /// <summary>SELENE_FACTOR_IO_PRESSURE of the header.</summary>
        IoPressure = 17,
        /// <summary>SELENE_FACTOR_IO_STALLED of the header.</summary>
        IoStalled = 18,
        /// <summary>SELENE_FACTOR_STORAGE_FREE of the header.</summary>
        StorageFree = 19,
        /// <summary>A quota of the kind is spent.</summary>
        Budget = 20,
        /// <summary>ns since the kind's last window began; at least.</summary>
        Rate = 21,
        /// <summary>How well the present hour suits the kind: refresh prefers hours of use, processing hours without.</summary>
        UsePrediction = 22,
        /// <summary>ns since the host was last used; at most.</summary>
        RecentUse = 23,
    }
}

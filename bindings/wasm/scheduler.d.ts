// Times are milliseconds: instants since 1970 in scheduler time, to the microsecond, spans as they are. What is refused by the library throws a
// SeleneError; what could not be handed to it (a text where a number belongs, an unknown word or field) a TypeError.

import type {
  Backoff, Constraint, Disposition, EventType, Existing, Factor, Kind, Outcome, PriorityName, Profile, Reason, Recurrence,
  Schedule, Signal, State, Status, StopReason,
} from './names.js';

export type {
  Backoff, Constraint, Disposition, EventType, Existing, Factor, Kind, Outcome, PriorityName, Profile, Reason, Recurrence,
  Schedule, Signal, State, Status, StopReason,
};
export type Priority = 1 | 2 | 3 | 4 | 5 | PriorityName;

/** A call that the library refused. */
export class SeleneError extends Error {
  /** The name of the status: "INVALID_ARGUMENT", "NOT_FOUND", "STALE_RUN", … */
  readonly code: Status;
  readonly status: number;
  /** What was refused, what was found there, and what is allowed; each may be "". */
  readonly field: string;
  readonly found: string;
  readonly allowed: string;
}

/** What the signal of a run is aborted with; its name is "AbortError". */
export class RunStopped extends Error {
  readonly stopReason: StopReason;
}

export interface Options {
  /** Where tasks are kept; default: in memory. Node.js only: elsewhere it is refused. */
  path?: string;
  /**
   * What `exportState` gave, or null to begin with no tasks: then `exportState` can be called. With selene-wasm/store only,
   * where nothing outlives the module but what the host takes out and keeps.
   */
  state?: Uint8Array | ArrayBuffer | null;
  /** Whose store it is; another name is refused with STORE_FOREIGN. */
  owner?: string;
  /** The last calls may be lost in a power loss; in a crash of the process nothing is. */
  relaxed?: boolean;
  /**
   * Scheduler time, in milliseconds since 1970; default: the system's clock. A function is asked, and makes everything
   * repeatable; a number is where the clock of a test stands until `advance` moves it.
   */
  clock?: (() => number) | number;
  /** Seed of the jitter. */
  seed?: number | bigint;
  /** Ranks by the freshness rule. */
  freshness?: boolean;
  /** Scores with the observed range. */
  observedRange?: boolean;
  /** Tasks beyond the limits wait instead of being refused. */
  hold?: boolean;
  /** Ids that may be registered; one that ends in ".*" permits all that begin so. */
  permitted?: string[];
  /** Once and periodic tasks that may wait or run at a time; default Infinity. */
  maxPendingRefresh?: number;
  maxPendingProcessing?: number;
  minimumBackoff?: number;
  maximumBackoff?: number;
  minimumIntervalRefresh?: number;
  minimumIntervalProcessing?: number;
  releaseAfter?: number;
  /** Per mille by which each backoff may be shortened. */
  backoffJitter?: number;
  stopGrace?: number;
  /** How long expedited tasks may run in 24 h; default 10 minutes. */
  expeditedQuota?: number;
  /** How far back `waits` knows what happened to all tasks alike: so many windows and dispatches; default 4 096. */
  waitLogEntries?: number;
  /** How many bytes of output a run may leave: 1 MiB. */
  maxOutputSize?: number;
  /** How long a task waits at least after a second run of it ended its process, each further time twice as long (30 s). */
  crashPause?: number;
}

/** How `connect` of Node.js reaches the process that has a store open. */
export interface Connection {
  /** The store, or the socket on which it is served. */
  path: string;
  /** How long a call waits for an owner while none serves the store; default 0. It blocks. */
  wait?: number;
  /** How long a call waits for an answer; default 30 000. */
  timeout?: number;
  /** Those whose handlers are the same, any of which runs its tasks; default: the name of the executable. */
  pool?: string;
}

/** Whether a kind of work deserves a window now, and why. */
export interface Decision {
  granted: boolean;
  at: number;
  /** What budgets leave room for; Infinity: any. */
  longestWindow: number;
  /** When asking again is worth it, unless a signal changes before. */
  askAgainAt: number;
  /** What became of every factor that the profile asks for, in its unit; clearsAt Infinity: when a signal changes. */
  findings: { factor: Factor; refuses: boolean; observed: number; required: number; clearsAt: number }[];
}

export interface Task {
  /** 1 to 255 bytes of UTF-8. */
  id: string;
  /** The name of its handler; default: the id. */
  handler?: string;
  /** Default: all that may begin. */
  kind?: Kind;
  /** Default "periodic" with `every`, else "once"; "standing" is a candidate in every window. */
  schedule?: Schedule;
  /** Default 3. */
  priority?: Priority;
  existing?: Existing;
  recurrence?: Recurrence;
  backoff?: Backoff;
  backoffDelay?: number;
  /** Response times that the estimate is the mean of; 0 to 30, default 3. */
  responseWindow?: number;
  /** Default 0: no limit. */
  maxAttempts?: number;
  requires?: Constraint | Iterable<Constraint>;
  tags?: string[];
  /** Names of conditions of the host, all of which must be satisfied (`defineCondition`). */
  conditions?: string[];
  /** What it shares a limit of runs at a time with, and a pause. */
  group?: string;
  /** What a run is expected to take while nothing is known; left out: what its handler's runs took. */
  expected?: number;
  /** Until its first run; default 0. */
  delay?: number;
  /** Of a once task: from registration until it has failed unless it began; default 0: none. */
  latestBegin?: number;
  /** The period of a periodic task. */
  every?: number;
  flex?: number;
  /** After which a run is asked to stop; default 0: none. */
  timeout?: number;
  /** How long a run may tell no progress until it is asked to stop; default 0: for ever. */
  stallLimit?: number;
  /** Makes the delay and each period longer by a random part of at most so many per mille; 0 to 1000, default 0. */
  jitter?: number;
  /** Its outcomes are not learnt from (freshness rule). */
  steady?: boolean;
  /** Important now: a once task goes before others while something is left of the option expeditedQuota. */
  expedited?: boolean;
  /** What an expedited task is while that is used up: an ordinary one (default), or refused when it is registered. */
  outOfQuota?: 'ordinary' | 'refuse';
  /** Ids of registered once tasks: it waits until they have succeeded, fails or is cancelled with them. */
  after?: string[];
  /** It starts when they have ended, however they did. */
  afterAnyEnd?: boolean;
  /** Handed to each run, as bytes: those of a view or a buffer as they lie in memory, the UTF-8 of a string. */
  input?: ArrayBufferView | ArrayBuffer | string;
}

export interface Group {
  /** Runs at a time; Infinity: no limit. */
  limit: number;
  paused: boolean;
  running: number;
  waiting: number;
}

/** Kinds that are paused until the same instant. */
export interface Pause {
  kinds: Kind[];
  /** Whose tasks wait; null: those of all. */
  pool: string | null;
  /** When it ends; Infinity: when it is resumed. */
  until: number;
}

export interface Window {
  /** Default: all that may begin. */
  kinds?: Kind | Iterable<Kind>;
  /** From its begin to its deadline; default 30 000. */
  budget?: number;
  /** Kept free at the end, in which runs are asked to stop; default a twentieth. */
  reserve?: number;
  /** Runs at a time; 1 to 1,024, default 1. */
  lanes?: number;
  /** Nothing is picked whose estimate does not fit, not even first. */
  strictFit?: boolean;
  /** Picks only tasks that were eligible at its begin; without it also those that become due meanwhile. */
  frozen?: boolean;
  /** The one task that shall run now. */
  task?: string;
}

/** A window that `run` works through. */
export interface RunWindow extends Window {
  /** Ends it before its deadline: nothing more begins, and what runs has `grace`. */
  signal?: AbortSignal;
  /** Default 0: runs are over at once. Runs that do not complete within it are stopped, which fails none of them. */
  grace?: number;
}

/** How `runForever` opens windows. */
export interface Driver {
  /** Ends it; what runs then has `grace`. */
  signal?: AbortSignal;
  /** Default 0. */
  grace?: number;
  /** Called after each window. What it throws ends `runForever`, as does a promise that is rejected. */
  report?: (report: Report) => unknown;
  /** Of the windows that it opens; default both. */
  kinds?: Kind | Iterable<Kind>;
  /** The deadline of runs in a window for refresh work; default none: windows pick runs for 30 s, and a run takes as long as it takes. */
  refreshBudget?: number;
  /** The same for processing; windows pick runs for 10 min. */
  processingBudget?: number;
  /** Runs at a time; 1 to 1,024, default 1. */
  refreshLanes?: number;
  processingLanes?: number;
  /** Kept free at the end of each window; default a twentieth. */
  reserve?: number;
  /** Least time from begin to begin of windows of one kind; default 0. */
  every?: number;
  /** Nothing is picked whose estimate does not fit, not even first. */
  strictFit?: boolean;
  /** One window at a time, for all kinds that are due. */
  together?: boolean;
  /** What becomes eligible while a window is open waits for the next one. */
  frozen?: boolean;
  /** Asks no governor and keeps no ledger. */
  ungoverned?: boolean;
}

export interface TaskInfo {
  id: string;
  handler: string;
  tags: string[];
  after: string[];
  /** Those of them that it waits for. */
  waitsFor: string[];
  /** Of the host. */
  conditions: string[];
  /** Empty: none. */
  group: string;
  kind: Kind;
  schedule: Schedule;
  priority: number;
  requires: Constraint[];
  state: State;
  attempts: number;
  lastOutcome: Outcome | null;
  /** Why its last run was stopped. */
  stopReason: StopReason | null;
  /** What the run in flight told last; null: nothing. total 0: unknown. */
  progress: { at: number; done: number; total: number; text: string } | null;
  generation: number;
  /** Successors that wait behind it. */
  appended: number;
  /** null: not said. */
  expected: number | null;
  every: number;
  registeredAt: number;
  earliestBegin: number;
  lastRun: number;
  estimate: number;
  /** At most 30, oldest first. */
  responseTimes: number[];
  /** Why its last run failed; "" if it did not. */
  failure: string;
  failedAt: number | null;
}

/** The durations of parts add up to until - since. */
export interface Waits {
  state: State;
  since: number;
  until: number;
  /** detail: the bit of a constraint, the number of a factor, or 0. name: the condition of the host, the group, or the id
   * that it waits for; or "". */
  parts: { reason: Reason; detail: number; duration: number; times: number; name: string }[];
  /** The last 30 changes of reason. */
  changes: { at: number; reason: Reason; detail: number; name: string }[];
  /** How many dispatches of others went before it in windows that it fitted. */
  preferred: number;
  /** The last of these, the latest first. */
  preferredIds: string[];
}

export interface Explanation {
  state: State;
  /** Empty: nothing but a window is missing. */
  reasons: { reason: Reason; missing: string[]; mayChangeAt: number }[];
  /** From 1; 0: it is not eligible. */
  rank: number;
  eligible: number;
  score: number;
  estimate: number;
  /** What was left when the last window of its kind stopped picking; null before the first since the scheduler was opened. */
  lastRoom: number | null;
  /** The last instant at which it may begin, while it waits; null: there is none. */
  latestBegin: number | null;
  /** It goes before others, because that is near, or because it is expedited and something of the quota is left. */
  urgent: boolean;
  expedited: boolean;
  /** Failures in a row, and the run in flight. */
  attempts: number;
  /** The rest is 0 unless the scheduler ranks by freshness. */
  freshSince: number;
  cost: number;
  knownRuns: number;
  newsRuns: number;
  /** 1: that of a task of priority 3 that takes 5 s and always finds something new. */
  pace: number;
}

export interface Plan {
  eligible: number;
  runs: { id: string; score: number; estimate: number; startsAt: number }[];
}

export interface Report {
  result: Outcome;
  beganAt: number;
  endedAt: number;
  deadline: number;
  budget: number;
  reserve: number;
  eligible: number;
  didNotFit: number;
  newData: number;
  noData: number;
  failed: number;
  abandoned: number;
  expired: number;
  stopped: number;
  runs: {
    id: string;
    outcome: Outcome;
    stopReason: StopReason | null;
    attempt: number;
    priority: number;
    score: number;
    estimate: number;
    startedAt: number;
    responseTime: number;
  }[];
}

export interface Event {
  number: number;
  type: EventType;
  state: State | null;
  time: number;
  id: string;
  detail: number;
  attempts: number;
  timeAt: number;
  kinds: Kind[];
  message: string;
}

/** A loaded engine. */
export class Selene {
  private constructor();
  readonly version: string;
  open(options?: Options): Scheduler;
  /** Node.js only: elsewhere it is refused. */
  connect(connection: Connection): Scheduler;
}

export class Scheduler {
  private constructor();
  /** Scheduler time, which never goes back. */
  readonly now: number;
  /**
   * Lets time pass in a test up to an instant, for a scheduler whose clock is a number: from one instant at which something is
   * due to the next. At each it waits until all that is due is done, also by handlers, except those in `run.sleep`; Infinity:
   * until nothing is due, which never comes while `runForever` runs a periodic task. Gives when something is due next;
   * Infinity: nothing is. BUSY, which names the runs, if handlers are at work for longer than `patience` at an instant, in
   * milliseconds of the system's clock (10 000): time stands there. `handlers: false` waits for none, so what they do is not
   * exact. Runs of `begin` are not waited for, nor is what else the program awaits.
   */
  advance(to: number, how?: { handlers?: boolean; patience?: number }): Promise<number>;
  /** Tasks by state, and runs dispatched. */
  readonly counts: Record<State | 'dispatched', number>;
  /** Registers a handler; `work` is called by `run`. It returns false for nothing new, and throws to fail. */
  handler(name: string, work?: ((run: Run) => unknown) | null): void;
  register(task: Task): Disposition;
  /** Cancels a task and what waits behind it; gives how many records. Throws NOT_FOUND. */
  cancel(id: string): number;
  cancelTag(tag: string): number;
  cancelAll(): number;
  /** Says when a live task is due next, once. */
  setNext(id: string, next: number): void;
  /** Pauses a task and what waits behind it, or every task that carries a tag; gives how many records. */
  pause(id: string): number;
  pauseTag(tag: string): number;
  /** Lets them go on. */
  resume(id: string): number;
  resumeTag(tag: string): number;
  /**
   * Pauses kinds, everywhere or in a pool (of the tasks whose handlers its processes offer): none of their tasks begins
   * before `until`, an instant at most 10 years ahead; by default until they are resumed. Runs in flight go on. The store
   * keeps it; pausing them again changes the end. Everywhere and in each pool they are paused apart, and a task waits while
   * either holds.
   */
  pauseKinds(kinds: Kind | Iterable<Kind>, where?: { pool?: string | null; until?: number }): void;
  /** Lets them go on, everywhere or in a pool. */
  resumeKinds(kinds: Kind | Iterable<Kind>, where?: { pool?: string | null }): void;
  /** The kinds that are paused: first everywhere, then by pool. */
  pauses(): Pause[];
  /** Defines a condition of the host's own, which tasks ask for by its name. */
  defineCondition(name: string): void;
  /** Takes the definition back; it is then not satisfied. */
  undefineCondition(name: string): void;
  /** Says whether a condition that is defined is satisfied; runs that lose it are stopped. */
  setCondition(name: string, satisfied: boolean): void;
  /** Those that are defined, or that a task asks for; null: not defined. */
  namedConditions(): Record<string, boolean | null>;
  /** The names of those that a task asks for and that are not satisfied. */
  missingConditions(id: string): string[];
  /** At most so many runs of a group go on at a time; Infinity: no limit. */
  limitGroup(name: string, limit: number): void;
  /** Begins no more runs of a group, or lets them begin again. */
  pauseGroup(name: string): void;
  resumeGroup(name: string): void;
  group(name: string): Group | undefined;
  groups(): string[];
  /** Enqueues a failed task again. */
  retry(id: string): void;
  /** Enqueues a failed task again, and all that failed because of it; gives how many. */
  retrySuccessors(id: string): number;
  get(id: string): TaskInfo | undefined;
  /** What the last success of a task left; none if it left nothing. Throws NOT_FOUND. */
  output(id: string): Uint8Array;
  /** The ids of all tasks, or of those with a tag, in a state, or both. */
  list(which?: { tag?: string; state?: State }): string[];
  /** Why a task does not run now. */
  explain(id: string): Explanation;
  /** Where the time of a task went since it was last due, or registered. */
  waits(id: string): Waits;
  /** What such a window would pick now. */
  plan(window?: Window): Plan;
  /** Begins a window whose runs are pulled. */
  begin(window?: Window): Cycle;
  /** Runs a window with the handlers' functions; its report comes by the deadline. Rejected if the scheduler is closed meanwhile. */
  run(window?: RunWindow): Promise<Report>;
  /**
   * Opens a window whenever something can run and the governor grants one, until `signal` is aborted or the scheduler is
   * closed. Node.js only: elsewhere it is refused.
   */
  runForever(driver?: Driver): Promise<void>;
  /** When a window is worth opening; Infinity: when something changes. */
  nextWakeup(): number;
  /**
   * Waits until a window is worth opening, however long; a call that changes something wakes it. False: the scheduler was
   * closed, or `signal` aborted.
   */
  untilWakeup(options?: { signal?: AbortSignal }): Promise<boolean>;
  /** What the host knows; null gives a condition back. */
  setConditions(conditions: Partial<Record<Constraint, boolean | null>>): void;
  enable(kinds: Kind | Iterable<Kind>): void;
  /** Says what the governor asks for from now on, before `runForever` opens a window. It is not stored. */
  setProfile(profile: Profile): void;
  /** Sets a signal in place of what the system says, until it is cleared, or for so many milliseconds. */
  setSignal(signal: Signal, value: number, validFor?: number): void;
  clearSignal(signal: Signal): void;
  /** Whether a kind deserves a window now, and why. */
  ask(kind: Kind): Decision;
  /** What it throws is the host's uncaught exception. */
  observe(observer: ((event: Event) => void) | null): void;
  /**
   * All tasks and what was learnt of them, as the bytes of a store: `open({ state })` takes them, and as a file every other
   * binding does. A run that is open then is one that was cut off. Throws TypeError without the option `state`.
   */
  exportState(): Uint8Array;
  /**
   * Runs in flight are asked to stop (shutdown), and their tasks wait as before. Closing twice does nothing. With the option
   * `state` it returns the last bytes, as `exportState` does, in which these runs are not cut off.
   */
  close(): Uint8Array | undefined;
}

export class Cycle {
  private constructor();
  next(): { run: Run; until?: undefined; done?: undefined } | { until: number; run?: undefined; done?: undefined } | { done: true; run?: undefined; until?: undefined };
  /** Dispatches nothing more; what runs has so many milliseconds, default 0. */
  drain(grace?: number): void;
  end(): Report;
  /** Ends it without a report, if that was not done; `using` does so. */
  close(): void;
}

export class Run {
  private constructor();
  readonly id: string;
  readonly handler: string;
  readonly input: Uint8Array;
  readonly kind: Kind;
  readonly priority: number;
  /** 1 for the first. */
  readonly attempt: number;
  readonly score: number;
  readonly estimate: number;
  readonly startedAt: number;
  readonly expiresAt: number;
  readonly deadline: number;
  /** Aborted when the run is asked to stop, with a RunStopped. */
  readonly signal: AbortSignal;
  /** Why it should stop, or null; of one that is over why it was asked to, or "shutdown". */
  readonly stopping: StopReason | null;
  /**
   * Waits until so much scheduler time has passed, or it should stop; true: all of it has. UNSUPPORTED where the clock is a
   * function, or the scheduler another process's.
   */
  sleep(span: number): Promise<boolean>;
  complete(outcome?: 'new_data' | 'no_data' | 'failed' | 'abandoned'): void;
  /** Gives an outcome where it may come too late: what was stopped, is over or has its outcome stays as it is. */
  settle(give: () => void): void;
  /**
   * Tells how far it has come: how much is done of how much (0: unknown), whole numbers from 0, and a text. With each call
   * the task's stallLimit begins anew; events tell it at most four times a second.
   */
  progress(done: number, total?: number, text?: string): void;
  /** Says what it leaves if it succeeds. */
  setOutput(output: ArrayBufferView | ArrayBuffer | string): void;
  fail(message?: string, how?: { delay?: number; abandon?: boolean }): void;
}

// Selene for JavaScript, over the engine as WebAssembly or as an addon of node. Times are milliseconds; what JavaScript
// cannot block for is awaited.

import { constants } from './interface.mjs';
import { milliseconds } from './structs.mjs';

const NEVER = 2n ** 63n - 1n;
// How long advance waits for handlers at an instant, ms of the system's clock.
const PATIENCE = 10_000;
const UNLIMITED = 0xffff_ffff;
const MILLISECOND = 1_000_000n;

/** What the numbers of an enum are called: "new_data", with `OUTCOME`. */
function names(prefix) {
  const entries = Object.entries(constants)
    .filter(([key]) => key.startsWith(`${prefix}_`))
    .map(([key, value]) => [value, key.slice(prefix.length + 1).toLowerCase()]);
  const byNumber = new Map(entries);
  const byName = new Map(entries.map(([value, name]) => [name, value]));
  return {
    name: (number) => byNumber.get(number) ?? String(number),
    number(name, field) {
      const number = byName.get(name);
      if (number === undefined) {
        throw new TypeError(`${field}: ${JSON.stringify(name)} is unknown, known are ${[...byName.keys()].join(', ')}`);
      }
      return number;
    },
    all: [...byName.keys()],
  };
}

const statuses = new Map([[0, 'OK'], ...Object.entries(constants)
  .filter(([key]) => key.startsWith('ERROR_'))
  .map(([key, value]) => [value, key.slice('ERROR_'.length)])]);
const kinds = names('KIND');
const schedules = names('SCHEDULE');
const priorities = names('PRIORITY');
const existings = names('EXISTING');
const recurrences = names('RECURRENCE');
const backoffs = names('BACKOFF');
const dispositions = names('DISPOSITION');
const states = names('STATE');
const outcomes = names('OUTCOME');
const stops = names('STOP');
const reasons = names('REASON');
const events = names('EVENT');
const constraintNames = names('CONSTRAINT');
const profiles = names('PROFILE');
const signals = names('SIGNAL');
const factors = names('FACTOR');

/** A call that the library refused. `code` is the header's name: "INVALID_ARGUMENT", "STALE_RUN", … */
export class SeleneError extends Error {
  constructor(status, error, meaning) {
    super(error.message || meaning());
    this.name = 'SeleneError';
    this.code = statuses.get(status) ?? String(status);
    this.status = status;
    /** The field that was refused, what was found, and what is allowed; each may be "". */
    this.field = error.field;
    this.found = error.found;
    this.allowed = error.allowed;
  }
}

/** What the signal of a run is aborted with; `stopReason` is "expiring", "cancelled", … */
export class RunStopped extends Error {
  constructor(stopReason) {
    super(`the run is asked to stop: ${stopReason}`);
    // Libraries that take a signal know an end on request by this name.
    this.name = 'AbortError';
    this.stopReason = stopReason;
  }
}

/** Milliseconds as the library counts them. */
export function nanoseconds(milliseconds, field) {
  if (milliseconds === Infinity) return NEVER;
  if (typeof milliseconds !== 'number' || !Number.isFinite(milliseconds) || Math.abs(milliseconds) > 9e12) {
    throw new TypeError(`${field}: ${String(milliseconds)} is not a number of milliseconds`);
  }
  const whole = Math.trunc(milliseconds);
  // A number as large as an instant has no nanoseconds, but whole microseconds.
  const step = Math.abs(whole) < 1e10 ? 1 : 1000;
  return BigInt(whole) * MILLISECOND + BigInt(Math.round(((milliseconds - whole) * 1e6) / step) * step);
}

/** An instant or a span as JavaScript has it. */
function inMilliseconds(nanoseconds) {
  if (nanoseconds >= NEVER) return Infinity;
  return Number(nanoseconds / MILLISECOND) + Number(nanoseconds % MILLISECOND) / 1e6;
}

/** Bits of what is asked for by name. */
function bits(wanted, table, field) {
  const list = typeof wanted === 'string' ? [wanted] : [...wanted];
  return list.reduce((sum, name) => sum | table.number(name, field), 0);
}

/** The bits of the kinds of a window or driver. The library takes 0 as all kinds, so an empty list is refused here. */
function someKinds(wanted) {
  const set = bits(wanted, kinds, 'kinds');
  if (set === 0) throw new RangeError('kinds is empty; allowed: refresh, processing, or both');
  return set;
}

/** The names of what is set. */
function named(set, table) {
  return table.all.filter((name) => set & table.number(name));
}

/** What was found, in the words of a refusal. */
function shown(value) {
  if (value === null || typeof value !== 'object') return typeof value === 'string' ? JSON.stringify(value) : String(value);
  return Array.isArray(value) ? 'an array' : `an object of ${value.constructor?.name ?? 'no class'}`;
}

function string(value, field) {
  if (typeof value !== 'string') throw new TypeError(`${field}: ${shown(value)} is not a string`);
  return value;
}

function strings(value, field) {
  if (value === null || typeof value !== 'object' || typeof value[Symbol.iterator] !== 'function') {
    throw new TypeError(`${field}: ${shown(value)} is not a list of strings`);
  }
  return [...value].map((one) => string(one, field));
}

function object(value, what) {
  if (value === null || typeof value !== 'object') throw new TypeError(`${what}: ${shown(value)} is not an object`);
  return value;
}

/** Bytes of any kind as they lie in memory; a string is its UTF-8. */
function bytesOf(value, field, { text, bytes }) {
  if (typeof value === 'string') return text(value);
  if (value instanceof Uint8Array) return bytes(value);
  if (ArrayBuffer.isView(value)) return bytes(new Uint8Array(value.buffer, value.byteOffset, value.byteLength));
  if (value instanceof ArrayBuffer || (globalThis.SharedArrayBuffer && value instanceof SharedArrayBuffer)) return bytes(new Uint8Array(value));
  throw new TypeError(`${field}: ${shown(value)} is neither bytes nor a string`);
}

function integer(value, field, least = 0, greatest = UNLIMITED) {
  if (!Number.isInteger(value) || value < least || value > greatest) {
    throw new TypeError(`${field}: ${String(value)} is not a whole number from ${least} to ${greatest}`);
  }
  return value;
}

/** An i64 that is no time, as it was. */
function whole(milliseconds) {
  return Math.round(milliseconds * 1e6);
}

/**
 * A number that was given, where 0 is a default that is not 0: SELENE_NONE says 0, or is refused where 0 is not allowed. What
 * is negative is nobody's word for something else.
 */
function said(number) {
  if (typeof number === 'bigint') return number || BigInt(constants.NONE);
  return number === constants.NONE ? -(2 ** 31) : number || constants.NONE;
}

function count(value, field) {
  return said(BigInt(value === Infinity ? UNLIMITED : integer(value, field)));
}

// How each field of a task or an option is written: its name in the header, then what brings it there.
const TASK = {
  kind: ['kind', (value) => kinds.number(value, 'kind')],
  schedule: ['schedule', (value) => schedules.number(value, 'schedule')],
  priority: ['priority', (value) => (typeof value === 'string' ? priorities.number(value, 'priority') : said(integer(value, 'priority', -(2 ** 31), 2 ** 31 - 1)))],
  existing: ['existing', (value) => existings.number(value, 'existing')],
  recurrence: ['recurrence', (value) => recurrences.number(value, 'recurrence')],
  backoff: ['backoff', (value) => backoffs.number(value, 'backoff')],
  responseWindow: ['response_window', (value) => said(integer(value, 'responseWindow', -(2 ** 31), 2 ** 31 - 1))],
  maxAttempts: ['max_attempts', (value) => integer(value, 'maxAttempts')],
  requires: ['constraints', (value) => bits(value, constraintNames, 'requires')],
  expected: ['expected_response', (value) => said(nanoseconds(value, 'expected'))],
  delay: ['initial_delay', (value) => nanoseconds(value, 'delay')],
  every: ['period', (value) => nanoseconds(value, 'every')],
  flex: ['flex', (value) => nanoseconds(value, 'flex')],
  backoffDelay: ['backoff_delay', (value) => said(nanoseconds(value, 'backoffDelay'))],
  timeout: ['timeout', (value) => nanoseconds(value, 'timeout')],
  stallLimit: ['stall_limit', (value) => nanoseconds(value, 'stallLimit')],
  jitter: ['jitter', (value) => integer(value, 'jitter')],
  latestBegin: ['latest_begin', (value) => nanoseconds(value, 'latestBegin')],
};
const OPTIONS = {
  maxPendingRefresh: ['max_pending_refresh', (value) => count(value, 'maxPendingRefresh')],
  maxPendingProcessing: ['max_pending_processing', (value) => count(value, 'maxPendingProcessing')],
  minimumBackoff: ['minimum_backoff', (value) => said(nanoseconds(value, 'minimumBackoff'))],
  maximumBackoff: ['maximum_backoff', (value) => said(nanoseconds(value, 'maximumBackoff'))],
  minimumIntervalRefresh: ['minimum_interval_refresh', (value) => nanoseconds(value, 'minimumIntervalRefresh')],
  minimumIntervalProcessing: ['minimum_interval_processing', (value) => nanoseconds(value, 'minimumIntervalProcessing')],
  releaseAfter: ['release_after', (value) => said(nanoseconds(value, 'releaseAfter'))],
  backoffJitter: ['backoff_jitter', (value) => integer(value, 'backoffJitter')],
  crashPause: ['crash_pause', (value) => said(nanoseconds(value, 'crashPause'))],
  stopGrace: ['stop_grace', (value) => said(nanoseconds(value, 'stopGrace'))],
  expeditedQuota: ['expedited_quota', (value) => said(nanoseconds(value, 'expeditedQuota'))],
  maxOutputSize: ['max_output_size', (value) => said(BigInt(integer(value, 'maxOutputSize')))],
  waitLogEntries: ['wait_log_entries', (value) => BigInt(integer(value, 'waitLogEntries', 1))],
  seed: ['seed', (value) => BigInt.asUintN(64, BigInt(value))],
};
const DRIVER = {
  kinds: ['kinds', someKinds],
  refreshBudget: ['refresh_budget', (value) => nanoseconds(value, 'refreshBudget')],
  processingBudget: ['processing_budget', (value) => nanoseconds(value, 'processingBudget')],
  refreshLanes: ['refresh_lanes', (value) => integer(value, 'refreshLanes', 1)],
  processingLanes: ['processing_lanes', (value) => integer(value, 'processingLanes', 1)],
  reserve: ['reserve', (value) => said(nanoseconds(value, 'reserve'))],
  every: ['every', (value) => nanoseconds(value, 'every')],
};
const CONNECTION = {
  wait: ['wait', (value) => nanoseconds(value, 'wait')],
  timeout: ['timeout', (value) => said(nanoseconds(value, 'timeout'))],
};
const WINDOW = {
  kinds: ['kinds', someKinds],
  lanes: ['lanes', (value) => integer(value, 'lanes', 1)],
  budget: ['budget', (value) => said(nanoseconds(value, 'budget'))],
  reserve: ['reserve', (value) => said(nanoseconds(value, 'reserve'))],
};

const PAUSE = {
  until: ['until', (value) => nanoseconds(value, 'until')],
};

/** The fields of `given` that `table` knows, as the header has them; `others` are read elsewhere. */
function fields(given, table, others, what) {
  const result = {};
  for (const [key, value] of Object.entries(object(given, what))) {
    if (value === undefined || others.includes(key)) continue;
    const known = Object.hasOwn(table, key) ? table[key] : undefined;
    if (!known) {
      throw new TypeError(`${what}: ${key} is unknown, known are ${[...others, ...Object.keys(table)].join(', ')}`);
    }
    result[known[0]] = known[1](value);
  }
  return result;
}

/** What goes wrong where nothing can be thrown, as in a function that C calls, is told to the host. */
function tellHost(error) {
  if (globalThis.reportError) globalThis.reportError(error);
  else queueMicrotask(() => { throw error; });
}

/** Until what is ready to go on has done so. */
function turn() {
  return new Promise((resolve) => { (globalThis.setImmediate ?? setTimeout)(resolve); });
}

/** A loop waits for a ring, which is not lost when it comes before. */
class Bell {
  /** The instant at which it is rung, where a test has the clock, in nanoseconds. */
  until = NEVER;
  #rung = false;
  #resolve = null;

  ring() {
    this.#rung = true;
    this.#resolve?.();
  }

  /** Until it rings, at most so many milliseconds. */
  async wait(longest = Infinity) {
    if (!this.#rung) {
      let timer;
      await new Promise((resolve) => {
        this.#resolve = resolve;
        if (longest !== Infinity) timer = setTimeout(resolve, Math.min(Math.max(0, Math.ceil(longest)), 2 ** 31 - 1));
      });
      this.#resolve = null;
      clearTimeout(timer);
    }
    this.#rung = false;
  }
}

/** A loaded engine, in which any number of schedulers can be opened. */
export class Selene {
  constructor(memory) {
    this.memory = memory;
    this.c = memory.calls;
    // One function for each signature; C's context says whose it is.
    this.objects = new Map();
    this.nextObject = 1;
    const call = (method) => (...values) => {
      try {
        return this.objects.get(values.pop())?.[method](...values);
      } catch (error) {
        return tellHost(error);
      }
    };
    this.callbacks = memory.callbacks({
      clock: call('readClock'),
      stop: call('stopRun'),
      event: call('tell'),
      destroy: (number) => this.objects.delete(number),
    });
  }

  get version() {
    const number = this.c.selene_version();
    return `${Math.floor(number / 1e6)}.${Math.floor(number / 1e3) % 1e3}.${number % 1e3}`;
  }

  /** Opens a scheduler; see Options in selene.d.ts. */
  open(options = {}) {
    return new Scheduler(this, options);
  }

  /** Connects to the process that has a store open; see Connection in scheduler.d.ts. */
  connect(options) {
    return new Scheduler(this, options, true);
  }

  check(status) {
    if (status === 0) return;
    const error = this.memory.read('error', this.c.selene_error_last());
    throw new SeleneError(status, error, () => this.memory.string(this.c.selene_status_message(status)));
  }

  /** Keeps an object for callbacks until C releases it, and gives C's context. */
  lend(object) {
    const number = this.nextObject++;
    this.objects.set(number, object);
    return this.memory.lend(number);
  }
}

export class Scheduler {
  #selene;
  #handle = 0n;
  #handlers = new Map();
  // The runs whose signal was asked for and that have no outcome yet, by token; why others were stopped, until none of their
  // cycles is open; the loops to wake when something may have become eligible; the runs that handlers work on; and those that
  // wait for time.
  #open = {
    runs: new Map(), stops: new Map(), cycles: 0, bells: new Set(), works: new Set(), sleeps: new Set(),
    sleep: (run, token, span) => this.#sleep(run, token, span),
  };
  #watches = new Set();
  // What setConditions has said, by name.
  #conditions = {};
  // The path of the tasks in the module's memory, where they are a state that the host takes out.
  #state;
  // Its calls are made by another process.
  #isConnection;
  // Its time is what `advance` says.
  #isTold = false;

  constructor(selene, options, isConnection = false) {
    this.#selene = selene;
    this.#isConnection = isConnection;
    if (isConnection) this.#connect(options);
    else this.#openStore(options);
  }

  #openStore(options) {
    const selene = this.#selene;
    const { memory, c } = selene;
    const given = { maxPendingRefresh: Infinity, maxPendingProcessing: Infinity, ...options };
    memory.scope(({ room, struct, text }) => {
      const at = struct('options');
      memory.clear('options', at);
      const others = ['path', 'state', 'owner', 'relaxed', 'clock', 'hold', 'observedRange', 'freshness', 'permitted'];
      const values = fields(given, OPTIONS, others, 'open');
      values.flags =
        constants.OPTIONS_NO_THREADS |
        (given.relaxed ? constants.OPTIONS_RELAXED : 0) |
        (given.hold ? constants.OPTIONS_HOLD : 0) |
        (given.observedRange ? constants.OPTIONS_OBSERVED_RANGE : 0) |
        (given.freshness ? constants.OPTIONS_FRESHNESS : 0);
      if (given.permitted) Object.assign(values, this.#texts('permitted', given.permitted, room, text, BigInt));
      if (memory.keepState) {
        if (given.path !== undefined) throw new TypeError('path: a WebAssembly module has no files; tasks are kept in a state');
        if (given.state !== undefined) this.#state = memory.keepState(given.state);
      } else if (given.state !== undefined) {
        throw new TypeError('state: for WebAssembly; here tasks are kept at a path');
      }
      const path = this.#state ?? given.path;
      if (path !== undefined) values.path = text(string(path, 'path'));
      if (given.owner !== undefined) values.owner = text(string(given.owner, 'owner'));
      if (typeof given.clock === 'number') {
        values.flags |= constants.OPTIONS_SET_CLOCK;
        values.clock_start = nanoseconds(given.clock, 'clock');
        this.#isTold = true;
      } else if (given.clock) {
        const { clock } = given;
        values.clock = selene.callbacks.clock;
        let last = 0n;
        const readClock = () => {
          try {
            last = nanoseconds(clock(), 'clock');
          } catch (error) {
            tellHost(error);
          }
          return last;
        };
        values.clock_context = selene.lend({ readClock });
        values.clock_destroy = selene.callbacks.destroy;
      }
      memory.write('options', at, values);
      const out = room(8);
      try {
        selene.check(c.selene_scheduler_open(at, out));
      } catch (error) {
        this.#dropState();
        throw error;
      }
      this.#handle = memory.get('u64', out);
    });
  }

  #connect(options = {}) {
    const selene = this.#selene;
    const { memory, c } = selene;
    if (memory.keepState) throw new TypeError('connect: a WebAssembly module has no sockets');
    memory.scope(({ room, struct, text }) => {
      const at = struct('connect_options');
      memory.clear('connect_options', at);
      const values = fields(options, CONNECTION, ['path', 'pool'], 'connect');
      values.path = text(string(options.path ?? '', 'path'));
      if (options.pool !== undefined) values.pool = text(string(options.pool, 'pool'));
      memory.write('connect_options', at, values);
      const out = room(8);
      selene.check(c.selene_scheduler_connect(at, out));
      this.#handle = memory.get('u64', out);
    });
  }

  #dropState() {
    if (this.#state !== undefined) this.#selene.memory.dropState(this.#state);
  }

  /** An array of texts with its number, as the fields that a struct has for them. */
  #texts(name, given, room, text, number) {
    const { memory } = this.#selene;
    const list = strings(given, name);
    const { size } = memory.layout('text');
    const at = room(size * list.length);
    list.forEach((string, index) => memory.write('text', at + index * size, text(string)));
    return { [name]: at, [`${name.replace(/s$/, '')}_count`]: number(list.length) };
  }

  /** Calls a function of the header that takes an id or a name after the handle. */
  #named(call, name, ...rest) {
    return this.#selene.memory.scope(({ text }) => {
      const { data, length } = text(string(name, 'id or name'));
      this.#selene.check(this.#selene.c[call](this.#handle, data, length, ...rest));
    });
  }

  /** The number that a function writes through its last parameter. */
  #out(type, call, ...values) {
    const { memory, c } = this.#selene;
    return memory.scope(({ room }) => {
      const out = room(8);
      this.#selene.check(c[call](this.#handle, ...values, out));
      return memory.get(type, out);
    });
  }

  /** Scheduler time, in milliseconds since 1970. */
  get now() {
    return this.#out('i64', 'selene_scheduler_now');
  }

  /** The same in nanoseconds. */
  #present() {
    return this.#out('u64', 'selene_scheduler_now');
  }

  /**
   * Lets time pass in a test up to an instant, for a scheduler whose clock is a number: from one instant at which something is
   * due to the next, and at each it waits until all that is due is done, also by handlers, except those that `sleep`. Gives when
   * something is due next; Infinity: nothing is.
   */
  async advance(to, options = {}) {
    fields(options, {}, ['handlers', 'patience'], 'advance');
    const { handlers = true, patience = PATIENCE } = options;
    const end = nanoseconds(to, 'to');
    const longest = nanoseconds(patience, 'patience');
    const move = (instant, flags) => this.#out('i64', 'selene_clock_advance', instant, flags, longest);
    // What is refused is so at once: this does what is due now.
    move(0n, 0);
    const bell = this.#bell();
    this.#wake();
    try {
      for (;;) {
        await this.#settle(bell, handlers, patience);
        const from = this.#present();
        const waits = [...this.#open.bells].map(({ until }) => until).filter((until) => until > from);
        const first = waits.reduce((least, until) => (until < least ? until : least), NEVER);
        const next = move(first < end ? first : end, constants.ADVANCE_ONCE);
        if (this.#present() === from) return Math.min(next, inMilliseconds(first));
        this.#wake();
      }
    } finally {
      this.#open.bells.delete(bell);
    }
  }

  /** Until all loops wait for their bells, and all handlers have returned, or wait for time. */
  async #settle(bell, handlers, patience) {
    const limit = performance.now() + patience;
    for (;;) {
      await turn();
      const busy = handlers ? this.#busy() : [];
      if (busy.length === 0) return;
      const left = limit - performance.now();
      if (left <= 0) {
        const more = busy.length > 3 ? ` and ${busy.length - 3} more` : '';
        const named = busy.slice(0, 3).map(({ id, handler }) => `"${id}" in the handler "${handler}"`).join(', ');
        throw new SeleneError(constants.ERROR_BUSY, { message: `still at work: ${named}${more}`, field: '', found: '', allowed: '' });
      }
      await bell.wait(left);
    }
  }

  /** The runs that handlers work on, except those that are over, or wait for time. */
  #busy() {
    const asleep = new Set([...this.#open.sleeps].map(({ run }) => run));
    return [...this.#open.works].filter((run) => !asleep.has(run) && Run.isOpen(run));
  }

  /** Lets a run wait until so much scheduler time has passed; false: it should stop. */
  async #sleep(run, token, span) {
    const { memory, c } = this.#selene;
    // The library would block this thread; it says whether the run may wait at all.
    const status = memory.scope(({ room }) => c.selene_run_sleep(token, span < 0n ? span : 0n, room(4)));
    if (OVER.includes(status)) return false;
    this.#selene.check(status);
    const until = this.#present() + span;
    const bell = this.#bell();
    const sleep = { run, token, bell };
    this.#open.sleeps.add(sleep);
    if (this.#isTold) this.#wake();
    try {
      while (!run.stopping) {
        if (this.#present() >= until) return true;
        await this.#rest(bell, until);
      }
      return false;
    } finally {
      this.#open.sleeps.delete(sleep);
      this.#open.bells.delete(bell);
    }
  }

  /** How many tasks there are in each state, and runs so far. */
  get counts() {
    const { memory, c } = this.#selene;
    return memory.scope(({ struct }) => {
      const at = struct('scheduler_info');
      this.#selene.memory.clear('scheduler_info', at);
      this.#selene.check(c.selene_scheduler_get(this.#handle, at));
      const info = memory.read('scheduler_info', at);
      return Object.fromEntries([...states.all, 'dispatched'].map((key) => [key, Number(info[key])]));
    });
  }

  /** Registers a handler under a name. `work(run)` is called by `run()`; without it the name serves pulled cycles only. */
  handler(name, work = null) {
    if (work !== null && typeof work !== 'function') throw new TypeError(`work: ${shown(work)} is not a function`);
    const { c, callbacks } = this.#selene;
    // A stop function of a connection would be called on a thread of the library; its windows ask instead.
    const context = this.#isConnection ? 0 : this.#selene.lend(this);
    this.#selene.memory.scope(({ text }) => {
      const { data, length } = text(string(name, 'handler'));
      const { stop, destroy } = this.#isConnection ? { stop: 0, destroy: 0 } : callbacks;
      this.#selene.check(c.selene_handler_register(this.#handle, data, length, 0, stop, context, destroy));
    });
    this.#handlers.set(name, work);
  }

  /** Registers a task; gives what happened: "added", "updated", "kept", … */
  register(task) {
    const { memory, c } = this.#selene;
    return memory.scope(({ room, struct, text, bytes }) => {
      const at = struct('task');
      this.#selene.memory.clear('task', at);
      const others = ['id', 'handler', 'steady', 'tags', 'group', 'input', 'after', 'afterAnyEnd', 'expedited', 'outOfQuota', 'conditions'];
      const values = fields(task, TASK, others, 'task');
      values.id = text(string(task.id ?? '', 'id'));
      if (task.handler !== undefined) values.handler = text(string(task.handler, 'handler'));
      if (task.group !== undefined) values.group = text(string(task.group, 'group'));
      values.flags = (task.steady ? constants.TASK_STEADY : 0) | (task.afterAnyEnd ? constants.TASK_AFTER_ANY_END : 0);
      if (![undefined, 'ordinary', 'refuse'].includes(task.outOfQuota)) {
        throw new TypeError(`outOfQuota is ${JSON.stringify(task.outOfQuota)}; allowed: ordinary, refuse`);
      }
      if (task.expedited) values.flags |= constants.TASK_EXPEDITED;
      if (task.outOfQuota === 'refuse') values.flags |= constants.TASK_REFUSE_OUT_OF_QUOTA;
      if (task.tags) {
        const { tags, tag_count } = this.#texts('tags', task.tags, room, text, Number);
        Object.assign(values, { tags, tag_count });
      }
      if (task.after) Object.assign(values, this.#texts('after', task.after, room, text, Number));
      if (task.conditions) Object.assign(values, this.#texts('conditions', task.conditions, room, text, Number));
      if (task.input !== undefined) {
        const input = bytesOf(task.input, 'input', { text, bytes });
        values.input = input.data;
        values.input_length = input.length;
      }
      memory.write('task', at, values);
      const out = room(4);
      this.#selene.check(c.selene_task_register(this.#handle, at, out));
      this.#wake();
      return dispositions.name(memory.get('i32', out));
    });
  }

  /** Cancels a task and what waits behind it; gives how many records. */
  cancel(id) {
    return this.#counted('selene_task_cancel', id);
  }

  cancelTag(tag) {
    return this.#counted('selene_task_cancel_tag', tag);
  }

  cancelAll() {
    const count = Number(this.#out('u64', 'selene_task_cancel_all'));
    this.#wake();
    return count;
  }

  #counted(call, name) {
    const { memory } = this.#selene;
    return memory.scope(({ room }) => {
      const out = room(8);
      this.#named(call, name, out);
      this.#wake();
      return Number(memory.get('u64', out));
    });
  }

  /** Says when a live task is due next, once, in place of the instant that was or will be computed. */
  setNext(id, next) {
    this.#named('selene_task_set_next', id, nanoseconds(next, 'next'));
  }

  /** Pauses a task and what waits behind it, or lets them go on; gives how many records. */
  pause(id) {
    return this.#counted('selene_task_pause', id);
  }

  resume(id) {
    return this.#counted('selene_task_resume', id);
  }

  pauseTag(tag) {
    return this.#counted('selene_task_pause_tag', tag);
  }

  resumeTag(tag) {
    return this.#counted('selene_task_resume_tag', tag);
  }

  /** Pauses kinds, everywhere or in a pool, until an instant, or until they are resumed. */
  pauseKinds(wanted, options = {}) {
    const { until = NEVER } = fields(options, PAUSE, ['pool'], 'pauseKinds');
    // The header's 0 resumes, so that instant is refused as any that is past.
    this.#setPause(wanted, options.pool, until === 0n ? -1n : until);
  }

  /** Lets kinds go on that were paused, everywhere or in a pool. */
  resumeKinds(wanted, options = {}) {
    fields(options, {}, ['pool'], 'resumeKinds');
    this.#setPause(wanted, options.pool, 0n);
  }

  #setPause(wanted, pool, until) {
    const { memory, c } = this.#selene;
    const set = bits(wanted, kinds, 'kinds');
    if (pool === '') throw new TypeError('pool: empty; a pool has a name');
    memory.scope(({ text }) => {
      // To the header no kind is both of a pool; without one it is refused.
      const { data, length } = text(set === 0 ? '' : pool ?? '');
      this.#selene.check(c.selene_scheduler_pause(this.#handle, set, data, length, until));
    });
    this.#wake();
  }

  /** The kinds that are paused: first everywhere, then by pool. */
  pauses() {
    const { memory, c } = this.#selene;
    const read = (list) => memory.readArray('pause', list.pauses, list.count).map((pause) => ({
      kinds: named(pause.kinds, kinds),
      pool: pause.pool || null,
      until: pause.until,
    }));
    return this.#owned('pauses', (out) => this.#selene.check(c.selene_pause_list(this.#handle, out)), read);
  }

  /** Defines a condition of the host's own, which tasks ask for by its name (`conditions`). */
  defineCondition(name) {
    this.#named('selene_condition_define', name);
  }

  /** Takes the definition back; it is then not satisfied. */
  undefineCondition(name) {
    this.#named('selene_condition_undefine', name);
  }

  /** Says whether a condition that is defined is satisfied; runs that lose it are stopped. */
  setCondition(name, satisfied) {
    this.#named('selene_condition_set', name, satisfied ? 1 : 0);
    this.#wake();
  }

  /** The conditions that are defined, or that a task asks for: `{ vpn: true, 'signed-in': null }`; null: not defined. */
  namedConditions() {
    const { memory, c } = this.#selene;
    const read = (names) => memory.readArray('text', names.ids, names.count);
    const list = (out) => this.#selene.check(c.selene_condition_list(this.#handle, out));
    const state = (name) => memory.scope(({ room }) => {
      const out = room(4);
      this.#named('selene_condition_get', name, out);
      const found = memory.get('i32', out);
      return found === constants.CONDITION_UNDEFINED ? null : found === constants.CONDITION_SATISFIED;
    });
    return Object.fromEntries(this.#owned('task_ids', list, read).map((name) => [name, state(name)]));
  }

  /** The names of those that a task asks for and that are not satisfied. */
  missingConditions(id) {
    const { memory } = this.#selene;
    const read = (names) => memory.readArray('text', names.ids, names.count);
    return this.#owned('task_ids', (out) => this.#named('selene_condition_missing', id, out), read);
  }

  /** At most so many runs of a group go on at a time; Infinity: no limit. */
  limitGroup(name, limit) {
    this.#named('selene_group_set_limit', name, limit === Infinity ? 0 : integer(limit, 'limit', 1));
    this.#wake();
  }

  /** Begins no more runs of a group, or lets them begin again. */
  pauseGroup(name) {
    this.#named('selene_group_pause', name);
  }

  resumeGroup(name) {
    this.#named('selene_group_resume', name);
    this.#wake();
  }

  /** A group, or undefined if nothing of it is set, no task of it waits and none runs. */
  group(name) {
    const { memory } = this.#selene;
    try {
      return memory.scope(({ struct }) => {
        const at = struct('group_info');
        this.#selene.memory.clear('group_info', at);
        this.#named('selene_group_get', name, at);
        const { limit, paused, running, waiting } = memory.read('group_info', at);
        return { limit: limit || Infinity, paused: paused !== 0, running: Number(running), waiting: Number(waiting) };
      });
    } catch (error) {
      if (error.code === 'NOT_FOUND') return undefined;
      throw error;
    }
  }

  /** The names of all groups. */
  groups() {
    const read = (names) => this.#selene.memory.readArray('text', names.ids, names.count);
    return this.#owned('task_ids', (out) => this.#selene.check(this.#selene.c.selene_group_list(this.#handle, out)), read);
  }

  /** Enqueues a failed task again. */
  retry(id) {
    this.#named('selene_task_retry', id);
    this.#wake();
  }

  /** Enqueues a failed task again, and all that failed because of it; gives how many. */
  retrySuccessors(id) {
    const count = this.#counted('selene_task_retry_successors', id);
    this.#wake();
    return count;
  }

  /** A task's record, or undefined if there is none. */
  get(id) {
    try {
      return this.#owned('task_info', (out) => this.#named('selene_task_get', id, 0n, out), taskInfo);
    } catch (error) {
      if (error.code === 'NOT_FOUND') return undefined;
      throw error;
    }
  }

  /** What the last success of a task left, as bytes; none if it left nothing. */
  output(id) {
    const { size, fields } = this.#selene.memory.layout('task_output');
    const read = (_, memory, at) => memory.bytesAt(memory.place(at, size) + fields.output.offset);
    return this.#owned('task_output', (out) => this.#named('selene_task_get_output', id, out), read);
  }

  /** The ids of all tasks, or of those with a tag, in a state, or both. */
  list(which = {}) {
    const { c, memory } = this.#selene;
    fields(which, {}, ['tag', 'state'], 'list');
    const { tag, state } = which;
    const read = (ids) => memory.readArray('text', ids.ids, ids.count);
    const inState = (number) => this.#owned('task_ids', (out) => this.#selene.check(c.selene_task_list_state(this.#handle, number, out)), read);
    const tagged = tag === undefined ? undefined : this.#owned('task_ids', (out) => this.#named('selene_task_list', tag, out), read);
    if (state === undefined) {
      return tagged ?? this.#owned('task_ids', (out) => this.#selene.check(c.selene_task_list(this.#handle, 0, 0n, out)), read);
    }
    const found = inState(states.number(state, 'state'));
    if (tagged === undefined) return found;
    const wanted = new Set(found);
    return tagged.filter((id) => wanted.has(id));
  }

  /** Reads what a function gives its caller, and frees it. */
  #owned(struct, call, read) {
    const { memory, c } = this.#selene;
    return memory.scope(({ room }) => {
      const out = room(8);
      call(out);
      const at = memory.get('ptr', out);
      try {
        return read(memory.read(struct, at), memory, at);
      } finally {
        c.selene_free(at);
      }
    });
  }

  /** Why a task does not run now, and its rank, score and estimate. */
  explain(id) {
    const { memory } = this.#selene;
    return memory.scope(({ struct }) => {
      const at = struct('explanation');
      this.#selene.memory.clear('explanation', at);
      this.#named('selene_task_explain', id, at);
      return explanation(memory.read('explanation', at), () => this.missingConditions(id));
    });
  }

  /** Where the time of a task went since it was last due, or registered. */
  waits(id) {
    return this.#owned('waits', (out) => this.#named('selene_task_waits', id, out), waits);
  }

  /** What such a window would pick now. */
  plan(window = {}) {
    const { c } = this.#selene;
    return this.#window(window, (at) =>
      this.#owned('plan', (out) => this.#selene.check(c.selene_cycle_plan(this.#handle, at, out)), plan),
    );
  }

  /** Begins a pulled cycle: take its runs with `next()`. */
  begin(window = {}) {
    const { c, memory } = this.#selene;
    return this.#window(window, (at) =>
      memory.scope(({ room }) => {
        const out = room(8);
        this.#selene.check(c.selene_cycle_begin(this.#handle, at, out));
        return new Cycle(this.#selene, memory.get('u64', out), this.#open);
      }),
    );
  }

  #window(window, use) {
    const { memory, c } = this.#selene;
    return memory.scope(({ struct, text }) => {
      const at = struct('window');
      this.#selene.memory.clear('window', at);
      const values = fields(window, WINDOW, ['task', 'strictFit', 'frozen'], 'window');
      values.flags =
        (window.strictFit ? constants.WINDOW_STRICT_FIT : 0) | (window.frozen ? constants.WINDOW_FROZEN : 0);
      if (window.task !== undefined) values.task = text(string(window.task, 'task'));
      memory.write('window', at, values);
      return use(at);
    });
  }

  /**
   * Runs a window with the handlers' functions, as many at a time as it has lanes, and gives its report by the deadline.
   * What a handler returns is the outcome: false for nothing new, anything else for new data; what it throws is its failure.
   * Once `signal` is aborted nothing more begins, and what runs has `grace` milliseconds.
   */
  async run({ signal, grace = 0, ...window } = {}) {
    nanoseconds(grace, 'grace');
    return this.#through(this.begin(window), signal, grace);
  }

  /** Works through a cycle. */
  async #through(cycle, signal, grace) {
    const bell = this.#bell();
    const stop = () => bell.ring();
    let isDrained = false;
    let report;
    try {
      signal?.addEventListener('abort', stop);
      for (;;) {
        if (signal?.aborted && !isDrained) {
          cycle.drain(grace);
          isDrained = true;
        }
        const step = cycle.next();
        if (step.done) break;
        if (step.run) this.#work(step.run).finally(() => bell.ring());
        else await this.#rest(bell, Cycle.wakeOf(cycle));
        if (this.#isConnection) for (const run of this.#open.runs.values()) void run.stopping;
      }
    } finally {
      signal?.removeEventListener('abort', stop);
      this.#open.bells.delete(bell);
      report = cycle.end();
    }
    return report;
  }

  /** Waits for a bell, at most until an instant: what another process does rings none, and `advance` rings it then. */
  async #rest(bell, until) {
    if (this.#isTold) {
      bell.until = until;
      await bell.wait();
      bell.until = NEVER;
    } else {
      const span = until >= NEVER ? Infinity : inMilliseconds(until - this.#present());
      await bell.wait(this.#isConnection ? Math.min(span, 250) : span);
    }
  }

  /** A bell that rings when something may have become eligible. */
  #bell() {
    const bell = new Bell();
    this.#open.bells.add(bell);
    return bell;
  }

  #wake() {
    for (const bell of this.#open.bells) bell.ring();
  }

  /**
   * Opens a window whenever something can run and the governor grants one, and works through it, until `signal` is
   * aborted; then what runs has `grace` milliseconds. `report(report)` is called after each window.
   */
  async runForever({ signal, grace = 0, report = () => {}, ...driver } = {}) {
    const { memory, c } = this.#selene;
    nanoseconds(grace, 'grace');
    const fd = memory.scope(({ struct, room }) => {
      const at = struct('driver');
      this.#selene.memory.clear('driver', at);
      const values = fields(driver, DRIVER, ['signal', 'grace', 'report', 'strictFit', 'together', 'frozen', 'ungoverned'], 'runForever');
      values.flags =
        (driver.strictFit ? constants.DRIVER_STRICT_FIT : 0) |
        (driver.together ? constants.DRIVER_TOGETHER : 0) |
        (driver.frozen ? constants.DRIVER_FROZEN : 0) |
        (driver.ungoverned ? constants.DRIVER_UNGOVERNED : 0);
      memory.write('driver', at, values);
      const out = room(4);
      this.#selene.check(c.selene_driver_open(this.#handle, at, out));
      return memory.get('i32', out);
    });
    const bell = this.#bell();
    const watch = memory.watch(fd, () => bell.ring());
    this.#watches.add(watch);
    const stop = () => bell.ring();
    signal?.addEventListener('abort', stop);
    const windows = new Map();
    let trouble;
    try {
      while (this.#handle !== 0n && !signal?.aborted && !trouble) {
        let cycle;
        let until;
        try {
          ({ cycle, until } = this.#step());
        } catch (error) {
          if (!this.#isAway(error) && !isOfStore(error)) throw error;
          await bell.wait(1_000);
          continue;
        }
        if (cycle) {
          const done = this.#through(cycle)
            .then(report)
            // What the store refuses is the scheduler's trouble, until it has room again.
            .catch((error) => { if (this.#handle !== 0n && !this.#isAway(error) && !isOfStore(error)) trouble ??= error; })
            .finally(() => { windows.delete(cycle); bell.ring(); });
          windows.set(cycle, done);
          continue;
        }
        watch.arm();
        if (this.#isConnection) await bell.wait(60_000);
        else await this.#rest(bell, until);
      }
    } finally {
      signal?.removeEventListener('abort', stop);
      this.#open.bells.delete(bell);
      this.#unwatch(watch);
      if (this.#handle !== 0n) {
        try {
          this.#selene.check(c.selene_driver_stop(this.#handle, 0n));
          for (const cycle of windows.keys()) cycle.drain(grace);
        } catch (error) {
          if (!this.#isAway(error)) throw error;
        }
        this.#wake();
      }
      await Promise.all(windows.values());
    }
    if (trouble) throw trouble;
  }

  /** Nobody serves the store now, or the owner that gave a window has ended: a driver goes on with the next one. */
  #isAway(error) {
    return this.#isConnection && this.#handle !== 0n && ['OWNER_AWAY', 'INVALID_HANDLE'].includes(error.code);
  }

  #unwatch(watch) {
    if (this.#watches.delete(watch)) watch.close();
  }

  /** What a driver does now: a window to work through, or until when it waits. */
  #step() {
    const { memory, c } = this.#selene;
    return memory.scope(({ room }) => {
      const [cycle, wake] = [room(8), room(8)];
      this.#selene.check(c.selene_driver_step(this.#handle, cycle, wake));
      const handle = memory.get('u64', cycle);
      if (handle === 0n) return { until: memory.get('u64', wake) };
      return { cycle: new Cycle(this.#selene, handle, this.#open) };
    });
  }

  async #work(run) {
    this.#open.works.add(run);
    // After this turn, so that a handler that does not wait keeps no other from beginning.
    await null;
    let give;
    try {
      const work = this.#handlers.get(run.handler);
      if (!work) throw new Error(`the handler ${run.handler} has no function`);
      const result = await work(run);
      give = () => run.complete(result === false ? 'no_data' : 'new_data');
    } catch (error) {
      give = () => run.fail(textOf(error));
    }
    try {
      run.settle(give);
    } finally {
      this.#open.works.delete(run);
    }
  }

  /** When a window is worth opening next, in scheduler time; Infinity if never. */
  nextWakeup() {
    return this.#out('i64', 'selene_scheduler_next_wakeup');
  }

  /**
   * Waits until a window is worth opening. Calls that change something, such as setConditions and register, end the wait early
   * when they make one worth opening. True; false if the scheduler was closed, or `signal` aborted.
   */
  async untilWakeup({ signal } = {}) {
    const bell = this.#bell();
    const stop = () => bell.ring();
    signal?.addEventListener('abort', stop);
    try {
      while (this.#handle !== 0n && !signal?.aborted) {
        const at = this.#out('u64', 'selene_scheduler_next_wakeup');
        if (at <= this.#present()) return true;
        await this.#rest(bell, at);
      }
      return false;
    } finally {
      signal?.removeEventListener('abort', stop);
      this.#open.bells.delete(bell);
    }
  }

  /** Says which constraints are satisfied: `{ network: false }`; null gives one back to the system, where all are. */
  setConditions(given) {
    const { c } = this.#selene;
    const all = { ...this.#conditions, ...object(given, 'conditions') };
    let [set, satisfied] = [0, 0];
    for (const [name, value] of Object.entries(all)) {
      if (value === null || value === undefined) {
        constraintNames.number(name, 'conditions');
        continue;
      }
      const bit = constraintNames.number(name, 'conditions');
      set |= bit;
      if (value) satisfied |= bit;
    }
    this.#selene.check(c.selene_conditions_set(this.#handle, set, satisfied));
    this.#conditions = all;
    this.#wake();
  }

  /** Says what the governor asks for from now on, before runForever opens a window: "open", "apple", "server", "strict". */
  setProfile(profile) {
    const { memory, c } = this.#selene;
    memory.scope(({ struct }) => {
      const at = struct('profile');
      this.#selene.memory.clear('profile', at);
      memory.write('profile', at, { base: profiles.number(profile, 'profile') });
      this.#selene.check(c.selene_governor_set_profile(this.#handle, at));
    });
    this.#wake();
  }

  /** Sets a signal in place of what the system says, until it is cleared, or for so many milliseconds. */
  setSignal(signal, value, validFor = 0) {
    const number = BigInt(integer(value, 'value', Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER));
    const span = nanoseconds(validFor, 'validFor');
    this.#selene.check(this.#selene.c.selene_signal_set(this.#handle, signals.number(signal, 'signal'), number, span));
    this.#wake();
  }

  /** Takes that back. */
  clearSignal(signal) {
    this.#selene.check(this.#selene.c.selene_signal_clear(this.#handle, signals.number(signal, 'signal')));
    this.#wake();
  }

  /** Whether a kind deserves a window now, and why. */
  ask(kind) {
    const { c } = this.#selene;
    const number = kinds.number(kind, 'kind');
    const call = (out) => this.#selene.check(c.selene_governor_ask(this.#handle, number, 0, out));
    return this.#owned('decision', call, decision);
  }

  /** Switches these kinds on, and all others off. */
  enable(wanted) {
    this.#selene.check(this.#selene.c.selene_scheduler_enable(this.#handle, bits(wanted, kinds, 'kinds')));
    this.#wake();
  }

  /** Calls `observer(event)` for each change from now on; null: no longer. */
  observe(observer) {
    const { c, callbacks, memory } = this.#selene;
    if (!observer) {
      this.#selene.check(c.selene_scheduler_observe(this.#handle, 0, 0, 0));
      return;
    }
    const context = this.#selene.lend({ tell: (at) => observer(event(memory.read('event', at))) });
    this.#selene.check(c.selene_scheduler_observe(this.#handle, callbacks.event, context, callbacks.destroy));
  }

  /** All tasks and what was learnt of them, as the bytes of a store: what `open({ state })` takes, and a path elsewhere. */
  exportState() {
    if (this.#state === undefined) throw new TypeError('exportState: the scheduler was opened without a state');
    const copy = `${this.#state}-copy`;
    this.#named('selene_store_backup', copy);
    return this.#selene.memory.takeState(copy);
  }

  /**
   * Closes it; runs in flight are stopped. A closed scheduler refuses every call. Returns its tasks as exportState does, without
   * a run that was cut off, if it was opened with a state.
   */
  close() {
    if (this.#handle === 0n) return undefined;
    const handle = this.#handle;
    this.#handle = 0n;
    // Closing takes their descriptors away; where it is refused, they are armed again.
    for (const watch of this.#watches) watch.disarm();
    try {
      this.#selene.check(this.#selene.c.selene_scheduler_close(handle, 0n));
      const state = this.#state === undefined ? undefined : this.#selene.memory.takeState(this.#state);
      this.#dropState();
      for (const watch of this.#watches) this.#unwatch(watch);
      return state;
    } catch (error) {
      this.#handle = handle;
      throw error;
    } finally {
      this.#wake();
    }
  }

  [Symbol.dispose ?? Symbol.for('Symbol.dispose')]() {
    this.close();
  }

  /** C's stop function. */
  stopRun(token, reason) {
    const run = this.#open.runs.get(token);
    if (run) run.stopped(stops.name(reason));
    else this.#open.stops.set(token, stops.name(reason));
    for (const sleep of this.#open.sleeps) if (sleep.token === token) sleep.bell.ring();
  }
}

/** A window that is open. */
export class Cycle {
  #selene;
  #handle;
  #open;
  #hasEnded = false;
  #wakeAt = NEVER;

  constructor(selene, handle, open) {
    this.#selene = selene;
    this.#handle = handle;
    this.#open = open;
    if (open.cycles === 0) open.stops.clear();
    open.cycles += 1;
  }

  /** `{ run }`: work on it and give its outcome; `{ until }`: ask again after an outcome, or then; `{ done: true }`. */
  next() {
    const { memory } = this.#selene;
    return memory.inRoom((room) => {
      const found = memory.pull(this.#handle, room);
      if (typeof found === 'string') return { run: new Run(this.#selene, found, room, this.#open, this.#handle) };
      this.#selene.check(found);
      const place = memory.placeOf(room) + memory.layout('run_info').size;
      if (memory.view.getInt32(place, true) === constants.STEP_DONE) return { done: true };
      this.#wakeAt = memory.view.getBigUint64(place + 8, true);
      return { until: milliseconds(memory.view, place + 8) };
    });
  }

  /** When it has to be asked again at the latest, in nanoseconds, where `next` said so. */
  static wakeOf(cycle) {
    return cycle.#wakeAt;
  }

  /** Dispatches nothing more; what runs has so many milliseconds. */
  drain(grace = 0) {
    this.#selene.check(this.#selene.c.selene_cycle_drain(this.#handle, nanoseconds(grace, 'grace')));
  }

  /** Ends the window; runs that are open are over, counted as failed. */
  end() {
    const { memory, c } = this.#selene;
    return memory.scope(({ room }) => {
      const out = room(8);
      const status = c.selene_cycle_end(this.#handle, out);
      if (status === 0 || status === constants.ERROR_INVALID_HANDLE) this.#over();
      this.#selene.check(status);
      const at = memory.get('ptr', out);
      try {
        return report(memory.read('report', at), memory);
      } finally {
        c.selene_free(at);
      }
    });
  }

  /** Ends it without a report, if that was not done. */
  close() {
    if (this.#hasEnded) return;
    const status = this.#selene.c.selene_cycle_end(this.#handle, 0);
    // It may have ended by itself, or with its scheduler.
    if (status !== constants.ERROR_INVALID_HANDLE) this.#selene.check(status);
    this.#over();
  }

  [Symbol.dispose ?? Symbol.for('Symbol.dispose')]() {
    this.close();
  }

  #over() {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#open.cycles -= 1;
    for (const run of this.#open.runs.values()) run.over(this.#handle);
    for (const { bell } of this.#open.sleeps) bell.ring();
  }
}

/** One dispatch of one task. */
export class Run {
  #selene;
  #open;
  #token;
  #cycle;
  #reason;
  #controller;
  #isOver = false;

  constructor(selene, id, room, open, cycle) {
    const { memory } = selene;
    const place = memory.placeOf(room);
    const { view } = memory;
    const { fields } = memory.layout('run_info');
    this.#selene = selene;
    this.#open = open;
    this.#token = view.getBigUint64(place + fields.run.offset, true);
    this.#cycle = cycle;
    this.id = id;
    this.kind = kinds.name(view.getInt32(place + fields.kind.offset, true));
    this.priority = view.getInt32(place + fields.priority.offset, true);
    this.attempt = view.getUint32(place + fields.attempt.offset, true);
    this.score = view.getFloat64(place + fields.score.offset, true);
    this.estimate = milliseconds(view, place + fields.estimate.offset);
    this.startedAt = milliseconds(view, place + fields.started_at.offset);
    this.expiresAt = milliseconds(view, place + fields.expires_at.offset);
    this.deadline = milliseconds(view, place + fields.deadline.offset);
    this.handler = memory.handlerName(place);
    /** The task's input, as bytes. */
    this.input = memory.bytesAt(place + fields.input.offset);
  }

  /** Aborted with a RunStopped when the run is asked to stop. */
  get signal() {
    if (!this.#controller) {
      this.#controller = new AbortController();
      this.#reason ??= this.#open.stops.get(this.#token);
      if (this.#reason) this.#controller.abort(new RunStopped(this.#reason));
      else if (!this.#isOver) this.#open.runs.set(this.#token, this);
    }
    return this.#controller.signal;
  }

  stopped(reason) {
    this.#reason = reason;
    this.#controller?.abort(new RunStopped(reason));
  }

  /** Why it should stop, or null; of one that is over why it was asked to, or "shutdown". */
  get stopping() {
    const { memory, c } = this.#selene;
    return memory.scope(({ room }) => {
      const out = room(4);
      const status = c.selene_run_stopping(this.#token, out);
      if (OVER.includes(status)) return this.#reason ?? this.#open.stops.get(this.#token) ?? 'shutdown';
      this.#selene.check(status);
      const reason = memory.get('i32', out);
      if (reason === constants.STOP_NONE) return null;
      // Of a connection nobody else tells it.
      if (this.#controller && !this.#reason) this.stopped(stops.name(reason));
      return stops.name(reason);
    });
  }

  /** Waits until so much scheduler time has passed, or it should stop; whether it waited for all of it. */
  async sleep(span) {
    return this.#open.sleep(this, this.#token, nanoseconds(span, 'span'));
  }

  /** Whether it has no outcome yet, and is not over. */
  static isOpen(run) {
    const { memory, c } = run.#selene;
    return memory.scope(({ room }) => !OVER.includes(c.selene_run_stopping(run.#token, room(4))));
  }

  /** Its cycle has ended: C tells nothing more of it. */
  over(cycle) {
    if (cycle === this.#cycle) this.#leave();
  }

  #leave() {
    this.#isOver = true;
    if (this.#controller) this.#open.runs.delete(this.#token);
    if (this.#open.stops.size) {
      this.#reason ??= this.#open.stops.get(this.#token);
      this.#open.stops.delete(this.#token);
    }
  }

  /** Gives the outcome: "new_data", "no_data", "failed" or "abandoned". */
  complete(outcome = 'new_data') {
    this.#give(this.#selene.c.selene_run_complete(this.#token, outcomes.number(outcome, 'outcome')));
  }

  /** Tells how far it has come: how much is done of how much (0: unknown), and a text. */
  progress(done, total = 0, words = '') {
    this.#selene.memory.scope(({ text }) => {
      const said = text(words);
      const [far, all] = [[done, 'done'], [total, 'total']].map(([value, field]) =>
        BigInt(integer(value, field, 0, Number.MAX_SAFE_INTEGER)));
      this.#selene.check(this.#selene.c.selene_run_progress(this.#token, far, all, said.data, said.length));
    });
  }

  /** Says what it leaves if it succeeds: bytes, or a string. */
  setOutput(output) {
    this.#selene.memory.scope(({ text, bytes }) => {
      const { data, length } = bytesOf(output, 'output', { text, bytes });
      this.#selene.check(this.#selene.c.selene_run_set_output(this.#token, data, length));
    });
  }

  /** Fails, and says why. `delay`: until it is tried again; `abandon`: never again. */
  fail(message = '', { delay, abandon = false } = {}) {
    this.#selene.memory.scope(({ text }) => {
      const said = text(message);
      const outcome = outcomes.number(abandon ? 'abandoned' : 'failed');
      const wait = delay === undefined ? -1n : nanoseconds(delay, 'delay');
      this.#give(this.#selene.c.selene_run_fail(this.#token, outcome, wait, said.data, said.length));
    });
  }

  #give(status) {
    if (status !== constants.ERROR_INVALID_ARGUMENT) this.#leave();
    this.#selene.check(status);
    if (this.#open.bells.size) for (const bell of this.#open.bells) bell.ring();
  }

  /** Gives an outcome that comes too late without a word: the run was stopped, is over, or has its outcome. */
  settle(give) {
    try {
      give();
    } catch (error) {
      // What an owner that is away did not take is given to the next one.
      if (!['STALE_RUN', 'ALREADY_COMPLETED', 'INVALID_HANDLE', 'OWNER_AWAY'].includes(error.code)) throw error;
    }
  }
}

/** What the calls of a run answer that is over. */
const OVER = [constants.ERROR_STALE_RUN, constants.ERROR_ALREADY_COMPLETED, constants.ERROR_INVALID_HANDLE];

/** What a handler threw, which may be anything, as the text of a failure, which has no NUL. */
/** The disk or the quota is full, or does not take what is written. */
function isOfStore(error) {
  return ['STORE_FULL', 'STORE_IO'].includes(error.code);
}

function textOf(thrown) {
  let text;
  try {
    text = thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : String(thrown);
  } catch {
    text = 'something was thrown that is not a text';
  }
  return text.replaceAll('\0', '\ufffd');
}

// ---- What structs look like to JavaScript ----

function taskInfo(info, memory) {
  const after = memory.readArray('text', info.after, info.after_count);
  return {
    id: info.id,
    handler: info.handler,
    tags: memory.readArray('text', info.tags, info.tag_count),
    after,
    waitsFor: after.filter((_, place) => info.waits_for >> place & 1),
    conditions: memory.readArray('text', info.conditions, info.condition_count),
    group: info.group,
    kind: kinds.name(info.kind),
    schedule: schedules.name(info.schedule),
    priority: info.priority,
    requires: named(info.constraints, constraintNames),
    state: states.name(info.state),
    attempts: info.attempts,
    lastOutcome: info.last_outcome < 0 ? null : outcomes.name(info.last_outcome),
    stopReason: info.stop_reason === constants.STOP_NONE ? null : stops.name(info.stop_reason),
    progress: info.progress_at === 0 ? null : {
      at: info.progress_at,
      done: whole(info.progress_done),
      total: whole(info.progress_total),
      text: info.progress_text,
    },
    generation: info.generation,
    appended: Number(info.appended),
    expected: info.expected_response < 0 ? null : info.expected_response,
    every: info.period,
    registeredAt: info.registered_at,
    earliestBegin: info.earliest_begin,
    lastRun: info.last_run,
    estimate: info.estimate,
    responseTimes: info.response_times.slice(0, Number(info.response_time_count)),
    failure: info.failure,
    failedAt: info.failed_at === 0 ? null : info.failed_at,
  };
}

function explanation(found, missingConditions) {
  return {
    state: states.name(found.state),
    reasons: found.reasons.slice(0, found.reason_count).map((one) => ({
      reason: reasons.name(one.reason),
      missing: one.reason === constants.REASON_CONDITIONS ? missingConditions() : named(one.constraints, constraintNames),
      mayChangeAt: one.may_change_at,
    })),
    rank: Number(found.rank),
    eligible: Number(found.eligible),
    score: found.score,
    estimate: found.estimate,
    // −1 ns before the first window of its kind.
    lastRoom: found.last_room < 0 ? null : found.last_room,
    latestBegin: found.latest_begin === 0 ? null : found.latest_begin,
    urgent: found.urgent !== 0,
    expedited: found.expedited !== 0,
    attempts: found.attempts,
    freshSince: found.fresh_since,
    cost: found.cost,
    knownRuns: found.known_runs,
    newsRuns: found.news_runs,
    pace: Number(found.pace) / 1000,
  };
}

function waits(found, memory) {
  return {
    state: states.name(found.state),
    since: found.since,
    until: found.until,
    parts: memory.readArray('wait', found.parts, found.part_count).map((part) => ({
      reason: reasons.name(part.reason),
      detail: whole(part.detail),
      duration: part.duration,
      times: Number(part.times),
      name: part.name,
    })),
    changes: memory.readArray('wait_change', found.changes, found.change_count).map((change) => ({
      at: change.at,
      reason: reasons.name(change.reason),
      detail: whole(change.detail),
      name: change.name,
    })),
    preferred: Number(found.preferred_count),
    preferredIds: memory.readArray('text', found.preferred_ids, found.preferred_id_count),
  };
}

function plan(found, memory) {
  return {
    eligible: Number(found.eligible),
    runs: memory.readArray('plan_run', found.runs, found.run_count).map((run) => ({
      id: run.id,
      score: run.score,
      estimate: run.estimate,
      startsAt: run.starts_at,
    })),
  };
}

function report(found, memory) {
  const counted = ['eligible', 'did_not_fit', 'new_data', 'no_data', 'failed', 'abandoned', 'expired', 'stopped'];
  const camel = (key) => key.replace(/_([a-z])/g, (_, letter) => letter.toUpperCase());
  return {
    result: outcomes.name(found.result),
    beganAt: found.began_at,
    endedAt: found.ended_at,
    deadline: found.deadline,
    budget: found.budget,
    reserve: found.reserve,
    ...Object.fromEntries(counted.map((key) => [camel(key), Number(found[key])])),
    runs: reportRuns(found, memory),
  };
}

/** There may be many, so their fields are read one by one, without an object between. */
function reportRuns({ runs, run_count: count }, memory) {
  const { size, fields } = memory.layout('report_run');
  const length = Number(count);
  const ids = memory.texts(runs, size, fields.id.offset, length);
  const first = memory.place(runs, size * length);
  const { view } = memory;
  return ids.map((id, index) => {
    const place = first + index * size;
    const stop = view.getInt32(place + fields.stop_reason.offset, true);
    return {
      id,
      outcome: outcomes.name(view.getInt32(place + fields.outcome.offset, true)),
      stopReason: stop === 0 ? null : stops.name(stop),
      attempt: view.getUint32(place + fields.attempt.offset, true),
      priority: view.getInt32(place + fields.priority.offset, true),
      score: view.getFloat64(place + fields.score.offset, true),
      estimate: milliseconds(view, place + fields.estimate.offset),
      startedAt: milliseconds(view, place + fields.started_at.offset),
      responseTime: milliseconds(view, place + fields.response_time.offset),
    };
  });
}

function decision(found, memory) {
  return {
    granted: found.granted !== 0,
    at: found.at,
    longestWindow: found.longest_window,
    askAgainAt: found.ask_again_at,
    findings: memory.readArray('finding', found.findings, found.finding_count).map((one) => ({
      factor: factors.name(one.factor),
      refuses: one.verdict === constants.VERDICT_VETOED,
      observed: whole(one.observed),
      required: whole(one.required),
      clearsAt: one.clears_at,
    })),
  };
}

function event(found) {
  return {
    number: Number(found.number),
    type: events.name(found.type),
    state: found.state < 0 ? null : states.name(found.state),
    time: found.time,
    id: found.id,
    detail: found.detail,
    attempts: found.attempts,
    timeAt: found.time_at,
    kinds: named(found.kinds, kinds),
    message: found.message,
  };
}

// What the players of the packages for JavaScript have in common: a command of Tests/conformance becomes calls.

import { createInterface } from 'node:readline';
import { constants } from '../interface.mjs';

const encode = (text) => [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
const number = (prefix, name) => constants[`${prefix}_${name.toUpperCase()}`];
const names = (prefix) =>
  Object.fromEntries(Object.entries(constants).filter(([key]) => key.startsWith(`${prefix}_`))
    .map(([key, value]) => [value, key.slice(prefix.length + 1).toLowerCase()]));
const set = (bits, prefix) =>
  Array.from({ length: 31 }, (_, place) => 1 << place).filter((bit) => bits & bit).map((bit) => names(prefix)[bit] ?? `${bit}`);
const CONSTRAINTS = [
  'network', 'external_power', 'unmetered', 'battery_not_low', 'idle', 'storage_not_low', 'display_off', 'not_roaming',
];
const conditions = (bits) => Object.fromEntries(CONSTRAINTS.map((name, bit) => [name, (bits >> bit & 1) !== 0]));

// The package has milliseconds; instants are whole microseconds here.
const span = (ns) => Number(ns) / 1e6;
const spanOut = (ms) => String(Math.round(ms * 1e6));
const instant = (ms) => (ms === Infinity ? 'never' : String(BigInt(Math.round(ms * 1e3)) * 1000n));

const list = (text) => text.split(',').filter(Boolean).map(decodeURIComponent);
const enumerated = (prefix) => (text) => names(prefix)[text] ?? text;
const OPTIONS = {
  path: ['path', decodeURIComponent],
  hold: ['hold', (text) => text === '1'],
  observed_range: ['observedRange', (text) => text === '1'],
  permitted: ['permitted', list],
  max_pending_refresh: ['maxPendingRefresh', unlimited],
  max_pending_processing: ['maxPendingProcessing', unlimited],
  minimum_interval_refresh: ['minimumIntervalRefresh', span],
  expedited_quota: ['expeditedQuota', span],
  seed: ['seed', BigInt],
};
const TASK = {
  id: ['id', decodeURIComponent],
  handler: ['handler', decodeURIComponent],
  kind: ['kind', enumerated('KIND')],
  schedule: ['schedule', enumerated('SCHEDULE')],
  priority: ['priority', Number],
  existing: ['existing', enumerated('EXISTING')],
  recurrence: ['recurrence', enumerated('RECURRENCE')],
  backoff: ['backoff', enumerated('BACKOFF')],
  backoff_delay: ['backoffDelay', span],
  response_window: ['responseWindow', Number],
  max_attempts: ['maxAttempts', Number],
  constraints: ['requires', (bits) => set(Number(bits), 'CONSTRAINT')],
  tags: ['tags', list],
  conditions: ['conditions', list],
  after: ['after', list],
  expected_response: ['expected', span],
  initial_delay: ['delay', span],
  period: ['every', span],
  flex: ['flex', span],
  timeout: ['timeout', span],
  stall_limit: ['stallLimit', span],
  jitter: ['jitter', Number],
  group: ['group', decodeURIComponent],
  latest_begin: ['latestBegin', span],
  input_size: ['input', (size) => new Uint8Array(Number(size))],
};
const WINDOW = {
  budget: ['budget', span],
  reserve: ['reserve', span],
  kinds: ['kinds', (bits) => set(Number(bits), 'KIND')],
  strict: ['strictFit', (text) => text === '1'],
  frozen: ['frozen', (text) => text === '1'],
};

function unlimited(text) {
  return Number(text) === 0xffff_ffff ? Infinity : Number(text);
}

/** The fields of a command, as the package has them. */
function given(fields, table) {
  return Object.fromEntries(Object.entries(fields).map(([key, text]) => [table[key][0], table[key][1](text)]));
}

const UNSUPPORTED = Symbol('UNSUPPORTED');

let host;
let now = 0;
let scheduler;
let cycle;
let run;
let heard = [];

/** The handler of a case of ends. */
class Work {
  constructor(answer) {
    this.answer = answer;
    this.begun = new Promise((resolve) => { this.begin = resolve; });
    this.released = new Promise((resolve) => { this.release = resolve; });
  }

  async run(run) {
    this.begin();
    if (this.answer === 'deaf' || this.answer === 'completes') return this.released;
    const { signal } = run;
    await new Promise((resolve) => { signal.addEventListener('abort', resolve); });
    if (this.answer === 'obeys') throw signal.reason;
    if (this.answer === 'fails') throw new Error('it was asked to stop');
  }
}

const verbs = {
  async ends(way, { answer, grace, path }) {
    if (way === 'wait' || (way === 'close' && grace !== '0')) return UNSUPPORTED;
    const own = host.open({ path: decodeURIComponent(path) });
    const work = new Work(answer);
    const stop = new AbortController();
    own.handler('work', (run) => work.run(run));
    const running = host.drive(own, { signal: stop.signal, grace: span(grace) });
    if (answer !== 'idle') await work.begun;
    if (way === 'exit') host.exit();
    if (way === 'close') host.close(own);
    else stop.abort();
    if (answer === 'completes') work.release();
    await running;
    work.release();
    host.close(own);
  },
  unknown(what) {
    if (what === 'option') host.open({ maxPendin: 3 });
    const unknown = { constraint: { requires: ['netwrk'] }, kind: { kind: 'refreshing' }, field: { prioriti: 3 } };
    scheduler.register({ id: 'b', handler: 'work', ...unknown[what] });
  },
  clock(ns) {
    now = Number(BigInt(ns) / 1000n) / 1e3;
  },
  open(_, fields) {
    if (scheduler) host.close(scheduler);
    scheduler = host.open({ maxPendingRefresh: 1, maxPendingProcessing: 10, ...given(fields, OPTIONS), clock: () => now });
    scheduler.setConditions(conditions(255));
    heard = [];
    scheduler.observe(({ type, id }) => heard.push(`${number('EVENT', type)}:${encode(id)}`));
  },
  close: () => host.close(scheduler),
  handler: (name) => scheduler.handler(name),
  conditions: (bits) => scheduler.setConditions(conditions(Number(bits))),
  enable: (bits) => scheduler.enable(set(Number(bits), 'KIND')),
  register: (_, { flags = '0', ...fields }) => {
    const bits = Number(flags);
    const outOfQuota = bits & 8 ? 'refuse' : 'ordinary';
    const flagged = { afterAnyEnd: (bits & 2) > 0, expedited: (bits & 4) > 0, outOfQuota };
    return number('DISPOSITION', scheduler.register({ ...given(fields, TASK), ...flagged }));
  },
  cancel: (id) => scheduler.cancel(id),
  cancel_tag: (tag) => scheduler.cancelTag(tag),
  cancel_all: () => scheduler.cancelAll(),
  pause: (id) => scheduler.pause(id),
  define: (name) => scheduler.defineCondition(name),
  undefine: (name) => scheduler.undefineCondition(name),
  meet: (name) => scheduler.setCondition(name, true),
  lose: (name) => scheduler.setCondition(name, false),
  pause_group: (name) => scheduler.pauseGroup(name),
  resume_group: (name) => scheduler.resumeGroup(name),
  limit_group: (name, { limit }) => scheduler.limitGroup(name, Number(limit) || Infinity),
  pause_tag: (tag) => scheduler.pauseTag(tag),
  resume: (id) => scheduler.resume(id),
  resume_tag: (tag) => scheduler.resumeTag(tag),
  retry: (id) => scheduler.retry(id),
  info(id) {
    const info = scheduler.get(id);
    // The package has no error for it.
    if (!info) throw Object.assign(new Error('no such task'), { code: 'NOT_FOUND' });
    return [
      number('STATE', info.state), info.attempts, instant(info.earliestBegin), instant(info.lastRun), spanOut(info.estimate),
      info.generation, info.appended, info.responseTimes.length, encode(info.failure || '-'),
    ];
  },
  waits(id) {
    const { parts, preferredIds } = scheduler.waits(id);
    return [
      ...parts.flatMap(({ reason, detail, duration, times }) => [reason, detail, spanOut(duration), times]),
      'preferred',
      ...preferredIds.map(encode),
    ];
  },
  left: (id) => [
    number('STOP', scheduler.get(id).stopReason ?? 'none'),
    `=${encode(new TextDecoder().decode(scheduler.output(id)))}`,
  ],
  set_next: (id, { at }) => scheduler.setNext(id, span(at)),
  output: (text) => run.setOutput(text),
  progress: (done, { total }) => run.progress(Number(done), Number(total)),
  wakeup: () => instant(scheduler.nextWakeup()),
  plan: (_, fields) => scheduler.plan(given(fields, WINDOW)).runs.map(({ id }) => encode(id)),
  begin(_, fields) {
    cycle = scheduler.begin(given(fields, WINDOW));
  },
  next() {
    const step = cycle.next();
    if (!step.run) return step.done ? 'done' : 'wait';
    run = step.run;
    return ['run', encode(run.id), run.score, spanOut(run.estimate), run.attempt];
  },
  complete: (outcome) => run.complete(names('OUTCOME')[outcome]),
  fail: (message) => run.fail(message),
  stopping: () => number('STOP', run.stopping ?? 'none'),
  end() {
    const report = cycle.end();
    return [
      number('OUTCOME', report.result), instant(report.endedAt), report.eligible,
      ...report.runs.map(({ outcome }) => number('OUTCOME', outcome)),
    ];
  },
  events() {
    const told = heard;
    heard = [];
    return told;
  },
  exit: () => host.exit(),
};

/**
 * Answers the commands of standard input. Of a package: `SeleneError`, `open(options)`, `close(scheduler)`,
 * `drive(scheduler, { signal, grace })`, which runs handlers until the signal is aborted, and `exit()`, which ends the program.
 */
export async function play(binding) {
  host = binding;
  for await (const line of createInterface({ input: process.stdin })) {
    const [verb, ...words] = line.split(' ');
    const fields = Object.fromEntries(words.filter((word) => word.includes('=')).map((word) => word.split('=')));
    let answer;
    try {
      const said = await verbs[verb](decodeURIComponent(words.find((word) => !word.includes('=')) ?? ''), fields);
      if (said === UNSUPPORTED) answer = ['error', 'UNSUPPORTED', 'the package has no such end'];
      else answer = ['ok', ...(said === undefined ? [] : [said].flat())];
    } catch (error) {
      const code = error instanceof TypeError || error instanceof RangeError ? 'INVALID_ARGUMENT' : error.code;
      if (!(error instanceof host.SeleneError) && code !== 'INVALID_ARGUMENT' && code !== 'NOT_FOUND') throw error;
      answer = ['error', code, error.message];
    }
    process.stdout.write(`${answer.join(' ')}\n`);
  }
}

// The package as its users call it.

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { tests, virtual } from '../../wasm/test/scheduler.mjs';

const address = new URL('../../../build/node/package/selene.mjs', import.meta.url);
const selene = await import(address);
const { connect, open } = selene;
tests(selene);

/** The path of a store that goes with the test. */
function store(context) {
  const folder = mkdtempSync(join(tmpdir(), 'selene-'));
  context.after(() => rmSync(folder, { recursive: true }));
  return join(folder, 'store');
}

/** What a promise waits for, to be told from outside. */
function gate() {
  let pass;
  const passed = new Promise((resolve) => { pass = resolve; });
  return { pass, passed };
}

/** A program of its own. */
function program(text, ...options) {
  const said = spawnSync(process.execPath, [...options, '--input-type=module', '-e', `import { open, SeleneError } from '${address}';\n${text}`], { encoding: 'utf8' });
  return { code: said.status, out: said.stdout, error: said.stderr };
}

test('a store is closed and opened again, and has what a run left behind', (context) => {
  const path = store(context);
  const first = open({ path, owner: 'test' });
  first.handler('upload');
  first.register({ id: 'upload', schedule: 'once', input: 'photo', backoff: 'none' });
  assert.throws(() => open({ path }), { code: 'STORE_LOCKED' });
  const cycle = first.begin();
  cycle.next().run.fail('the server is away', { delay: 0 });
  cycle.end();
  first.close();
  assert.throws(() => open({ path, owner: 'another' }), { code: 'STORE_FOREIGN' });
  const second = open({ path, owner: 'test' });
  assert.equal(second.get('upload').failure, 'the server is away');
  second.handler('upload');
  const { run } = second.begin().next();
  assert.deepEqual([run.attempt, Buffer.from(run.input).toString()], [2, 'photo']);
  second.close();
  assert.throws(() => run.complete(), { name: 'SeleneError' });
});

test('runForever works on what is registered while it waits, and the loop of node goes on', async () => {
  const scheduler = open();
  const [first, second] = [gate(), gate()];
  scheduler.handler('first', first.pass);
  scheduler.handler('second', second.pass);
  const stop = new AbortController();
  const reports = [];
  const done = scheduler.runForever({ signal: stop.signal, ungoverned: true, report: (report) => reports.push(report) });
  await new Promise(setImmediate);
  scheduler.register({ id: 'first', schedule: 'once' });
  await first.passed;
  setTimeout(() => scheduler.register({ id: 'second', schedule: 'once', kind: 'processing', delay: 1 }), 1);
  await second.passed;
  stop.abort();
  await done;
  assert.deepEqual(reports.flatMap((report) => report.runs.map((run) => run.id)).sort(), ['first', 'second']);
  await scheduler.runForever({ signal: stop.signal });
  scheduler.close();
});

test("a week of nights passes for runForever on a clock of a test, and handlers that read files are waited for", { timeout: 60_000 }, async () => {
  const [midnight, hour, day] = [Date.UTC(2026, 0, 1), 3_600_000, 86_400_000];
  const scheduler = open({ clock: midnight });
  const [nights, reports] = [[], []];
  scheduler.handler('backup', async (run) => {
    // As from a calendar: the next night, whatever this one takes.
    scheduler.setNext('backup', run.startedAt + day);
    await readFile(new URL(import.meta.url));
    await run.sleep(4_000);
    await readFile(new URL(import.meta.url));
    nights.push([run.startedAt, scheduler.now]);
  });
  scheduler.register({ id: 'backup', every: day, delay: 3 * hour });
  const stop = new AbortController();
  const done = scheduler.runForever({ signal: stop.signal, report: (report) => reports.push(report.newData) });
  assert.equal(await scheduler.advance(midnight), midnight + 3 * hour);
  assert.equal(await scheduler.advance(midnight + 7 * day), midnight + 7 * day + 3 * hour);
  const begins = Array.from({ length: 7 }, (_, night) => midnight + 3 * hour + night * day);
  assert.deepEqual(nights, begins.map((at) => [at, at + 4_000]));
  assert.deepEqual(reports, Array(7).fill(1));
  stop.abort();
  await done;
  scheduler.close();
});

test('runForever works on both kinds at once, as many runs at a time as they have lanes', async () => {
  const scheduler = open();
  const [all, go, stop] = [gate(), gate(), new AbortController()];
  let running = 0;
  scheduler.handler('work', async () => {
    running += 1;
    if (running === 4) all.pass();
    await go.passed;
  });
  for (const id of ['a', 'b', 'c', 'd']) {
    scheduler.register({ id, handler: 'work', schedule: 'once', kind: id < 'c' ? 'refresh' : 'processing', expected: 1 });
  }
  const done = scheduler.runForever({
    signal: stop.signal, ungoverned: true, refreshLanes: 2, processingLanes: 2, refreshBudget: 3_600_000, processingBudget: 3_600_000,
    grace: 3_600_000,
  });
  await all.passed;
  stop.abort();
  go.pass();
  await done;
  assert.equal(scheduler.counts.succeeded, 4);
  scheduler.close();
});

test('what runs when runForever ends is asked to stop', async () => {
  const scheduler = open();
  const [begun, stop] = [gate(), new AbortController()];
  let reason;
  scheduler.handler('slow', async (run) => {
    begun.pass();
    await new Promise((resolve) => run.signal.addEventListener('abort', resolve));
    reason = run.signal.reason.stopReason;
  });
  scheduler.register({ id: 'slow', schedule: 'once' });
  const done = scheduler.runForever({ signal: stop.signal, ungoverned: true });
  await begun.passed;
  stop.abort();
  await done;
  assert.equal(reason, 'shutdown');
  assert.equal(scheduler.counts.running, 0);
  scheduler.close();
});

test('closing ends runForever, and its runs hear it', async () => {
  const scheduler = open();
  const begun = gate();
  let signal;
  scheduler.handler('hang', (run) => { signal = run.signal; begun.pass(); return new Promise(() => {}); });
  scheduler.register({ id: 'hang', schedule: 'once' });
  const done = scheduler.runForever({ ungoverned: true });
  await begun.passed;
  scheduler.close();
  await done;
  assert.equal(signal.reason.stopReason, 'shutdown');
  await assert.rejects(scheduler.runForever(), { code: 'INVALID_HANDLE' });
});

test('a close that is refused, as within an observer, changes nothing', async () => {
  const scheduler = open();
  const [tried, ran, stop] = [gate(), gate(), new AbortController()];
  scheduler.handler('a', ran.pass);
  const done = scheduler.runForever({ signal: stop.signal, ungoverned: true });
  await new Promise(setImmediate);
  let refused;
  scheduler.observe(({ id }) => {
    if (id !== 'a' || refused) return;
    try {
      scheduler.close();
    } catch (error) {
      refused = error.code;
    }
    tried.pass();
  });
  scheduler.register({ id: 'a', schedule: 'once', delay: 1 });
  await tried.passed;
  assert.equal(refused, 'REENTRANT');
  await ran.passed;
  stop.abort();
  await done;
  scheduler.close();
});

test('runForever holds back what the profile refuses, and ask says why', async () => {
  const scheduler = open();
  const [ran, stop] = [gate(), new AbortController()];
  let count = 0;
  scheduler.handler('a', () => { count += 1; ran.pass(); });
  scheduler.setProfile('apple');
  scheduler.setSignal('background_switch', 0);
  const refusal = scheduler.ask('refresh');
  assert.equal(refusal.granted, false);
  const { refuses, observed, clearsAt } = refusal.findings.find((one) => one.factor === 'background_switch');
  assert.deepEqual([refuses, observed, clearsAt], [true, 0, Infinity]);
  scheduler.register({ id: 'a', schedule: 'once' });
  const done = scheduler.runForever({ signal: stop.signal });
  await new Promise((resolve) => setTimeout(resolve, 50));
  assert.equal(count, 0);
  assert.throws(() => scheduler.setSignal('background_switch', 7), { code: 'INVALID_ARGUMENT' });
  assert.throws(() => scheduler.setSignal('weather', 7), TypeError);
  scheduler.clearSignal('background_switch');
  scheduler.setProfile('open');
  await ran.passed;
  const { granted, longestWindow, findings } = scheduler.ask('refresh');
  assert.deepEqual([granted, longestWindow, findings], [true, Infinity, []]);
  stop.abort();
  await done;
  scheduler.close();
});

test('a process enqueues, looks and works for the owner of a store', async (context) => {
  const path = store(context);
  assert.throws(() => connect({ path }), { code: 'OWNER_AWAY' });
  const owner = spawn(fileURLToPath(new URL('../../../build/selened', import.meta.url)), ['--store', path], { stdio: 'ignore' });
  const gone = new Promise((resolve) => owner.once('exit', resolve));
  context.after(() => owner.kill('SIGKILL'));
  connect({ path, wait: 600_000 }).close();
  const [scheduler, another] = [connect({ path, pool: 'tests' }), connect({ path })];
  const [begun, heard, stop] = [gate(), gate(), new AbortController()];
  scheduler.handler('work', async (run) => {
    await assert.rejects(run.sleep(1), { code: 'UNSUPPORTED' });
    run.setOutput(`by ${run.id}`);
  });
  scheduler.handler('waits', (run) => new Promise((resolve) => {
    run.signal.addEventListener('abort', () => { heard.pass(run.signal.reason.stopReason); resolve(false); });
    begun.pass();
  }));
  assert.throws(() => another.handler('work'), { code: 'ALREADY_EXISTS' });
  another.register({ id: 'a', handler: 'work', schedule: 'once' });
  assert.equal(scheduler.get('a').state, 'enqueued');
  const report = await scheduler.run({ budget: 3_600_000 });
  assert.equal(report.newData, 1);
  assert.equal(Buffer.from(another.output('a')).toString(), 'by a');
  // A stop of the owner's aborts the signal here.
  const done = scheduler.runForever({ signal: stop.signal, ungoverned: true, refreshBudget: 3_600_000 });
  another.register({ id: 'waits', schedule: 'once' });
  await begun.passed;
  assert.equal(another.cancel('waits'), 1);
  assert.match(await heard.passed, /cancelled|shutdown/);
  assert.equal(scheduler.get('waits').state, 'cancelled');
  assert.throws(() => scheduler.observe(() => {}), { code: 'UNSUPPORTED' });
  await assert.rejects(scheduler.advance(0), { code: 'UNSUPPORTED' });
  stop.abort();
  await done;
  another.close();
  owner.kill('SIGKILL');
  await gone;
  assert.throws(() => scheduler.get('a'), { code: 'OWNER_AWAY' });
  scheduler.close();
  assert.throws(() => scheduler.now, { code: 'INVALID_HANDLE' });
});

test('R1 a rolling window takes what is registered while another run is at work', async () => {
  const scheduler = open();
  const [begun, go] = [gate(), gate()];
  scheduler.handler('long', async () => { begun.pass(); await go.passed; });
  scheduler.handler('late', go.pass);
  scheduler.register({ id: 'long', schedule: 'once', expected: 1 });
  const window = scheduler.run({ lanes: 2, budget: 3_600_000 });
  await begun.passed;
  scheduler.register({ id: 'late', schedule: 'once', expected: 1 });
  const report = await window;
  assert.deepEqual(report.runs.map((run) => run.outcome), ['new_data', 'new_data']);
  scheduler.close();
});

test('a signal that is asked for late says what was said before', () => {
  const { scheduler } = virtual(selene);
  scheduler.handler('a');
  scheduler.register({ id: 'a', schedule: 'once' });
  const { run } = scheduler.begin().next();
  assert.equal(run.stopping, null);
  scheduler.cancel('a');
  assert.equal(run.stopping, 'cancelled');
  assert.equal(run.signal.reason.stopReason, 'cancelled');
  scheduler.close();
});

test('each worker has an engine of its own, and leaves its store free wherever it is ended', async (context) => {
  const path = store(context);
  const text = `
    import { parentPort, workerData } from 'node:worker_threads';
    import { open } from '${address}';
    const scheduler = open({ path: workerData });
    scheduler.handler('hang', () => { parentPort.postMessage(scheduler.get('hang').state); return new Promise(() => {}); });
    scheduler.observe(() => {});
    scheduler.register({ id: 'hang', schedule: 'once' });
    scheduler.register({ id: 'other', handler: 'hang', kind: 'processing', delay: 3_600_000, schedule: 'once' });
    await scheduler.runForever({ ungoverned: true });`;
  for (let round = 0; round < 3; round += 1) {
    const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(text)}`), { workerData: path });
    const state = await new Promise((resolve, reject) => { worker.once('message', resolve); worker.once('error', reject); });
    assert.equal(state, 'running');
    assert.throws(() => open({ path }), { code: 'STORE_LOCKED' });
    await worker.terminate();
    const scheduler = open({ path });
    assert.equal(scheduler.get('hang').state, 'enqueued');
    scheduler.cancelAll();
    scheduler.close();
  }
});

test('a process ends when nothing is left, with runs in flight, and with its exit code', (context) => {
  const begin = `const scheduler = open();
    scheduler.handler('work', (run) => WORK);
    scheduler.register({ id: 'work', schedule: 'once' });`;
  const left = program(`${begin.replace('WORK', 'new Promise(() => {})')} scheduler.run(); process.exitCode = 3; setTimeout(() => process.exit(), 1);`);
  assert.deepEqual(left, { code: 3, out: '', error: '' });
  const exited = program(`${begin.replace('WORK', 'process.exit(7)')} await scheduler.runForever({ ungoverned: true });`);
  assert.deepEqual(exited, { code: 7, out: '', error: '' });
  const path = store(context);
  const stored = program(`const scheduler = open({ path: ${JSON.stringify(path)} });
    scheduler.handler('hangs', () => new Promise(() => {}));
    scheduler.handler('waits', () => new Promise((resolve) => setTimeout(resolve, 3_600_000)));
    scheduler.handler('ends', () => {
      // Its commit has what began, too.
      scheduler.register({ id: 'last' });
      process.exit(8);
    });
    for (const id of ['hangs', 'waits', 'ends']) scheduler.register({ id, schedule: 'once', priority: id === 'ends' ? 1 : 3 });
    await scheduler.runForever({ ungoverned: true, refreshLanes: 3, refreshBudget: 3_600_000 });`);
  assert.deepEqual(stored, { code: 8, out: '', error: '' });
  const scheduler = open({ path });
  for (const id of ['hangs', 'waits', 'ends']) {
    const { state, stopReason } = scheduler.get(id);
    assert.deepEqual([id, state, stopReason], [id, 'enqueued', 'interrupted']);
  }
  scheduler.close();
  const done = program(`${begin.replace('WORK', 'console.log(run.id)')} await scheduler.run();`);
  assert.deepEqual(done, { code: 0, out: 'work\n', error: '' });
});

test('what a clock or an observer throws is an uncaught exception, and the scheduler goes on', () => {
  const said = program(`
    process.on('uncaughtException', (error) => console.log(error.message));
    let broken = false;
    const scheduler = open({ clock: () => { if (broken) throw new Error('no clock'); return 5000; } });
    scheduler.observe(() => { throw new Error('no ear'); });
    scheduler.handler('a');
    scheduler.register({ id: 'a' });
    broken = true;
    console.log(scheduler.now);
    scheduler.close();`);
  assert.equal(said.code, 0);
  assert.deepEqual(new Set(said.out.split('\n')), new Set(['5000', 'no ear', 'no clock', '']));
});

test('memory stays flat over a hundred thousand runs of handlers and as many that throw, while much is collected', () => {
  const said = program(`
    let now = 1e6;
    const scheduler = open({ clock: () => now });
    const text = 'no '.repeat(50);
    scheduler.handler('works', async (run) => {
      run.setOutput(run.input);
      await null;
      return run.signal.aborted;
    });
    scheduler.handler('fails', (run) => {
      if (run.attempt % 2) throw new Error(text + run.attempt);
      return Promise.reject(new TypeError(text));
    });
    for (let id = 0; id < 200; id += 1) {
      scheduler.register({ id: 't' + id, handler: id % 2 ? 'works' : 'fails', input: 'x'.repeat(1000), expected: 0, schedule: 'standing', backoff: 'none' });
    }
    // What is finalized is collected the next time.
    const used = async () => {
      gc();
      await new Promise(setImmediate);
      gc();
      const { heapUsed, external, rss } = process.memoryUsage();
      return [heapUsed + external, rss];
    };
    let first;
    for (let round = 0; round < 1000; round += 1) {
      const report = await scheduler.run({ budget: 3_600_000, lanes: 4 });
      if (report.noData !== 100 || report.failed !== 100) throw new Error(JSON.stringify(report));
      gc({ type: round % 20 ? 'minor' : 'major' });
      now += 100_000;
      if (round === 200) first = await used();
    }
    console.log((await used()).map((now, index) => now - first[index]).join(' '));`, '--expose-gc', '--max-semi-space-size=1');
  assert.equal(said.error, '');
  // Between both there are 160 000 runs, of which each that is kept has some hundred bytes.
  const [heap, resident] = said.out.split(' ').map(Number);
  assert.ok(heap < 4 * 2 ** 20 && resident < 64 * 2 ** 20, said.out);
});

test('memory stays flat over a hundred thousand runs that are pulled, and succeed or fail', () => {
  const said = program(`
    let now = 1e6;
    const scheduler = open({ clock: () => now });
    scheduler.handler('work');
    for (let id = 0; id < 100; id += 1) scheduler.register({ id: 't' + id, handler: 'work', input: 'x'.repeat(100), schedule: 'standing', backoff: 'none' });
    const used = () => {
      gc();
      const { heapUsed, external, rss } = process.memoryUsage();
      return [heapUsed + external, rss];
    };
    let first;
    for (let round = 0; round < 1200; round += 1) {
      const cycle = scheduler.begin({ budget: 3_600_000 });
      for (let step = cycle.next(); step.run; step = cycle.next()) {
        now += 1;
        if (round % 2) step.run.fail('again'); else step.run.complete();
        if (round % 10 === 0) void step.run.signal;
      }
      if (cycle.end().runs.length !== 100) throw new Error('short');
      now += 100_000;
      if (round === 200) first = used();
    }
    console.log(used().map((now, index) => now - first[index]).join(' '));`, '--expose-gc', '--max-semi-space-size=1');
  assert.equal(said.error, '');
  // What the process has beside node's heap comes and goes with its allocators: only a leak of each run is seen there.
  const [heap, resident] = said.out.split(' ').map(Number);
  assert.ok(heap < 4 * 2 ** 20 && resident < 64 * 2 ** 20, said.out);
});

test('texts and inputs that are larger than what is set aside for a call come through', () => {
  const scheduler = open();
  scheduler.handler('a');
  const tags = Array.from({ length: 16 }, (_, index) => `${index}`.padEnd(255, 'ü'.repeat(3)).slice(0, 100));
  scheduler.register({ id: 'a', tags, input: new Uint8Array(10_240).fill(7) });
  assert.deepEqual(scheduler.get('a').tags, tags);
  assert.equal(scheduler.begin().next().run.input.reduce((sum, byte) => sum + byte), 71_680);
  scheduler.close();
  const permitted = Array.from({ length: 5_000 }, (_, index) => `task-${index}`);
  const strict = open({ permitted });
  strict.register({ id: 'task-4999' });
  assert.throws(() => strict.register({ id: 'task-5000' }), { code: 'NOT_PERMITTED' });
  for (const id of permitted) strict.register({ id, handler: 'x'.repeat(200) });
  assert.deepEqual(strict.list().sort(), permitted.sort());
  strict.close();
});

test('the types have every export, every member and every field', async () => {
  const types = ['selene', 'scheduler'].map((name) => readFileSync(new URL(`${name}.d.ts`, address), 'utf8')).join('\n');
  const block = (name) => new RegExp(`^export (?:class|interface) ${name}\\b[^{]*{\\n([\\s\\S]*?)^}`, 'm').exec(types)?.[1] ?? '';
  const has = (text, name) => assert.match(text, new RegExp(`^(?:  |export .*\\b)(?:readonly )?${name}\\b[?]?[:(<]`, 'm'), name);
  for (const name of Object.keys(selene)) assert.match(types, new RegExp(`^export (?:class|const|function) ${name}\\b`, 'm'));
  for (const { name, prototype } of [selene.Scheduler, selene.Cycle, selene.Run]) {
    const internal = ['constructor', 'stopRun', 'stopped', 'over'];
    for (const member of Object.getOwnPropertyNames(prototype)) if (!internal.includes(member)) has(block(name), member);
  }
  const scheduler = open();
  const known = async (call) => {
    try {
      await call();
    } catch (error) {
      return /known are (.*)/.exec(error.message)[1].split(', ');
    }
    return [];
  };
  const tables = {
    Options: () => open({ x: 1 }), Task: () => scheduler.register({ x: 1 }), Window: () => scheduler.begin({ x: 1 }),
    Driver: () => scheduler.runForever({ x: 1 }), Connection: () => connect({ x: 1 }),
  };
  for (const [name, call] of Object.entries(tables)) {
    const fields = await known(call);
    assert.ok(fields.length > 3);
    for (const field of fields) has(block(name), field);
  }
  scheduler.handler('a');
  scheduler.register({ id: 'a' });
  scheduler.pauseKinds('refresh', { pool: 'others' });
  const cycle = scheduler.begin();
  const { run } = cycle.next();
  const made = { Pause: scheduler.pauses()[0], Decision: scheduler.ask('refresh'), TaskInfo: scheduler.get('a'), Explanation: scheduler.explain('a'), Plan: scheduler.plan(), Waits: scheduler.waits('a'), Run: run };
  run.complete();
  made.Report = cycle.end();
  for (const [name, object] of Object.entries(made)) for (const field of Object.keys(object)) has(block(name), field);
  scheduler.close();
});

test('the program of the README prints what it says, and its test passes', () => {
  const text = readFileSync(fileURLToPath(new URL('../README.md', import.meta.url)), 'utf8');
  const [[, code], [, week]] = text.matchAll(/```js\nimport [^\n]*\n([\s\S]*?)```/g);
  const [, expected] = /```text\n([\s\S]*?)```/.exec(text);
  assert.deepEqual(program(code), { code: 0, out: expected, error: '' });
  assert.deepEqual(program(week), { code: 0, out: '', error: '' });
});

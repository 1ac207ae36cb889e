// What every package for JavaScript does, as its users call it: over WebAssembly, over the addon of node.

import assert from 'node:assert/strict';
import { test } from 'node:test';

/** A scheduler on a clock that the test moves. */
export function virtual(engine, options = {}) {
  const clock = { now: 1_000_000 };
  return { clock, scheduler: engine.open({ clock: () => clock.now, ...options }) };
}

/** The tests. `selene.open(options)` opens a scheduler. */
export function tests(selene) {
  test('a window runs its tasks by score, and the report says what they did', async () => {
    const { scheduler, clock } = virtual(selene);
    const order = [];
    scheduler.handler('mail', async (run) => { order.push(run.id); });
    scheduler.handler('news', () => { order.push('news'); return false; });
    scheduler.handler('backup', () => { throw new TypeError('no disk'); });
    for (const [id, priority] of [['news', 2], ['mail', 'very_high'], ['backup', 1]]) scheduler.register({ id, priority, expected: 100 });
    clock.now += 1_000;
    const report = await scheduler.run({ budget: 5_000 });
    assert.deepEqual(order, ['mail', 'news']);
    assert.deepEqual(report.runs.map((run) => [run.id, run.outcome]), [['mail', 'new_data'], ['news', 'no_data'], ['backup', 'failed']]);
    assert.equal(scheduler.get('backup').failure, 'TypeError: no disk');
    assert.equal(report.result, 'new_data');
    scheduler.close();
  });

  test('what a handler throws, or its promise is rejected with, is a failure with its text', async () => {
    const { scheduler } = virtual(selene);
    const handlers = {
      throws: [() => { throw new RangeError('no such wood'); }, 'RangeError: no such wood'],
      rejects: [async () => { throw new Error('no such tree'); }, 'Error: no such tree'],
      fault: [(run) => run.none.some, "TypeError: Cannot read properties of undefined (reading 'some')"],
      deep: [function deep() { return 1 + deep(); }, 'RangeError: Maximum call stack size exceeded'],
      text: [() => { throw 'of no use'; }, 'of no use'],
      nothing: [() => Promise.reject(), 'undefined'],
      symbol: [() => { throw Symbol('odd'); }, 'Symbol(odd)'],
      bare: [() => { throw Object.create(null); }, 'something was thrown that is not a text'],
      nul: [() => { throw new Error('a\0b\ud800'); }, 'Error: a\ufffdb\ufffd'],
    };
    for (const [id, [handler]] of Object.entries(handlers)) {
      scheduler.handler(id, handler);
      scheduler.register({ id, expected: 0 });
    }
    const report = await scheduler.run({ budget: 60_000, lanes: 2 });
    assert.equal(report.failed, 9);
    for (const [id, [, text]] of Object.entries(handlers)) assert.equal(scheduler.get(id).failure, text);
    scheduler.close();
  });

  test('a task is due when the host says, once', async () => {
    const { scheduler, clock } = virtual(selene);
    scheduler.handler('calendar', () => { scheduler.setNext('calendar', clock.now + 7_000); });
    scheduler.register({ id: 'calendar', schedule: 'periodic', every: 60_000 });
    scheduler.setNext('calendar', clock.now + 5_000);
    assert.equal(scheduler.get('calendar').earliestBegin, clock.now + 5_000);
    clock.now += 5_000;
    await scheduler.run();
    assert.equal(scheduler.get('calendar').earliestBegin, clock.now + 7_000);
    assert.throws(() => scheduler.setNext('calendar', -1), { code: 'INVALID_ARGUMENT' });
    scheduler.close();
  });

  test('a task waits for those that it comes after', async () => {
    const { scheduler } = virtual(selene);
    const order = [];
    scheduler.handler('work', (run) => { order.push(run.id); });
    const once = { handler: 'work', schedule: 'once', expected: 1 };
    scheduler.register({ ...once, id: 'b1' });
    scheduler.register({ ...once, id: 'a2', after: ['b1'], afterAnyEnd: true });
    assert.deepEqual(scheduler.get('a2').waitsFor, ['b1']);
    assert.throws(() => scheduler.register({ ...once, id: 'a3', after: ['none'] }), { code: 'NOT_FOUND' });
    await scheduler.run();
    await scheduler.run();
    assert.deepEqual(order, ['b1', 'a2']);
    assert.deepEqual([scheduler.get('a2').after, scheduler.get('a2').waitsFor], [['b1'], []]);
    scheduler.close();
  });

  test('what a run leaves is its output', async () => {
    const { scheduler } = virtual(selene);
    scheduler.handler('bytes', (run) => { run.setOutput(new Uint8Array([0, 255, 7])); });
    scheduler.handler('text', (run) => { run.setOutput('grün'); });
    for (const id of ['bytes', 'text']) scheduler.register({ id, expected: 1 });
    assert.equal(scheduler.output('text').length, 0);
    await scheduler.run();
    assert.deepEqual([...scheduler.output('bytes')], [0, 255, 7]);
    assert.equal(new TextDecoder().decode(scheduler.output('text')), 'grün');
    assert.throws(() => scheduler.output('none'), { code: 'NOT_FOUND' });
    scheduler.close();
  });

  test('a run tells how far it has come, and one that tells nothing is asked to stop', () => {
    const { scheduler, clock } = virtual(selene);
    scheduler.handler('work');
    scheduler.register({ id: 'a', handler: 'work', schedule: 'once', expected: 1_000, stallLimit: 10_000 });
    const cycle = scheduler.begin({ budget: 60_000 });
    const { run } = cycle.next();
    assert.equal(scheduler.get('a').progress, null);
    clock.now += 9_000;
    run.progress(3, 10, 'drei');
    assert.deepEqual(scheduler.get('a').progress, { at: clock.now, done: 3, total: 10, text: 'drei' });
    assert.throws(() => run.progress(1.5), TypeError);
    assert.throws(() => run.progress(-1), TypeError);
    clock.now += 9_999;
    assert.equal(run.stopping, null);
    clock.now += 1;
    assert.equal(run.stopping, 'stalled');
    clock.now += 5_001;
    assert.throws(() => run.progress(4), { code: 'STALE_RUN' });
    cycle.end();
    const { progress, stopReason, failure } = scheduler.get('a');
    assert.deepEqual([progress, stopReason, failure], [null, 'stalled', 'made no progress']);
    scheduler.close();
  });

  test('a task waits for conditions of the host', () => {
    const { scheduler } = virtual(selene);
    scheduler.handler('work');
    scheduler.defineCondition('vpn');
    scheduler.register({ id: 'a', handler: 'work', schedule: 'once', conditions: ['vpn', 'signed-in'] });
    scheduler.setCondition('vpn', true);
    assert.deepEqual(scheduler.namedConditions(), { 'signed-in': null, vpn: true });
    assert.deepEqual(scheduler.missingConditions('a'), ['signed-in']);
    assert.deepEqual(scheduler.explain('a').reasons.map(({ reason, missing }) => [reason, missing]), [['conditions', ['signed-in']]]);
    assert.deepEqual(scheduler.get('a').conditions, ['signed-in', 'vpn']);
    assert.throws(() => scheduler.setCondition('signed-in', true), { code: 'NOT_FOUND' });
    scheduler.undefineCondition('vpn');
    assert.deepEqual(scheduler.namedConditions(), { 'signed-in': null, vpn: null });
    scheduler.close();
  });

  test('a group has at most so many runs at a time', async () => {
    const { scheduler } = virtual(selene);
    let [running, most] = [0, 0];
    scheduler.handler('work', async () => {
      most = Math.max(most, ++running);
      await Promise.resolve();
      running--;
    });
    for (const id of ['a', 'b', 'c']) scheduler.register({ id, handler: 'work', group: 'uploads', expected: 0 });
    scheduler.limitGroup('uploads', 1);
    assert.deepEqual(scheduler.group('uploads'), { limit: 1, paused: false, running: 0, waiting: 3 });
    assert.equal(scheduler.get('a').group, 'uploads');
    scheduler.pauseGroup('uploads');
    assert.equal((await scheduler.run({ lanes: 3 })).runs.length, 0);
    scheduler.resumeGroup('uploads');
    assert.equal((await scheduler.run({ lanes: 3 })).runs.length, 3);
    assert.equal(most, 1);
    assert.deepEqual(scheduler.groups(), ['uploads']);
    assert.equal(scheduler.group('others'), undefined);
    scheduler.close();
  });

  test('lanes run side by side', async () => {
    const { scheduler } = virtual(selene);
    let [running, most] = [0, 0];
    scheduler.handler('work', async () => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setTimeout(resolve, 20));
      running -= 1;
    });
    for (let number = 0; number < 6; number += 1) scheduler.register({ id: `t${number}`, handler: 'work', expected: 1 });
    const report = await scheduler.run({ budget: 20_000, lanes: 3 });
    assert.equal(report.newData, 6);
    assert.equal(most, 3);
    scheduler.close();
  });

  test('C7 the report comes by the deadline whatever a handler does, and its signal is aborted before', async (context) => {
    const { scheduler, clock } = virtual(selene);
    const passes = setInterval(() => { clock.now += 10; }, 1);
    context.after(() => clearInterval(passes));
    let [signal, aborted] = [];
    scheduler.handler('hang', (run) => {
      signal = run.signal;
      signal.addEventListener('abort', () => { aborted = clock.now; });
      return new Promise(() => {});
    });
    scheduler.register({ id: 'hang' });
    const report = await scheduler.run({ budget: 60, reserve: 30 });
    assert.equal(report.expired, 1);
    assert.equal(signal.reason.stopReason, 'expiring');
    assert.ok(aborted >= report.beganAt + 30 && aborted <= clock.now);
    assert.ok(report.endedAt >= report.deadline);
    scheduler.close();
  });

  test('a run that is cancelled hears it at once, and its late outcome disturbs nobody', async () => {
    const { scheduler } = virtual(selene);
    let heard;
    scheduler.handler('slow', async (run) => {
      setTimeout(() => scheduler.cancel('slow'), 5);
      await new Promise((resolve) => run.signal.addEventListener('abort', resolve));
      heard = run.signal.reason.stopReason;
    });
    scheduler.register({ id: 'slow', schedule: 'once' });
    const report = await scheduler.run({ budget: 10_000 });
    assert.equal(heard, 'cancelled');
    assert.deepEqual(report.runs.map((run) => [run.outcome, run.stopReason]), [['stopped', 'cancelled']]);
    assert.equal(scheduler.get('slow').state, 'cancelled');
    scheduler.close();
  });

  test('V4 a window whose signal is aborted begins nothing more, and what it stops has failed nothing', async () => {
    const { scheduler } = virtual(selene);
    const stop = new AbortController();
    const { signal } = stop;
    scheduler.handler('work', (run) => {
      const asked = new Promise((_, reject) => { run.signal.addEventListener('abort', () => reject(new Error('asked to stop'))); });
      stop.abort();
      return asked;
    });
    const once = { handler: 'work', schedule: 'once', maxAttempts: 1 };
    for (const id of ['first', 'second']) scheduler.register({ ...once, id });
    const report = await scheduler.run({ signal });
    assert.deepEqual(report.runs.map((run) => [run.id, run.outcome, run.stopReason]), [['first', 'stopped', 'shutdown']]);
    assert.deepEqual((await scheduler.run({ signal })).runs, []);
    assert.equal(await scheduler.untilWakeup({ signal }), false);
    for (const id of ['first', 'second']) assert.deepEqual([scheduler.get(id).state, scheduler.get(id).attempts], ['enqueued', 0]);
    scheduler.close();
  });

  test('V5 what a window runs when its signal is aborted may complete within the grace', async () => {
    const { scheduler } = virtual(selene);
    const stop = new AbortController();
    scheduler.handler('work', async (run) => {
      stop.abort();
      await new Promise(setImmediate);
      assert.equal(run.stopping, null);
    });
    for (const id of ['first', 'second']) scheduler.register({ id, handler: 'work', schedule: 'once' });
    const report = await scheduler.run({ signal: stop.signal, grace: 60_000 });
    assert.deepEqual(report.runs.map((run) => [run.id, run.outcome]), [['first', 'new_data']]);
    assert.equal(scheduler.get('second').state, 'enqueued');
    for (const call of ['run', 'runForever']) {
      await assert.rejects(scheduler[call]({ grace: '5 s' }), { name: 'TypeError', message: /^grace: 5 s is not a number/ });
    }
    assert.deepEqual((await scheduler.run()).runs.map((run) => run.id), ['second']);
    scheduler.close();
  });

  test('what is refused says which field, what was found and what is allowed', () => {
    const { scheduler } = virtual(selene);
    assert.throws(() => scheduler.register({ id: 'a', priority: 9 }), {
      name: 'SeleneError', code: 'INVALID_ARGUMENT', field: 'priority', found: '9', allowed: '1 … 5',
    });
    assert.throws(() => scheduler.register({ id: '' }), { code: 'INVALID_ARGUMENT', field: 'id' });
    assert.throws(() => scheduler.register({ id: 'a', prioritty: 3 }), /prioritty is unknown, known are id, handler/);
    assert.throws(() => scheduler.register({ id: 'a', kind: 'fast' }), /kind: "fast" is unknown, known are refresh, processing/);
    assert.throws(() => scheduler.register({ id: 'a', expected: '5 s' }), TypeError);
    assert.throws(() => scheduler.cancel('nobody'), { code: 'NOT_FOUND' });
    assert.throws(() => scheduler.begin({ task: 'nobody' }), { code: 'NOT_FOUND' });
    assert.deepEqual(scheduler.list(), []);
    assert.equal(scheduler.get('nobody'), undefined);
    scheduler.close();
    assert.throws(() => scheduler.list(), { code: 'INVALID_HANDLE' });
    scheduler.close();
  });

  test('a word that setConditions refuses changes nothing, also for later calls', async () => {
    const { scheduler } = virtual(selene);
    scheduler.handler('mail');
    scheduler.register({ id: 'mail', requires: 'network' });
    scheduler.setConditions({ network: false });
    for (const wrong of [{ netwrk: true }, { network: true, netwrk: null }]) {
      assert.throws(() => scheduler.setConditions(wrong), { name: 'TypeError', message: /"netwrk" is unknown, known are network/ });
    }
    assert.throws(() => scheduler.setConditions(null), TypeError);
    assert.deepEqual(scheduler.explain('mail').reasons.map((one) => one.missing), [['network']]);
    scheduler.setConditions({ network: true });
    assert.deepEqual(scheduler.explain('mail').reasons, []);
    scheduler.close();
  });

  test('list takes a tag, a state, or both', () => {
    const { scheduler } = virtual(selene);
    for (const [id, tags] of [['mail', ['in', 'fast']], ['news', ['in']], ['old', ['in']], ['lone', []]]) {
      scheduler.register({ id, schedule: 'once', tags });
    }
    scheduler.cancel('old');
    assert.deepEqual(scheduler.list({ tag: 'in', state: 'enqueued' }), ['mail', 'news']);
    assert.deepEqual(scheduler.list({ tag: 'in', state: 'cancelled' }), ['old']);
    assert.deepEqual(scheduler.list({ tag: 'fast', state: 'cancelled' }), []);
    assert.deepEqual(scheduler.list({ state: 'enqueued' }), ['mail', 'news', 'lone']);
    assert.throws(() => scheduler.list({ status: 'enqueued' }), { name: 'TypeError', message: /status is unknown, known are tag, state/ });
    scheduler.close();
  });

  test('an input is the bytes of whatever holds bytes, and what holds none is refused', async () => {
    const { scheduler } = virtual(selene);
    const wide = new Uint16Array([1, 2, 300]);
    const whole = new Uint8Array(8).map((_, place) => place);
    const inputs = [
      [wide, [...new Uint8Array(wide.buffer)]], [whole.buffer, [...whole]], [whole.subarray(2, 4), [2, 3]],
      [new DataView(whole.buffer, 5), [5, 6, 7]], ['\u00e9', [0xc3, 0xa9]], [new Uint8Array(), []],
    ];
    const found = [];
    scheduler.handler('u', (run) => { found.push([...run.input]); run.setOutput(new Uint16Array([513])); });
    for (const [input] of inputs) {
      scheduler.register({ id: 'u', schedule: 'once', existing: 'replace', input });
      await scheduler.run();
    }
    assert.deepEqual(found, inputs.map(([, bytes]) => bytes));
    assert.deepEqual([...scheduler.output('u')], [1, 2]);
    const refused = (call, message) => assert.throws(call, (error) => error instanceof TypeError && message.test(error.message));
    for (const input of [{ a: 1 }, [1, 2], null, 7]) {
      refused(() => scheduler.register({ id: 'o', input }), /^input: .* is neither bytes nor a string$/);
    }
    refused(() => scheduler.register({ id: 'o', tags: 'mail' }), /^tags: "mail" is not a list of strings$/);
    refused(() => scheduler.register({ id: 'o', tags: [7] }), /^tags: 7 is not a string$/);
    refused(() => scheduler.register({ id: 'o', schedule: 'once', after: 'u' }), /^after: "u" is not a list of strings$/);
    refused(() => scheduler.register({ id: 7 }), /^id: 7 is not a string$/);
    refused(() => scheduler.register(null), /^task: null is not an object$/);
    refused(() => scheduler.cancel(['u']), /an array is not a string$/);
    refused(() => scheduler.handler('o', 42), /^work: 42 is not a function$/);
    assert.equal(scheduler.get('o'), undefined);
    scheduler.close();
  });

  test('a run is aborted with an error that libraries know', async () => {
    const { scheduler } = virtual(selene);
    scheduler.handler('slow', async (run) => {
      const aborted = new Promise((_, reject) => run.signal.addEventListener('abort', () => reject(run.signal.reason)));
      scheduler.cancel('slow');
      await assert.rejects(aborted, (error) => error instanceof selene.RunStopped && error.name === 'AbortError');
      assert.throws(() => run.signal.throwIfAborted(), { name: 'AbortError', stopReason: 'cancelled', message: /cancelled/ });
    });
    scheduler.register({ id: 'slow', schedule: 'once' });
    await scheduler.run();
    scheduler.close();
  });

  test('untilWakeup waits until a window is worth opening', async () => {
    const { scheduler, clock } = virtual(selene);
    let ran = 0;
    scheduler.handler('mail', () => { ran += 1; });
    scheduler.register({ id: 'mail', schedule: 'once', requires: 'network' });
    scheduler.setConditions({ network: false });
    assert.equal(scheduler.nextWakeup(), Infinity);
    let woken = false;
    const waits = scheduler.untilWakeup().then((found) => { woken = true; return found; });
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(woken, false);
    scheduler.setConditions({ network: true });
    assert.equal(await waits, true);
    await scheduler.run();
    assert.equal(ran, 1);
    scheduler.register({ id: 'mail', schedule: 'once', delay: 5 });
    clock.now += 5;
    assert.equal(await scheduler.untilWakeup(), true);
    await scheduler.run();
    const stop = new AbortController();
    const stopped = scheduler.untilWakeup({ signal: stop.signal });
    stop.abort();
    assert.equal(await stopped, false);
    const closed = scheduler.untilWakeup();
    scheduler.close();
    assert.equal(await closed, false);
  });

  test('a use after close is an error, whatever the order', async () => {
    const { scheduler, clock } = virtual(selene);
    const closed = { name: 'SeleneError', code: 'INVALID_HANDLE' };
    scheduler.observe(() => {});
    scheduler.handler('a');
    scheduler.register({ id: 'a', input: 'input' });
    const cycle = scheduler.begin();
    const { run } = cycle.next();
    const { signal } = run;
    scheduler.close();
    scheduler.close();
    assert.equal(signal.reason.stopReason, 'shutdown');
    assert.equal(run.stopping, 'shutdown');
    assert.deepEqual([run.id, new TextDecoder().decode(run.input)], ['a', 'input']);
    for (const call of [
      () => scheduler.now, () => scheduler.get('a'), () => scheduler.register({ id: 'b' }), () => scheduler.handler('b'),
      () => scheduler.begin(), () => scheduler.plan(), () => scheduler.observe(() => {}), () => cycle.next(), () => cycle.end(),
    ]) assert.throws(call, closed, String(call));
    await assert.rejects(scheduler.run(), closed);
    for (const call of [() => run.complete(), () => run.fail('late'), () => run.progress(1), () => run.setOutput('late')]) {
      assert.throws(call, { name: 'SeleneError' }, String(call));
    }
    clock.now += 1_000_000;
    const another = virtual(selene).scheduler;
    assert.throws(() => run.complete(), { name: 'SeleneError' });
    another.close();
  });

  test('texts and inputs come back as they went in', () => {
    const { scheduler } = virtual(selene);
    scheduler.handler('résumé ☾');
    scheduler.register({ id: 'größe', handler: 'résumé ☾', tags: ['ä', 'b'], input: new Uint8Array([0, 255, 7]) });
    assert.deepEqual(scheduler.get('größe').tags, ['ä', 'b']);
    assert.deepEqual(scheduler.list({ tag: 'ä' }), ['größe']);
    const { run } = scheduler.begin().next();
    assert.deepEqual([...run.input], [0, 255, 7]);
    assert.equal(run.handler, 'résumé ☾');
    run.complete();
    assert.throws(() => run.complete(), (error) => ['ALREADY_COMPLETED', 'STALE_RUN'].includes(error.code));
    scheduler.close();
  });

  test('kinds are paused until an instant, or until they are resumed', async () => {
    const { scheduler, clock } = virtual(selene);
    const both = ['refresh', 'processing'];
    const order = [];
    scheduler.handler('work', (run) => { order.push(run.id); });
    scheduler.register({ id: 'short', handler: 'work', schedule: 'once', expected: 1 });
    scheduler.register({ id: 'long', handler: 'work', schedule: 'once', kind: 'processing', expected: 1 });
    const until = clock.now + 3_600_000;
    assert.deepEqual(scheduler.pauses(), []);
    scheduler.pauseKinds('refresh', { until });
    assert.deepEqual(scheduler.explain('short').reasons, [{ reason: 'kind_paused', missing: [], mayChangeAt: until }]);
    assert.deepEqual(scheduler.pauses(), [{ kinds: ['refresh'], pool: null, until }]);
    await scheduler.run({ kinds: both });
    assert.deepEqual(order, ['long']);
    assert.equal(scheduler.nextWakeup(), until);
    clock.now = until;
    assert.deepEqual(scheduler.pauses(), []);
    await scheduler.run({ kinds: both });
    assert.deepEqual(order, ['long', 'short']);

    const later = until + 1_000;
    scheduler.pauseKinds(new Set(both));
    scheduler.pauseKinds(both, { pool: 'größe' });
    scheduler.pauseKinds(both, { pool: 'größe', until: later });
    assert.deepEqual(scheduler.pauses(), [
      { kinds: both, pool: null, until: Infinity },
      { kinds: both, pool: 'größe', until: later },
    ]);
    scheduler.resumeKinds('refresh');
    scheduler.resumeKinds(['processing'], { pool: 'größe' });
    assert.deepEqual(scheduler.pauses(), [
      { kinds: ['processing'], pool: null, until: Infinity },
      { kinds: ['refresh'], pool: 'größe', until: later },
    ]);
    for (const { kinds, pool } of scheduler.pauses()) scheduler.resumeKinds(kinds, { pool });
    assert.deepEqual(scheduler.pauses(), []);
    scheduler.close();
  });

  test('a window that rolls goes on with a kind as soon as it is resumed', { timeout: 60_000 }, async () => {
    const { scheduler, clock } = virtual(selene);
    let pass;
    const passed = new Promise((resolve) => { pass = resolve; });
    scheduler.handler('short', () => { pass(); });
    scheduler.handler('long', () => passed);
    scheduler.register({ id: 'short', expected: 1 });
    scheduler.register({ id: 'long', kind: 'processing', expected: 1 });
    scheduler.pauseKinds('refresh', { until: clock.now + 3_600_000 });
    const report = scheduler.run({ lanes: 2, budget: 300_000 });
    await new Promise((resolve) => { setTimeout(resolve, 10); });
    scheduler.resumeKinds('refresh');
    assert.deepEqual((await report).runs.map((run) => run.id), ['long', 'short']);
    scheduler.close();
  });

  test('a pause of no kind, of no pool or until what is past is refused', () => {
    const { scheduler, clock } = virtual(selene);
    const refused = (field, call) => assert.throws(call, { name: 'SeleneError', code: 'INVALID_ARGUMENT', field });
    const wrong = (message, call) => assert.throws(call, (error) => error instanceof TypeError && message.test(error.message));
    scheduler.pauseKinds('refresh');
    for (const until of [0, -0, -1, clock.now, clock.now + 11 * 365 * 86_400_000]) {
      refused('until', () => scheduler.pauseKinds('refresh', { until }));
    }
    for (const until of [NaN, '2030', new Date(), null, 1e15]) {
      wrong(/^until: .* is not a number of milliseconds/, () => scheduler.pauseKinds('refresh', { until }));
    }
    for (const pool of [undefined, 'mailer']) {
      refused('kinds', () => scheduler.pauseKinds([], { pool }));
      refused('kinds', () => scheduler.resumeKinds([], { pool }));
      wrong(/^kinds: "all" is unknown, known are refresh, processing/, () => scheduler.pauseKinds('all', { pool }));
    }
    refused('pool', () => scheduler.pauseKinds('refresh', { pool: 'a\0b' }));
    wrong(/^pool: empty/, () => scheduler.pauseKinds('refresh', { pool: '' }));
    wrong(/^pool: empty/, () => scheduler.resumeKinds('refresh', { pool: '' }));
    wrong(/^pauseKinds: end is unknown, known are pool, until/, () => scheduler.pauseKinds('refresh', { end: 1 }));
    wrong(/^resumeKinds: until is unknown, known are pool/, () => scheduler.resumeKinds('refresh', { until: 1 }));
    assert.deepEqual(scheduler.pauses(), [{ kinds: ['refresh'], pool: null, until: Infinity }]);
    scheduler.close();
    assert.throws(() => scheduler.pauses(), { code: 'INVALID_HANDLE' });
  });

  test("a nightly job's week passes on a clock of a test", { timeout: 60_000 }, async () => {
    const [midnight, hour, day] = [Date.UTC(2026, 0, 1), 3_600_000, 86_400_000];
    const scheduler = selene.open({ clock: midnight });
    const nights = [];
    scheduler.handler('backup', async (run) => { nights.push([run.startedAt, await run.sleep(4_000), scheduler.now]); });
    scheduler.register({ id: 'backup', every: day, delay: 3 * hour });
    const stop = new AbortController();
    const { signal } = stop;
    const loop = (async () => { while (await scheduler.untilWakeup({ signal })) await scheduler.run({ signal }); })();
    assert.equal(await scheduler.advance(midnight), midnight + 3 * hour);
    await scheduler.advance(midnight + 7 * day);
    // A period counts from the end of the run before.
    const begins = Array.from({ length: 7 }, (_, night) => midnight + 3 * hour + night * (day + 4_000));
    assert.deepEqual(nights, begins.map((at) => [at, true, at + 4_000]));
    assert.equal(scheduler.now, midnight + 7 * day);
    stop.abort();
    await loop;
    scheduler.close();
  });

  test('on a clock of a test a run is asked to stop, and is over, at its exact instant', { timeout: 60_000 }, async () => {
    const [start, nanosecond] = [1_000_000, 1e-6];
    const scheduler = selene.open({ clock: start });
    const heard = [];
    let pass;
    const passed = new Promise((resolve) => { pass = resolve; });
    scheduler.handler('deaf', async (run) => {
      heard.push([await run.sleep(10_000), scheduler.now - start]);
      heard.push([await run.sleep(600_000), scheduler.now - start, run.stopping]);
      await passed;
    });
    scheduler.register({ id: 'deaf', schedule: 'once' });
    const window = scheduler.run({ budget: 60_000, reserve: 5_000 });
    assert.equal(await scheduler.advance(start + 10_000 - nanosecond), start + 10_000);
    assert.deepEqual(heard, []);
    assert.equal(await scheduler.advance(start + 10_000), start + 55_000);
    await scheduler.advance(start + 55_000 - nanosecond);
    assert.deepEqual(heard, [[true, 10_000]]);
    const busy = { code: 'BUSY', message: 'still at work: "deaf" in the handler "deaf"' };
    await assert.rejects(scheduler.advance(start + 60_000, { patience: 5 }), busy);
    assert.equal(scheduler.now, start + 55_000);
    assert.deepEqual(heard[1], [false, 55_000, 'expiring']);
    // Its deadline leaves it behind a nanosecond later.
    assert.equal(await scheduler.advance(start + 60_000, { handlers: false }), start + 60_000 + nanosecond);
    assert.equal(scheduler.get('deaf').state, 'running');
    await scheduler.advance(start + 60_000 + nanosecond, { handlers: false });
    assert.equal((await window).expired, 1);
    pass();
    scheduler.close();
  });

  test('any number of runs wait for time, and what ends a run ends its wait', { timeout: 60_000 }, async () => {
    const start = 1_000_000;
    const scheduler = selene.open({ clock: start });
    const ends = [];
    scheduler.handler('work', async (run) => {
      const all = [await run.sleep(1_000), ...await Promise.all([2_000, 3_000].map((span) => run.sleep(span)))];
      ends.push([all.every((one) => one), scheduler.now - start]);
    });
    for (let id = 0; id < 40; id += 1) scheduler.register({ id: `${id}`, handler: 'work', schedule: 'once' });
    const window = scheduler.run({ lanes: 40, budget: 60_000 });
    await scheduler.advance(start + 30_000);
    assert.deepEqual(ends, Array(40).fill([true, 4_000]));
    assert.equal((await window).newData, 40);
    assert.equal(await scheduler.advance(Infinity), Infinity);
    assert.equal(scheduler.now, start + 30_000);
    scheduler.close();

    // Nothing lets time pass.
    for (const options of [{ clock: start }, {}]) {
      for (const how of ['cancel', 'complete', 'end', 'close']) {
        const one = selene.open(options);
        one.handler('a');
        one.register({ id: 'a', schedule: 'once' });
        const cycle = one.begin({ budget: 3_600_000 });
        const { run } = cycle.next();
        assert.equal(await run.sleep(0), true);
        await assert.rejects(run.sleep(-1), { code: 'INVALID_ARGUMENT' });
        for (const wrong of ['1', NaN]) await assert.rejects(run.sleep(wrong), { name: 'TypeError', message: /^span: / });
        const sleeps = run.sleep(Infinity);
        await new Promise((resolve) => { setTimeout(resolve, 0); });
        if (how === 'cancel') one.cancel('a');
        if (how === 'complete') run.complete();
        if (how === 'end') cycle.end();
        if (how === 'close') one.close();
        assert.equal(await sleeps, false, how);
        assert.equal(await run.sleep(1), false);
        one.close();
      }
    }
    const real = selene.open();
    real.handler('a', async (run) => { assert.equal(await run.sleep(2), true); });
    real.register({ id: 'a', schedule: 'once' });
    const { newData, runs: [{ responseTime }] } = await real.run({ budget: 3_600_000 });
    assert.ok(newData === 1 && responseTime >= 2, `${responseTime}`);
    real.close();
  });

  test('time passes only where the test has the clock', { timeout: 60_000 }, async () => {
    const start = 1_000_000;
    for (const options of [{}, { clock: () => start }]) {
      const scheduler = selene.open(options);
      await assert.rejects(scheduler.advance(start), { code: 'UNSUPPORTED' });
      scheduler.handler('a');
      scheduler.register({ id: 'a' });
      const { run } = scheduler.begin().next();
      if (options.clock) await assert.rejects(run.sleep(1), { code: 'UNSUPPORTED' });
      scheduler.close();
    }
    const scheduler = selene.open({ clock: start });
    await assert.rejects(scheduler.advance(start + 1, { patience: -1 }), { code: 'INVALID_ARGUMENT', field: 'patience' });
    await assert.rejects(scheduler.advance('soon'), { name: 'TypeError', message: /^to: soon is not a number of milliseconds/ });
    await assert.rejects(scheduler.advance(start + 1, { once: true }), { name: 'TypeError', message: /once is unknown, known are handlers, patience/ });
    assert.throws(() => selene.open({ clock: NaN }), { name: 'TypeError', message: /^clock: / });
    let inside;
    scheduler.observe(() => { inside ??= assert.rejects(scheduler.advance(start + 1), { code: 'REENTRANT' }); });
    scheduler.register({ id: 'a', delay: 1_000, schedule: 'once' });
    await inside;
    assert.equal(scheduler.now, start);
    scheduler.handler('a');
    const waits = scheduler.untilWakeup();
    assert.equal(await scheduler.advance(start - 1), start + 1_000);
    assert.equal(await scheduler.advance(start + 1_000), Infinity);
    assert.equal(await waits, true);
    const closed = scheduler.advance(Infinity);
    scheduler.close();
    await assert.rejects(closed, { code: 'INVALID_HANDLE' });
    await assert.rejects(scheduler.advance(start), { code: 'INVALID_HANDLE' });
  });

  test('waits names what a task waited for, and explain what goes first', () => {
    const { scheduler, clock } = virtual(selene);
    scheduler.handler('a');
    const begin = clock.now;
    scheduler.register({ id: 'soon', handler: 'a', schedule: 'once', group: 'g', expedited: true, latestBegin: 3_600_000 });
    scheduler.pauseGroup('g');
    clock.now += 60_000;
    const { parts, changes } = scheduler.waits('soon');
    assert.deepEqual([parts[0].reason, parts[0].name, changes[0].name], ['group_paused', 'g', 'g']);
    scheduler.resumeGroup('g');
    const { urgent, expedited, latestBegin } = scheduler.explain('soon');
    assert.deepEqual([urgent, expedited, latestBegin], [false, true, begin + 3_600_000]);
    scheduler.close();
  });

  test('explain and nextWakeup say what a task waits for', () => {
    const { scheduler, clock } = virtual(selene);
    scheduler.handler('sync');
    scheduler.setConditions({ network: false });
    scheduler.register({ id: 'sync', schedule: 'once', requires: 'network', delay: 60_000 });
    assert.deepEqual(scheduler.explain('sync').reasons.map((one) => [one.reason, one.missing, one.mayChangeAt]), [
      ['not_due', [], clock.now + 60_000],
      ['constraints', ['network'], Infinity],
    ]);
    scheduler.setConditions({ network: true });
    assert.equal(scheduler.nextWakeup(), clock.now + 60_000);
    clock.now += 60_000;
    assert.equal(scheduler.explain('sync').rank, 1);
    assert.deepEqual(scheduler.plan().runs.map((run) => run.id), ['sync']);
    scheduler.close();
  });

  test('explain says how much was left where a task did not fit', () => {
    const { scheduler, clock } = virtual(selene);
    for (const [id, expected] of [['long', 7_000], ['longer', 9_000]]) {
      scheduler.handler(id);
      scheduler.register({ id, expected });
    }
    assert.equal(scheduler.explain('longer').lastRoom, null);
    const cycle = scheduler.begin({ budget: 10_000, reserve: 0 });
    const { run } = cycle.next();
    assert.equal(run.id, 'long');
    clock.now += 7_000;
    run.complete('new_data');
    assert.equal(cycle.next().done, true);
    cycle.end();
    const { reasons, lastRoom } = scheduler.explain('longer');
    assert.deepEqual(reasons.map((one) => one.reason), ['did_not_fit']);
    assert.equal(lastRoom, 3_000);
    scheduler.close();
  });

  test('an observer hears each change once', () => {
    const { scheduler } = virtual(selene);
    const heard = [];
    scheduler.observe((event) => heard.push([event.type, event.id]));
    scheduler.handler('a');
    scheduler.register({ id: 'a' });
    const cycle = scheduler.begin();
    cycle.next().run.complete('no_data');
    cycle.end();
    scheduler.observe(null);
    scheduler.cancel('a');
    assert.deepEqual(heard, [['registered', 'a'], ['cycle_begun', ''], ['started', 'a'], ['completed', 'a'], ['cycle_ended', '']]);
    scheduler.close();
  });
}

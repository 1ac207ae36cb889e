// The package as its users call it.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { tests, virtual } from './scheduler.mjs';

const { load } = await import('../../../build/wasm/package/selene.mjs');
const selene = await load();
tests(selene);

test('there is no file system and no driver: both are refused, nothing traps', async () => {
  assert.throws(() => selene.open({ path: 'tasks' }), { name: 'TypeError', message: /^path: / });
  assert.throws(() => selene.open({ state: null }), { code: 'STORE_CANNOT_OPEN', message: /this module has no store/ });
  const scheduler = selene.open();
  await assert.rejects(scheduler.runForever(), { name: 'SeleneError' });
  scheduler.close();
});

test('memory stays flat over sixty thousand runs that succeed and fail', async () => {
  // An engine of its own, in which no handler of another test still hangs.
  const selene = await load();
  const { scheduler, clock } = virtual(selene);
  scheduler.handler('work');
  for (let number = 0; number < 10; number += 1) scheduler.register({ id: `t${number}`, handler: 'work', schedule: 'standing', input: 'x'.repeat(100) });
  scheduler.pauseKinds('refresh', { pool: 'x'.repeat(255) });
  let size;
  for (let round = 0; round < 6_000; round += 1) {
    const cycle = scheduler.begin();
    for (let step = cycle.next(); step.run; step = cycle.next()) {
      clock.now += 1;
      if (round % 2) step.run.fail('again'); else step.run.complete();
    }
    assert.equal(cycle.end().runs.length, 10);
    assert.equal(scheduler.pauses().length, 1);
    clock.now += 1_000;
    // By then there are as many windows in the log of what tasks waited for as it keeps.
    if (round === 4_500) size = selene.memory.size;
  }
  assert.equal(selene.memory.size, size);
  scheduler.close();
  assert.equal(selene.objects.size, 0);
});

test('the example of the README runs as it stands', async () => {
  const text = await readFile(new URL('../README.md', import.meta.url), 'utf8');
  const [, code] = /```js\nimport [^\n]*\n([\s\S]*?)```/.exec(text);
  const said = [];
  // Its loop is at work when it has taken the signal, and waits; it ends when that is aborted.
  let wait;
  const waits = new Promise((resolve) => { wait = resolve; });
  const stop = new AbortController();
  const host = {
    load,
    fetch: async (address, { signal }) => ({ status: signal.aborted ? 499 : 200, address }),
    console: { log: (...values) => said.push(values) },
    AbortController: function () { setImmediate(wait); return stop; },
  };
  const ended = new Function(...Object.keys(host), `return (async () => {${code}})()`)(...Object.values(host));
  await Promise.race([waits, ended]);
  const [[result, runs], [explained]] = said;
  assert.equal(result, 'new_data');
  assert.deepEqual(runs.map((run) => run.id), ['mail']);
  assert.equal(explained.reasons[0].reason, 'not_due');
  stop.abort();
  await ended;
});

const packaged = new URL('../../../build/wasm/package/', import.meta.url);
const stored = { skip: !existsSync(new URL('selene-store.wasm', packaged)) && 'there is no selene-store.wasm' };
const withStore = async () => (await import(new URL('store.mjs', packaged))).load();

/** A scheduler whose tasks are kept, with a clock of its own. */
function keeping(selene, state, clock = { now: 1_800_000_000_000 }) {
  const scheduler = selene.open({ state, clock: () => clock.now });
  scheduler.handler('work');
  return { scheduler, clock };
}

test('a state that is exported opens again, in another module, with all that was learnt', stored, async () => {
  const { scheduler, clock } = keeping(await withStore(), null);
  scheduler.register({ id: 'often', handler: 'work', every: 60_000, input: 'as it is', tags: ['one'] });
  scheduler.register({ id: 'later', handler: 'work', schedule: 'once', delay: 5_000 });
  scheduler.register({ id: 'after', handler: 'work', schedule: 'once', after: ['later'] });
  const cycle = scheduler.begin();
  const { run } = cycle.next();
  clock.now += 250;
  run.complete('no_data');
  cycle.end();
  // What the last window left is that of this life.
  const before = scheduler.list().map((id) => [scheduler.get(id), { ...scheduler.explain(id), lastRoom: null }]);
  const state = scheduler.exportState();
  scheduler.close();
  assert.throws(() => scheduler.exportState(), { code: 'INVALID_HANDLE' });

  const { scheduler: again } = keeping(await withStore(), state, clock);
  assert.deepEqual(again.list().map((id) => [again.get(id), again.explain(id)]), before);
  assert.equal(again.get('often').lastOutcome, 'no_data');
  clock.now += 5_000;
  assert.deepEqual(again.plan().runs.map(({ id }) => id), ['later']);
  again.close();
});

test('a state of a run that was open is one of a host that was killed', stored, async () => {
  const { scheduler, clock } = keeping(await withStore(), null);
  scheduler.register({ id: 'cut', handler: 'work', schedule: 'once' });
  const cycle = scheduler.begin();
  assert.equal(cycle.next().run.attempt, 1);
  const state = scheduler.exportState();
  const { scheduler: again } = keeping(await withStore(), state, clock);
  assert.equal(again.get('cut').state, 'enqueued');
  assert.equal(again.get('cut').attempts, 1);
  again.close();
  cycle.end();
  scheduler.close();
});

test('V4 the state that close gives is one of an orderly end: a run that was open has failed nothing', stored, async () => {
  const { scheduler, clock } = keeping(await withStore(), null);
  scheduler.register({ id: 'cut', handler: 'work', schedule: 'once', maxAttempts: 1 });
  const cycle = scheduler.begin();
  assert.equal(cycle.next().run.attempt, 1);
  const state = scheduler.close();
  assert.equal(scheduler.close(), undefined);
  const { scheduler: again } = keeping(await withStore(), state, clock);
  assert.deepEqual([again.get('cut').state, again.get('cut').attempts], ['enqueued', 0]);
  assert.deepEqual(again.plan().runs.map(({ id }) => id), ['cut']);
  again.close();
});

test('what is no state, or a damaged one, is refused, and leaves no memory behind', stored, async () => {
  const selene = await withStore();
  const { scheduler } = keeping(selene, null);
  for (let number = 0; number < 200; number += 1) scheduler.register({ id: `t${number}`, handler: 'work', input: 'x'.repeat(200) });
  const state = scheduler.exportState();
  scheduler.close();
  assert.throws(() => selene.open({ state: 'a text' }), { name: 'TypeError', message: /^state: / });
  assert.throws(() => selene.open({ state: new Uint8Array() }), { code: 'STORE_CORRUPT' });
  assert.throws(() => selene.open({ state: new TextEncoder().encode('a text') }), { code: 'STORE_FOREIGN' });
  assert.throws(() => selene.open({ state: state.subarray(0, state.length - 4096) }), { code: 'STORE_CORRUPT' });
  const number = new DataView(new ArrayBuffer(4));
  let seed = 1;
  const chance = (below) => { number.setUint32(0, (seed = Math.imul(seed, 1_664_525) + 1_013_904_223)); return number.getUint32(0) % below; };
  const refused = { STORE_CORRUPT: 0, STORE_FOREIGN: 0, STORE_NEWER: 0 };
  let size;
  for (let round = 0; round < 600; round += 1) {
    const damaged = state.slice();
    for (let index = chance(8); index >= 0; index -= 1) damaged[chance(round % 2 ? 4096 : damaged.length)] = chance(256);
    try {
      const found = selene.open({ state: damaged });
      found.exportState();
      found.close();
    } catch (error) {
      assert.ok(error.code in refused, String(error));
      refused[error.code] += 1;
    }
    if (round === 400) size = selene.memory.size;
  }
  assert.ok(refused.STORE_CORRUPT > 100, JSON.stringify(refused));
  assert.equal(selene.memory.size, size);
});

test('a state is kept only where it was asked for', stored, async () => {
  const scheduler = (await withStore()).open();
  assert.throws(() => scheduler.exportState(), { name: 'TypeError' });
  assert.equal(scheduler.close(), undefined);
});

// The package as its users call it.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { tests, virtual } from './scheduler.mjs';

const { load } = await import('../../../build/wasm/package/selene.mjs');
const selene = await load();
tests(selene);

test('there is no file system and no driver: both are refused, nothing traps', async () => {
  assert.throws(() => selene.open({ path: 'tasks' }), { name: 'SeleneError' });
  const scheduler = selene.open();
  await assert.rejects(scheduler.runForever(), { name: 'SeleneError' });
  scheduler.close();
});

test('memory stays flat over sixty thousand runs that succeed and fail', async () => {
  // An engine of its own, in which no handler of another test still hangs.
  const selene = await load();
  const { scheduler, clock } = virtual(selene);
  scheduler.handler('work');
  for (let number = 0; number < 10; number += 1) scheduler.register({ id: `t${number}`, handler: 'work', input: 'x'.repeat(100) });
  let size;
  for (let round = 0; round < 6_000; round += 1) {
    const cycle = scheduler.begin();
    for (let step = cycle.next(); step.run; step = cycle.next()) {
      clock.now += 1;
      if (round % 2) step.run.fail('again'); else step.run.complete();
    }
    assert.equal(cycle.end().runs.length, 10);
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
  const host = {
    load,
    fetch: async (address, { signal }) => ({ status: signal.aborted ? 499 : 200, address }),
    console: { log: (...values) => said.push(values) },
    setTimeout: (_, delay) => said.push(delay),
  };
  await new Function(...Object.keys(host), `return (async () => {${code}})()`)(...Object.values(host));
  const [[result, runs], [explained], delay] = said;
  assert.equal(result, 'new_data');
  assert.deepEqual(runs.map((run) => run.id), ['mail']);
  assert.equal(explained.reasons[0].reason, 'not_due');
  assert.ok(delay > 0 && delay <= 15 * 60_000);
});

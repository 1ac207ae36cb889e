// What a pulled run costs: for each line that it reads, a window of 500 runs, and ns a run. Argument: number of tasks.

import { createInterface } from 'node:readline';
import { load } from '../../../build/wasm/package/selene.mjs';

const scheduler = (await load()).open();
scheduler.setConditions({ network: true, external_power: true });
scheduler.handler('count');
for (let number = 0; number < Number(process.argv[2] ?? 1000); number += 1) {
  scheduler.register({ id: `task-${String(number).padStart(11, '0')}`, handler: 'count', expected: 0 });
}

function window() {
  let runs = 0;
  const cycle = scheduler.begin();
  for (let step = cycle.next(); step.run; step = cycle.next()) {
    step.run.complete();
    runs += 1;
    if (runs === 500) break;
  }
  cycle.close();
  return runs;
}

for await (const _ of createInterface({ input: process.stdin })) {
  const begin = process.hrtime.bigint();
  const runs = window();
  console.log(Number(process.hrtime.bigint() - begin) / runs);
}

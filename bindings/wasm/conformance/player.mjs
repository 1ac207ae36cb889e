// Plays commands of Tests/conformance through the package with a store. A path is a file that the host reads into a state, and
// to which it writes what a scheduler gives when it is closed, or when the program ends.

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { SeleneError, load } from '../../../build/wasm/package/store.mjs';
import { play } from './commands.mjs';

const selene = await load();
// Of the schedulers that are open and have one.
const paths = new Map();

await play({
  SeleneError,
  open({ path, ...options }) {
    if (path === undefined) return selene.open(options);
    const scheduler = selene.open({ ...options, state: existsSync(path) ? readFileSync(path) : null });
    paths.set(scheduler, path);
    return scheduler;
  },
  close(scheduler) {
    const state = scheduler.close();
    if (state) writeFileSync(paths.get(scheduler), state);
    paths.delete(scheduler);
  },
  async drive(scheduler, { signal, grace }) {
    try {
      while (await scheduler.untilWakeup({ signal })) await scheduler.run({ signal, grace, budget: 3_600_000 });
    } catch (error) {
      // It was closed within a window.
      if (error.code !== 'INVALID_HANDLE') throw error;
    }
  },
  exit() {
    for (const [scheduler, path] of paths) writeFileSync(path, scheduler.exportState());
    process.exit(0);
  },
});

// Selene for Node.js: the engine in the process, with a store, over an addon.

import { createRequire } from 'node:module';
import { NativeMemory } from './memory.mjs';
import { Selene } from './scheduler.mjs';

export { Cycle, Run, RunStopped, Scheduler, Selene, SeleneError } from './scheduler.mjs';

const selene = new Selene(new NativeMemory(load()));

/** The addon for this machine: a package has one for each C library, and only that of the system's loads. */
function load() {
  const machine = { x64: 'x86_64', arm64: 'aarch64' }[process.arch];
  const names = ['gnu', 'musl'].map((library) => `./selene.${machine}-linux-${library}.node`);
  const require = createRequire(import.meta.url);
  const errors = [];
  for (const name of names) {
    try {
      return require(name);
    } catch (error) {
      errors.push(error.message.split('\n')[0]);
    }
  }
  throw new Error(`selene has no addon that loads on ${process.platform} ${process.arch}:\n${errors.join('\n')}`);
}

/** The version of the engine. */
export const { version } = selene;

/** Opens a scheduler; see Options in scheduler.d.ts. */
export function open(options) {
  return selene.open(options);
}

/** Connects to the process that has a store open and serves it; see Connection in scheduler.d.ts. */
export function connect(connection) {
  return selene.connect(connection);
}

// Selene for Node.js: the engine in the process, with a store, over an addon.

import { createRequire } from 'node:module';
import { NativeMemory } from './memory.mjs';
import { Selene } from './scheduler.mjs';

export { Cycle, Run, Scheduler, Selene, SeleneError } from './scheduler.mjs';

const selene = new Selene(new NativeMemory(createRequire(import.meta.url)('./selene.node')));

/** The version of the engine. */
export const { version } = selene;

/** Opens a scheduler; see Options in scheduler.d.ts. */
export function open(options) {
  return selene.open(options);
}

import { Options, Scheduler } from './scheduler.js';

export * from './scheduler.js';

/** The version of the engine. */
export const version: string;

/** Opens a scheduler: with `path` on a store, else in memory. */
export function open(options?: Options): Scheduler;

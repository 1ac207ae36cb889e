import { Connection, Options, Scheduler } from './scheduler.js';

export * from './scheduler.js';

/** The version of the engine. */
export const version: string;

/** Opens a scheduler: with `path` on a store, else in memory. */
export function open(options?: Options): Scheduler;

/** Connects to the process that has a store open and serves it: selened, or one in another language (`serve`). */
export function connect(connection: Connection): Scheduler;

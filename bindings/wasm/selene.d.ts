import { Selene } from './scheduler.js';

export * from './scheduler.js';

/** Loads the engine: its bytes, a compiled module, a response or a URL; by default the file beside this module. */
export function load(
  source?: BufferSource | WebAssembly.Module | Response | URL | string | PromiseLike<Response>,
): Promise<Selene>;

// Selene for JavaScript as a WebAssembly module with a store inside: a host takes tasks out as bytes, and brings them back.

import { load as loadFrom } from './selene.mjs';

export * from './selene.mjs';

/** Loads the engine, as `load` of selene.mjs does; the default is the module with a store beside this file. */
export function load(source = new URL('./selene-store.wasm', import.meta.url)) {
  return loadFrom(source);
}

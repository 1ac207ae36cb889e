// Selene for JavaScript as a WebAssembly module: the whole engine, in memory, wherever WebAssembly runs.

import { LinearMemory } from './memory.mjs';
import { Selene, nanoseconds } from './scheduler.mjs';

export { Cycle, Run, RunStopped, Scheduler, Selene, SeleneError } from './scheduler.mjs';

/** What WASI asks of a host: the time and chance. */
function wasi(memory, crypto) {
  const now = { 0: () => Date.now(), 1: () => performance.now() };
  return {
    clock_time_get(clock, _precision, out) {
      memory().set('u64', out, nanoseconds((now[clock] ?? now[1])(), 'now'));
      return 0;
    },
    random_get(at, size) {
      crypto.getRandomValues(memory().bytes(at, size));
      return 0;
    },
    // Nobody can be waited for on the only thread.
    poll_oneoff: () => 52,
    // Nor is there a file: what the C library brings along for its streams is answered so.
    fd_close: () => 52,
    fd_seek: () => 52,
    fd_write: () => 52,
  };
}

/**
 * Loads the engine. `source`: its bytes, a WebAssembly.Module, a Response, or a URL to fetch; the default is the file
 * beside this one.
 */
export async function load(source = new URL('./selene.wasm', import.meta.url)) {
  let from = await source;
  if (from instanceof URL && from.protocol === 'file:') {
    from = await (await import('node:fs/promises')).readFile(from);
  } else if (typeof from === 'string' || from instanceof URL) {
    from = await fetch(from);
  }
  if (typeof Response !== 'undefined' && from instanceof Response) from = await from.arrayBuffer();
  const module = from instanceof WebAssembly.Module ? from : await WebAssembly.compile(from);
  // Node 18 has it in a module only.
  const crypto = globalThis.crypto ?? (await import('node:crypto')).webcrypto;
  let memory;
  const instance = await WebAssembly.instantiate(module, { wasi_snapshot_preview1: wasi(() => memory, crypto) });
  memory = new LinearMemory(instance.exports);
  instance.exports._initialize();
  return new Selene(memory);
}

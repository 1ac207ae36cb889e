// X2: every function of the header is called with wrong arguments, in the module and in the library of this machine, with the
// same ones in lockstep: pointers of 4 bytes answer what those of 8 do, and nothing traps. The seed is printed where it fails.

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import { NativeMemory } from '../../../build/wasm/node/package/memory.mjs';
import { load } from '../../../build/wasm/package/selene.mjs';

const api = JSON.parse(readFileSync(new URL('../../../include/api.json', import.meta.url)));
const structs = new Map(api.structs.map((one) => [one.name, one]));
const handles = ['scheduler', 'cycle', 'run', 'lane', 'server'].map((noun) => `selene_${noun}`);
const initialised = new Set(api.functions.map((one) => one.name.replace(/_init$/, '')));
const callbacks = new Set(api.callbacks.map((one) => one.name));
const constants = api.enums.flatMap((one) => one.constants);
const constant = (name) => constants.find((one) => one.name === `SELENE_${name}`).value;
const FLAGS = constant('OPTIONS_NO_THREADS') | constant('OPTIONS_SET_CLOCK');

// What a module has not: files, threads, descriptors, other processes. These are called in a world of their own, where it is
// enough that the answer is a status of the header.
const APART = /^selene_(driver_|server_|client_|store_|trace_|events_|node_|scheduler_connect|cycle_run_async|cycle_descriptor)/;
const SEED = Number(process.env.SELENE_TEST_SEED) || 20_140_601;
const ROUNDS = Number(process.env.SELENE_TEST_ROUNDS) || 60;

/** The numbers of a seed: mulberry32. */
function numbers(seed) {
  let state = seed;
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
  return { next, one: (list) => list[next() % list.length] };
}

const I32 = [0, 1, 2, 3, 4, 5, 6, 99, -1, -2, 2 ** 31 - 1, -(2 ** 31)];
const U32 = [0, 1, 2, 3, 7, 15, 64, 2 ** 31, 2 ** 32 - 1];
const I64 = [0n, 1n, -1n, -2n, 5_000_000_000n, 1n << 31n, (1n << 32n) + 3n, 1n << 62n, (1n << 63n) - 1n, -(1n << 63n)];
const TEXTS = ['task', 'other', '', 'x'.repeat(255), 'x'.repeat(256), 'ä€😀', 'a\u0000b', '\ud800'];
const LENGTHS = ['all', 'all', 'all', 'all', -1n, 0n, -2n, 1n << 31n, (1n << 32n) + 3n, (1n << 63n) - 1n, -(1n << 63n)];

/** What an argument is to be, as data: both engines make the same of it. */
function choose(random, parameter, before) {
  const { name, type } = parameter;
  if (handles.includes(type)) return { handle: type, which: random.one(['live', 'live', 'live', 'none', 'one', 'high', 'odd']) };
  if (callbacks.has(type) || type === 'void *') return { value: 0 };
  if (name.endsWith('_length') && before?.text !== undefined) return { length: random.one(before.text === null ? [0n, 1n, -1n] : LENGTHS), of: before.text };
  // A wait that is wrong, or none.
  if (/timeout|grace/.test(name)) return { value: random.one([0n, -1n, -(1n << 63n)]) };
  if (type === 'int32_t' || type === 'selene_status') return { value: random.one(I32) };
  if (type === 'uint32_t') return { value: random.one(U32) };
  if (type === 'int64_t') return { value: random.one(I64) };
  if (type === 'uint64_t') return { value: random.one([0n, 1n, 3n]) };
  if (type === 'const char *' || type === 'const void *') return { text: random.one([null, ...TEXTS]) };
  if (type === 'const selene_task *const *') return { value: 0 };
  const struct = structs.get(type.replace(/^const | \*$/g, ''));
  if (!struct || !initialised.has(struct.name)) return { room: random.next() % 4 ? 1_024 : 0 };
  if (random.next() % 5 === 0) return { value: 0 };
  const fields = struct.fields.filter((field) => ['int32_t', 'uint32_t', 'int64_t'].includes(field.type) && !/^struct_size$|_count$|_length$/.test(field.name));
  const wild = fields.length && random.next() % 2 ? random.one(fields) : null;
  return {
    struct: struct.name.replace('selene_', ''),
    size: random.one(['whole', 'whole', 'whole', 'more', 0, 4, 7, 8]),
    wild: wild && [wild.name, random.one({ int32_t: I32, uint32_t: U32, int64_t: I64 }[wild.type])],
    id: struct.name === 'selene_task' ? random.one(['task', 'other', '']) : null,
  };
}

/** One engine with a world: a scheduler with two tasks, a cycle that gave a run, and a closed scheduler. */
class World {
  constructor(memory) {
    this.memory = memory;
    this.c = memory.calls;
    this.live = {};
    this.live.selene_scheduler = this.open();
    memory.scope((scope) => {
      const name = scope.text('work');
      assert.equal(this.c.selene_handler_register(this.live.selene_scheduler, name.data, name.length, 0, 0, 0, 0), 0);
      for (const id of ['task', 'other']) {
        const task = this.struct(scope, 'task', { handler: name, id: scope.text(id) });
        assert.equal(this.c.selene_task_register(this.live.selene_scheduler, task, 0), 0);
      }
      const [window, cycle, step, info] = [this.struct(scope, 'window'), scope.room(8), scope.room(8), this.struct(scope, 'run_info')];
      assert.equal(this.c.selene_cycle_begin(this.live.selene_scheduler, window, cycle), 0);
      this.live.selene_cycle = memory.get('u64', cycle);
      assert.equal(this.c.selene_cycle_next(this.live.selene_cycle, step, info, 0), 0);
      const { offset } = memory.layout('run_info').fields.run;
      this.live.selene_run = memory.get('u64', info + offset);
    });
  }

  /** Its clock stands, and no thread is started. */
  open() {
    return this.memory.scope((scope) => {
      const options = this.struct(scope, 'options', { flags: FLAGS, clock_start: 1_700_000_000_000_000_000n, seed: 1n });
      const out = scope.room(8);
      assert.equal(this.c.selene_scheduler_open(options, out), 0);
      return this.memory.get('u64', out);
    });
  }

  struct(scope, name, values = {}) {
    const { size } = this.memory.layout(name);
    const at = scope.room(size + 64);
    this.memory.bytes(at, size + 64).fill(0);
    this.memory.clear(name, at);
    this.memory.write(name, at, values);
    return at;
  }

  argument(scope, chosen) {
    if (chosen.handle) {
      const numbers = { live: this.live[chosen.handle] ?? 0n, none: 0n, one: 1n, high: 1n << 62n, odd: 0x0123_4567_89ab_cdefn };
      return numbers[chosen.which];
    }
    if (chosen.length !== undefined) return chosen.length === 'all' ? BigInt(new TextEncoder().encode(chosen.of).length) : chosen.length;
    if (chosen.text !== undefined) return chosen.text === null ? 0 : scope.text(`${chosen.text}\0`).data;
    if (chosen.room !== undefined) {
      if (chosen.room === 0) return 0;
      const at = scope.room(chosen.room);
      this.memory.bytes(at, chosen.room).fill(0);
      return at;
    }
    if (chosen.struct) {
      const at = this.struct(scope, chosen.struct, {
        ...(chosen.id === null ? {} : { id: scope.text(chosen.id), handler: scope.text('work') }),
        ...(chosen.wild ? { [chosen.wild[0]]: chosen.wild[1] } : {}),
      });
      const { size } = this.memory.layout(chosen.struct);
      const sizes = { whole: size, more: size + 64 };
      if (structs.get(`selene_${chosen.struct}`).sized) this.memory.set('u32', at, sizes[chosen.size] ?? chosen.size);
      return at;
    }
    return chosen.value;
  }

  /** What a call answers: its status and the words for it, or a name. */
  call(called, chosen) {
    return this.memory.scope((scope) => {
      const given = chosen.map((one) => this.argument(scope, one));
      const got = this.c[called.name](...given);
      // A length of more than the memory that there is, is told as the greatest one.
      if (called.returns === 'const char *') return got === 0 ? null : this.memory.string(got).replaceAll(/\d{10,}/g, '2147483647');
      if (called.returns !== 'selene_status') return null;
      if (called.name === 'selene_scheduler_open' && got === 0) {
        assert.equal(this.c.selene_scheduler_close(this.memory.get('u64', given[1]), 0n), 0);
      }
      if (got === 0) return { status: 0 };
      // How large a struct is differs, and so do the numbers of handles.
      const { message: words, field } = this.memory.read('error', this.c.selene_error_last());
      return { status: got, field, words: words.replaceAll(/\d+/g, '#') };
    });
  }

  /** What the scheduler holds. */
  picture() {
    const { memory, c } = this;
    return memory.scope((scope) => {
      const info = this.struct(scope, 'scheduler_info');
      const status = c.selene_scheduler_get(this.live.selene_scheduler, info);
      // How many were opened before it is another number in each.
      return status === 0 ? { ...memory.read('scheduler_info', info), life: 0 } : status;
    });
  }
}

const addon = new URL(`../../../build/wasm/node/package/selene.${{ x64: 'x86_64', arm64: 'aarch64' }[process.arch]}-linux-gnu.node`, import.meta.url);

test('X2 every call with wrong arguments answers what it does where pointers are wider, and changes the same', { skip: existsSync(addon) ? false : 'there is no addon' }, async () => {
  const native = new NativeMemory(createRequire(import.meta.url)(addon.pathname));
  // The addon asks for them, though nothing is called here.
  native.callbacks({ clock() {}, stop() {}, event() {}, destroy() {} });
  const module = await load();
  const statuses = new Set(constants.filter((one) => /^SELENE_(OK$|ERROR_)/.test(one.name)).map((one) => one.value));
  const random = numbers(SEED);
  let calls = 0;
  let refused = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const worlds = [new World(native), new World(module.memory)];
    const alone = new World(module.memory);
    for (const called of api.functions) {
      // What frees is right for what was given, or for nothing.
      if (/_destroy$|^selene_scheduler_close$/.test(called.name)) continue;
      const chosen = [];
      for (const parameter of called.parameters) chosen.push(choose(random, parameter, chosen.at(-1)));
      const said = () => `seed ${SEED}, round ${round}: ${called.name}(${JSON.stringify(chosen, (_, value) => (typeof value === 'bigint' ? `${value}` : value))})`;
      const [narrow, wide] = (APART.test(called.name) ? [alone] : worlds.slice().reverse()).map((world) => {
        try {
          return world.call(called, chosen);
        } catch (error) {
          throw new Error(said(), { cause: error });
        }
      });
      calls += 1;
      if (narrow?.status > 0 || narrow?.status < 0) refused += 1;
      if (wide !== undefined) assert.deepEqual(narrow, wide, said());
      else assert.ok(narrow === null || statuses.has(narrow.status), said());
    }
    const [wide, narrow] = worlds.map((world) => world.picture());
    assert.deepEqual(narrow, wide, `seed ${SEED}, round ${round}`);
    for (const world of [...worlds, alone]) assert.equal(world.c.selene_scheduler_close(world.live.selene_scheduler, 0n), 0);
  }
  // Most of what is wrong is refused, and something is right.
  assert.ok(refused > calls / 4 && refused < calls, `${refused} of ${calls} were refused`);
});

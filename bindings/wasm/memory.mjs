// The memory of a WebAssembly module.

import { Memory } from './structs.mjs';

const decoder = new TextDecoder();

/** What a function of WebAssembly that calls a function of JavaScript looks like: the only way to put one into a table. */
function trampoline(parameters, results, call) {
  const types = { i32: 0x7f, i64: 0x7e };
  const vector = (items) => [items.length, ...items];
  const signature = [0x60, ...vector(parameters.map((type) => types[type])), ...vector(results.map((type) => types[type]))];
  const section = (number, ...bytes) => [number, bytes.length, ...bytes];
  const name = vector([0x66]);
  const module = new WebAssembly.Module(
    new Uint8Array([
      ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
      ...section(1, 1, ...signature),
      ...section(2, 1, ...name, ...name, 0, 0),
      ...section(7, 1, ...name, 0, 0),
    ]),
  );
  return new WebAssembly.Instance(module, { f: { f: call } }).exports.f;
}

/** A name as C has it, with a NUL at its end. */
const terminated = (scope, name) => scope.text(`${name}\0`).data;

export class LinearMemory extends Memory {
  #memory;
  #table;
  #states = 0;

  constructor(exports) {
    super(exports, 4);
    this.#memory = exports.memory;
    this.#table = exports.__indirect_function_table;
  }

  /** How many bytes it has. */
  get size() {
    return this.#memory.buffer.byteLength;
  }

  reserve(size) {
    const at = this.calls.malloc(Math.max(1, size));
    if (at === 0) throw new RangeError('WebAssembly: no memory left');
    return at;
  }

  release(at) {
    this.calls.free(at);
  }

  place(at) {
    // Memory that grows leaves its old buffer behind.
    if (this.view?.buffer !== this.#memory.buffer) this.view = new DataView(this.#memory.buffer);
    return at;
  }

  decode(at, length) {
    return decoder.decode(this.bytes(at, length));
  }

  string(at) {
    const all = this.bytes(at, this.size - at);
    return decoder.decode(all.subarray(0, all.indexOf(0)));
  }

  callbacks({ clock, stop, event, destroy }) {
    return {
      clock: this.#callback(['i32'], ['i64'], clock),
      stop: this.#callback(['i64', 'i32', 'i32'], [], stop),
      event: this.#callback(['i32', 'i32'], [], event),
      destroy: this.#callback(['i32'], [], destroy),
    };
  }

  lend(number) {
    return number;
  }

  /** Makes a file in the module's memory, of a state or with none yet; gives the path by which a scheduler opens it. */
  keepState(bytes) {
    const path = `/state/${(this.#states += 1)}`;
    if (bytes === null) return path;
    const data = bytes instanceof ArrayBuffer ? new Uint8Array(bytes) : bytes;
    if (!(data instanceof Uint8Array)) throw new TypeError('state: neither null nor the bytes of an earlier exportState()');
    this.scope((scope) => {
      const { data: at } = scope.bytes(data);
      if (this.calls.module_file_put(terminated(scope, path), at, data.length) !== 0) throw new RangeError('WebAssembly: no memory left');
    });
    return path;
  }

  /** Takes a file out, as bytes. */
  takeState(path) {
    return this.scope((scope) => {
      const [name, size] = [terminated(scope, path), scope.room(4)];
      const at = this.calls.module_file_get(name, size);
      const bytes = this.bytes(at, this.get('i32', size)).slice();
      this.calls.module_file_remove(name);
      return bytes;
    });
  }

  /** Removes a file and its log, where they are. */
  dropState(path) {
    this.scope((scope) => {
      for (const end of ['', '-wal', '-journal']) this.calls.module_file_remove(terminated(scope, path + end));
    });
  }

  /** Puts a function into the table; its place there is what C knows as a pointer to it. */
  #callback(parameters, results, call) {
    const place = this.#table.grow(1);
    this.#table.set(place, trampoline(parameters, results, call));
    return place;
  }
}

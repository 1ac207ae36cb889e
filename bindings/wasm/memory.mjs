// The module's memory as JavaScript sees it: structs of the header by name, texts, and functions that C can call.

import { structs } from './interface.mjs';

const SCALARS = {
  i32: { size: 4, get: 'getInt32', set: 'setInt32' },
  u32: { size: 4, get: 'getUint32', set: 'setUint32' },
  ptr: { size: 4, get: 'getUint32', set: 'setUint32' },
  i64: { size: 8, get: 'getBigInt64', set: 'setBigInt64' },
  u64: { size: 8, get: 'getBigUint64', set: 'setBigUint64' },
  f64: { size: 8, get: 'getFloat64', set: 'setFloat64' },
};
const layouts = new Map();
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Where the fields of a struct are, as a C compiler places them where pointers have four bytes. */
export function layout(name) {
  let found = layouts.get(name);
  if (found) return found;
  const fields = {};
  let size = 0;
  let alignment = 1;
  for (const [key, written] of Object.entries(structs[name])) {
    const [, type, count] = /^([a-z_0-9]+?)(?:\[(\d+)\])?$/.exec(written);
    const one = SCALARS[type] ?? layout(type);
    const aligned = one.alignment ?? one.size;
    size = Math.ceil(size / aligned) * aligned;
    fields[key] = { offset: size, type, count: count && Number(count), size: one.size };
    size += one.size * (count ?? 1);
    alignment = Math.max(alignment, aligned);
  }
  found = { size: Math.ceil(size / alignment) * alignment, alignment, fields };
  layouts.set(name, found);
  return found;
}

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

export class Memory {
  constructor(exports) {
    this.exports = exports;
    this.memory = exports.memory;
    this.table = exports.__indirect_function_table;
  }

  get view() {
    // Memory that grows leaves its old buffer behind.
    if (this.current?.buffer !== this.memory.buffer) this.current = new DataView(this.memory.buffer);
    return this.current;
  }

  bytes(at, count) {
    return new Uint8Array(this.memory.buffer, at, count);
  }

  allocate(size) {
    const at = this.exports.malloc(Math.max(1, size));
    if (at === 0) throw new RangeError('WebAssembly: no memory left');
    this.bytes(at, size).fill(0);
    return at;
  }

  /** Calls `use` with room that is freed afterwards; `room(bytes)` and `text(string)` give places in it. */
  scope(use) {
    const taken = [];
    const room = (size) => {
      const at = this.allocate(size);
      taken.push(at);
      return at;
    };
    const bytes = (data) => {
      const at = room(data.length);
      this.bytes(at, data.length).set(data);
      return { data: at, length: BigInt(data.length) };
    };
    const text = (string) => bytes(encoder.encode(string));
    try {
      return use({ room, bytes, text, struct: (name) => room(layout(name).size) });
    } finally {
      for (const at of taken) this.exports.free(at);
    }
  }

  /** Copies a struct out, with its texts as strings. */
  read(name, at) {
    const result = {};
    for (const [key, field] of Object.entries(layout(name).fields)) {
      const one = (place) => (field.type in SCALARS ? this.get(field.type, place) : this.nested(field.type, place));
      const place = at + field.offset;
      result[key] = field.count
        ? Array.from({ length: field.count }, (_, index) => one(place + index * field.size))
        : one(place);
    }
    return result;
  }

  nested(type, at) {
    if (type !== 'text') return this.read(type, at);
    return decoder.decode(this.textBytes(at));
  }

  /** The bytes of a text, which stay the library's. */
  textBytes(at) {
    return this.bytes(this.get('ptr', at), Number(this.get('i64', at + 8)));
  }

  /** The structs of an array. */
  readArray(name, at, count) {
    return Array.from({ length: Number(count) }, (_, index) => this.nested(name, at + index * layout(name).size));
  }

  get(type, at) {
    return this.view[SCALARS[type].get](at, true);
  }

  set(type, at, value) {
    this.view[SCALARS[type].set](at, value, true);
  }

  /** Writes some fields of a struct; a text is what `text` or `bytes` of a scope gave. */
  write(name, at, values) {
    const { fields } = layout(name);
    for (const [key, value] of Object.entries(values)) {
      const field = fields[key];
      if (field.type === 'text') {
        this.set('ptr', at + field.offset, value.data);
        this.set('i64', at + field.offset + 8, value.length);
      } else {
        this.set(field.type, at + field.offset, value);
      }
    }
  }

  /** The NUL-terminated text at an address. */
  string(at) {
    const all = this.bytes(at, this.memory.buffer.byteLength - at);
    return decoder.decode(all.subarray(0, all.indexOf(0)));
  }

  /** Puts a function into the table; its place there is what C knows as a pointer to it. */
  callback(parameters, results, call) {
    const place = this.table.grow(1);
    this.table.set(place, trampoline(parameters, results, call));
    return place;
  }
}

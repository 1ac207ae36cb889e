// Structs of the header by name, wherever the library's memory is and whatever the size of its pointers.

import { structs } from './interface.mjs';

const WIDE = 2 ** 32;
const SCALARS = {
  i32: { size: 4, get: (view, at) => view.getInt32(at, true), set: (view, at, value) => view.setInt32(at, value, true) },
  u32: { size: 4, get: (view, at) => view.getUint32(at, true), set: (view, at, value) => view.setUint32(at, value, true) },
  i64: { size: 8, get: (view, at) => view.getBigInt64(at, true), set: (view, at, value) => view.setBigInt64(at, value, true) },
  u64: { size: 8, get: (view, at) => view.getBigUint64(at, true), set: (view, at, value) => view.setBigUint64(at, value, true) },
  f64: { size: 8, get: (view, at) => view.getFloat64(at, true), set: (view, at, value) => view.setFloat64(at, value, true) },
};
// An address is a number of JavaScript: those of programs are below 2^53.
const WIDE_POINTER = {
  size: 8,
  get: (view, at) => view.getUint32(at, true) + view.getUint32(at + 4, true) * WIDE,
  set(view, at, value) {
    view.setUint32(at, value % WIDE, true);
    view.setUint32(at + 4, value / WIDE, true);
  },
};
const encoder = new TextEncoder();

/**
 * What the library and JavaScript share. Subclasses say where it is:
 * `calls`: the functions of the header, and `callbacks({ clock, stop, event, destroy })`: pointers to functions;
 * `lend(number)`: the context with which C calls them for an object of that number;
 * `reserve(size)`: zeroed bytes, until `release(at)`, last first;
 * `place(at, size)`: makes `view` a DataView in which these bytes can be read, and says where;
 * `decode(at, length)`, `string(at)`: texts, the second one with a NUL at its end.
 */
export class Memory {
  #layouts = new Map();

  constructor(calls, pointerSize) {
    this.calls = calls;
    this.scalars = { ...SCALARS, ptr: pointerSize === 8 ? WIDE_POINTER : SCALARS.u32 };
  }

  /** Where the fields of a struct are, as a C compiler places them. */
  layout(name) {
    let found = this.#layouts.get(name);
    if (found) return found;
    const fields = {};
    let size = 0;
    let alignment = 1;
    for (const [key, written] of Object.entries(structs[name])) {
      const [, type, count] = /^([a-z_0-9]+?)(?:\[(\d+)\])?$/.exec(written);
      const one = this.scalars[type] ?? this.layout(type);
      const aligned = one.alignment ?? one.size;
      size = Math.ceil(size / aligned) * aligned;
      fields[key] = { key, offset: size, type, count: count && Number(count), size: one.size };
      size += one.size * (count ?? 1);
      alignment = Math.max(alignment, aligned);
    }
    found = { size: Math.ceil(size / alignment) * alignment, alignment, fields, list: Object.values(fields) };
    this.#layouts.set(name, found);
    return found;
  }

  /** Calls `use` with room that is freed afterwards; `room(bytes)` and `text(string)` give places in it. */
  scope(use) {
    const taken = [];
    const room = (size) => {
      const at = this.reserve(size);
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
      return use({ room, bytes, text, struct: (name) => room(this.layout(name).size) });
    } finally {
      while (taken.length) this.release(taken.pop());
    }
  }

  /** The bytes at an address, as they are now. */
  bytes(at, count) {
    const place = this.place(at, count);
    return new Uint8Array(this.view.buffer, this.view.byteOffset + place, count);
  }

  /** Copies a struct out, with its texts as strings. */
  read(name, at) {
    return this.#field(name, this.place(at, this.layout(name).size));
  }

  /** The same for the structs of an array. */
  readArray(name, at, count) {
    const { size } = this.layout(name);
    const length = Number(count);
    const place = this.place(at, size * length);
    return Array.from({ length }, (_, index) => this.#field(name, place + index * size));
  }

  #field(type, place) {
    const scalar = this.scalars[type];
    if (scalar) return scalar.get(this.view, place);
    if (type === 'text') {
      const { at, length } = this.text(place);
      return length === 0 ? '' : this.decode(at, length);
    }
    const result = {};
    for (const { key, offset, type: one, count, size } of this.layout(type).list) {
      const at = place + offset;
      result[key] = count ? Array.from({ length: count }, (_, index) => this.#field(one, at + index * size)) : this.#field(one, at);
    }
    return result;
  }

  /** Where the bytes of a text are that has its place in the view, and how many. */
  text(place) {
    return { at: this.scalars.ptr.get(this.view, place), length: this.scalars.u32.get(this.view, place + 8) };
  }

  get(type, at) {
    const scalar = this.scalars[type];
    const place = this.place(at, scalar.size);
    return scalar.get(this.view, place);
  }

  set(type, at, value) {
    const scalar = this.scalars[type];
    const place = this.place(at, scalar.size);
    scalar.set(this.view, place, value);
  }

  /** Writes some fields of a struct; a text is what `text` or `bytes` of a scope gave. */
  write(name, at, values) {
    const { fields } = this.layout(name);
    const { ptr, i64 } = this.scalars;
    const place = this.place(at, this.layout(name).size);
    for (const [key, value] of Object.entries(values)) {
      const field = fields[key];
      if (field.type === 'text') {
        ptr.set(this.view, place + field.offset, value.data);
        i64.set(this.view, place + field.offset + 8, value.length);
      } else {
        this.scalars[field.type].set(this.view, place + field.offset, value);
      }
    }
  }
}

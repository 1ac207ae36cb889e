// Structs of the header by name, wherever the library's memory is and whatever the size of its pointers.

import { constants, structs } from './interface.mjs';

const WIDE = 2 ** 32;

/** An i64 that is a time, without BigInt: 2^32 ns are 4 294 ms and 967 296 ns, and no sum here is above 2^53. */
export function milliseconds(view, at) {
  const high = view.getInt32(at + 4, true);
  const low = view.getUint32(at, true);
  if (high === 0x7fff_ffff && low === 0xffff_ffff) return Infinity;
  const rest = high * 967_296 + low;
  const whole = Math.floor(rest / 1e6);
  return high * 4_294 + whole + (rest - whole * 1e6) / 1e6;
}

const SCALARS = {
  i32: { size: 4, get: (view, at) => view.getInt32(at, true), set: (view, at, value) => view.setInt32(at, value, true) },
  u32: { size: 4, get: (view, at) => view.getUint32(at, true), set: (view, at, value) => view.setUint32(at, value, true) },
  // Every i64 that is read is a time: nanoseconds there, milliseconds here.
  i64: { size: 8, get: milliseconds, set: (view, at, value) => view.setBigInt64(at, value, true) },
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
const EMPTY = new Uint8Array();

/**
 * What the library and JavaScript share. Subclasses say where it is:
 * `calls`: the functions of the header, and `callbacks({ clock, stop, event, destroy })`: pointers to functions;
 * `lend(number)`: the context with which C calls them for an object of that number;
 * `reserve(size)`: room for bytes, until `release(at)`, last first;
 * `place(at, size)`: makes `view` a DataView in which these bytes can be read, and says where;
 * `decode(at, length)`, `string(at)`: texts, the second one with a NUL at its end.
 * What a cycle gives comes often, so they may have quicker ways for it: `pull`, `handlerName` and `texts`.
 */
export class Memory {
  #layouts = new Map();
  // Rooms for `pull` that no call has now: an observer that a call tells may pull, too.
  #rooms = [];

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
      fields[key] = { key, offset: size, type, count: count && Number(count), size: one.size, scalar: this.scalars[type] };
      size += one.size * (count ?? 1);
      alignment = Math.max(alignment, aligned);
    }
    found = { size: Math.ceil(size / alignment) * alignment, alignment, fields, list: Object.values(fields) };
    this.#layouts.set(name, found);
    return found;
  }

  /** Calls `use(room)` with room for what `pull` fills in: at `room.at` the struct, then the step and the instant. */
  inRoom(use) {
    const room = this.#rooms.pop() ?? this.makeRoom(this.layout('run_info').size + 16);
    try {
      return use(room);
    } finally {
      this.#rooms.push(room);
    }
  }

  makeRoom(size) {
    return { at: this.reserve(size) };
  }

  /** Where in `view` a room is, now. */
  placeOf(room) {
    return this.place(room.at);
  }

  /** Asks a cycle for its next run: the run's id, 0 if there is none now, else the status of the refusal. */
  pull(cycle, { at }) {
    const { size, fields } = this.layout('run_info');
    this.set('u32', at, size);
    this.set('u32', at + 4, 0);
    const status = this.calls.selene_cycle_next(cycle, at + size, at, at + size + 8);
    if (status !== 0) return status;
    const place = this.place(at);
    return this.view.getInt32(place + size, true) === constants.STEP_RUN ? this.textAt(place + fields.id.offset) : 0;
  }

  /** The name of the handler of the run in a room. */
  handlerName(place) {
    return this.textAt(place + this.layout('run_info').fields.handler.offset);
  }

  /** The texts at an offset in each struct of an array. */
  texts(at, stride, offset, count) {
    const place = this.place(at, stride * count);
    return Array.from({ length: count }, (_, index) => this.textAt(place + index * stride + offset));
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

  /** Makes a struct one of zeros with its size, which are its defaults. */
  clear(name, at) {
    const { size } = this.layout(name);
    this.bytes(at, size).fill(0);
    this.set('u32', at, size);
  }

  /** Copies a struct out, with its texts as strings. */
  read(name, at) {
    return this.#field(name, this.place(at, this.layout(name).size));
  }

  /** The same for the structs of an array. */
  readArray(name, at, count) {
    const { size } = this.layout(name);
    const length = Number(count);
    if (name === 'text') return this.texts(at, size, 0, length);
    const place = this.place(at, size * length);
    return Array.from({ length }, (_, index) => this.#field(name, place + index * size));
  }

  #field(type, place) {
    const scalar = this.scalars[type];
    if (scalar) return scalar.get(this.view, place);
    if (type === 'text') return this.textAt(place);
    const result = {};
    for (const field of this.layout(type).list) {
      const { key, offset, type: one, count, size, scalar } = field;
      const at = place + offset;
      if (count) result[key] = Array.from({ length: count }, (_, index) => this.#field(one, at + index * size));
      else result[key] = scalar ? scalar.get(this.view, at) : this.#field(one, at);
    }
    return result;
  }

  /** The text whose struct is at a place in the view. */
  textAt(place) {
    const length = this.view.getUint32(place + 8, true);
    return length === 0 ? '' : this.decode(this.scalars.ptr.get(this.view, place), length);
  }

  /** A copy of its bytes. */
  bytesAt(place) {
    const length = this.view.getUint32(place + 8, true);
    return length === 0 ? EMPTY : this.bytes(this.scalars.ptr.get(this.view, place), length).slice();
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

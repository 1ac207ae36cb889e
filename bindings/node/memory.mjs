// The memory of the process, through the addon.

import { Memory } from './structs.mjs';

const ARENA = 65_536;

/** Bytes of a fixed address. */
class Block {
  constructor(addon, size) {
    this.buffer = new ArrayBuffer(size);
    this.view = new DataView(this.buffer);
    this.at = addon.address(this.buffer);
    this.size = size;
  }

  has(at) {
    return at >= this.at && at < this.at + this.size;
  }
}

export class NativeMemory extends Memory {
  #addon;
  // What is taken first is given back last, so an end is all it takes.
  #arena;
  #end = 0;
  // What finds no room there has a block of its own.
  #large = [];
  // Where what is the library's is copied to, to be read.
  #copy;
  // The name of the handler of the last run, which is that of most runs.
  #handler = '';

  constructor(addon) {
    super(addon, 8);
    this.#addon = addon;
    this.#arena = new Block(addon, ARENA);
    this.#copy = new Block(addon, ARENA);
  }

  reserve(size) {
    const taken = Math.max(8, Math.ceil(size / 8) * 8);
    if (this.#end + taken > ARENA) {
      const block = new Block(this.#addon, taken);
      this.#large.push(block);
      return block.at;
    }
    const start = this.#end;
    this.#end += taken;
    return this.#arena.at + start;
  }

  release(at) {
    if (this.#arena.has(at)) this.#end = at - this.#arena.at;
    else this.#large.pop();
  }

  place(at, size) {
    let block = this.#arena;
    if (!block.has(at)) {
      block = this.#large.find((one) => one.has(at));
      if (!block) {
        if (size > this.#copy.size) this.#copy = new Block(this.#addon, size);
        block = this.#copy;
        if (size > 0) this.#addon.copy(block.at, at, size);
        this.view = block.view;
        return 0;
      }
    }
    this.view = block.view;
    return at - block.at;
  }

  makeRoom(size) {
    return new Block(this.#addon, size);
  }

  placeOf(room) {
    this.view = room.view;
    return 0;
  }

  pull(cycle, room) {
    return this.#addon.next(cycle, room.at);
  }

  handlerName(place) {
    const { size, fields } = this.layout('run_info');
    // Behind the step the addon says whether it is another one.
    if (this.view.getInt32(place + size + 4, true) !== 0) this.#handler = this.textAt(place + fields.handler.offset);
    return this.#handler;
  }

  texts(at, stride, offset, count) {
    return count === 0 ? [] : this.#addon.texts(at, stride, offset, count).split('\0');
  }

  decode(at, length) {
    return this.#addon.text(at, length);
  }

  string(at) {
    return this.#addon.text(at, -1);
  }

  callbacks({ clock, stop, event, destroy }) {
    const made = this.#addon.callbacks(clock, stop, event, destroy);
    return { clock: made[0], stop: made[1], event: made[2], destroy: made[3] };
  }

  lend(number) {
    return this.#addon.lend(number);
  }

  /** Calls `readable()` once for each `arm()`, when a descriptor is readable. */
  watch(fd, readable) {
    const watch = this.#addon.watch(fd, readable);
    return {
      arm: () => this.#addon.arm(watch),
      disarm: () => this.#addon.disarm(watch),
      close: () => this.#addon.unwatch(watch),
    };
  }
}

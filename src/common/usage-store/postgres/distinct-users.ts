import { USER_BYTES } from '../../rollups/ready.js';

const FIRST_ROOM = 1 << 12;
const WORD = 4;

/**
 * How many end users there were, in each slot and in all. Users cannot be added up over slots, so each is remembered by his hash, with the
 * last slot that saw him: 12 bytes each, in a table of which at least half is free.
 */
export class DistinctUsers {
  #high = new Uint32Array(FIRST_ROOM);
  #low = new Uint32Array(FIRST_ROOM);
  /** The number of the last slot from 1 on; 0 where nobody is. */
  #seen = new Uint32Array(FIRST_ROOM);
  #total = 0;
  readonly #slots: number[];

  constructor(slots: number) {
    this.#slots = new Array<number>(slots).fill(0);
  }

  get total(): number {
    return this.#total;
  }

  /** The first slot first. */
  get slots(): readonly number[] {
    return this.#slots;
  }

  /** Adds users of a slot, from 1 on, by their hashes one behind another. All that is added of a slot comes in a row. */
  add(slot: number, packed: Buffer): void {
    for (let at = 0; at + USER_BYTES <= packed.length; at += USER_BYTES)
      this.#addUser(slot, packed.readUInt32BE(at), packed.readUInt32BE(at + WORD));
  }

  #addUser(slot: number, high: number, low: number): void {
    const place = this.#placeOf(high, low);
    const seen = this.#seen[place] ?? 0;
    if (seen === slot) return;
    this.#slots[slot - 1] = (this.#slots[slot - 1] ?? 0) + 1;
    this.#put(place, high, low, slot);
    if (seen > 0) return;
    this.#total += 1;
    if (this.#total * 2 > this.#seen.length) this.#grow();
  }

  /** Where a user is, or where he belongs. */
  #placeOf(high: number, low: number): number {
    const last = this.#seen.length - 1;
    let place = low & last;
    while (this.#seen[place] !== 0 && (this.#low[place] !== low || this.#high[place] !== high))
      place = (place + 1) & last;
    return place;
  }

  #put(place: number, high: number, low: number, slot: number): void {
    this.#high[place] = high;
    this.#low[place] = low;
    this.#seen[place] = slot;
  }

  #grow(): void {
    const [highs, lows, seen] = [this.#high, this.#low, this.#seen];
    const room = seen.length * 2;
    [this.#high, this.#low, this.#seen] = [
      new Uint32Array(room),
      new Uint32Array(room),
      new Uint32Array(room),
    ];
    for (const [at, slot] of seen.entries()) {
      const [high = 0, low = 0] = [highs[at], lows[at]];
      if (slot > 0) this.#put(this.#placeOf(high, low), high, low, slot);
    }
  }
}

import { USER_BYTES } from '../../rollups/ready.js';

/**
 * How many end users there were, in each slot and in all. Users cannot be added up over slots, so each is remembered by his hash, with the
 * last slot that saw him. (A table of our own in place of the map is twice as fast once it is compiled, 3 of 6 ms for 84,000 hashes, and
 * slower until then, which is how it runs.)
 */
export class DistinctUsers {
  readonly #lastSlots = new Map<string, number>();
  readonly #slots: number[];

  constructor(slots: number) {
    this.#slots = new Array<number>(slots).fill(0);
  }

  get total(): number {
    return this.#lastSlots.size;
  }

  /** The first slot first. */
  get slots(): readonly number[] {
    return this.#slots;
  }

  /** Adds users of a slot, from 1 on, by their hashes one behind another. All that is added of a slot comes in a row. */
  add(slot: number, packed: Buffer): void {
    const hashes = packed.toString('latin1');
    for (let at = 0; at < hashes.length; at += USER_BYTES) {
      const user = hashes.slice(at, at + USER_BYTES);
      if (this.#lastSlots.get(user) === slot) continue;
      this.#lastSlots.set(user, slot);
      this.#slots[slot - 1] = (this.#slots[slot - 1] ?? 0) + 1;
    }
  }
}

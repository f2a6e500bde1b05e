/** An entry of a roster; it can be in one at a time. */
export interface RosterMember {
  /** Its index; -1 outside. Managed by the roster. */
  place: number;
}

/**
 * A set of active objects, of which thousands are added and removed per second. Unordered.
 *
 * A `Set` would cost a quarter of the throughput: each time its table is full, V8 allocates a new one to which the old one points (for
 * iterators in progress). Once such a table is promoted to the old generation, it keeps the next alive, that one the one after it, and with
 * them everything they ever contained, until the next full collection.
 * https://github.com/v8/v8/blob/11.3.244/src/objects/ordered-hash-table.cc (`Rehash`, `SetNextTable`)
 */
export class Roster<Member extends RosterMember> {
  private readonly members: Member[] = [];

  get size(): number {
    return this.members.length;
  }

  add(member: Member): void {
    member.place = this.members.length;
    this.members.push(member);
  }

  /** Does nothing when it is not a member. */
  delete(member: Member): void {
    const { place } = member;
    if (place < 0) return;
    const last = this.members.pop() as Member;
    if (last !== member) {
      this.members[place] = last;
      last.place = place;
    }
    member.place = -1;
  }

  /** A snapshot: changes during iteration do not affect it. */
  all(): readonly Member[] {
    return [...this.members];
  }
}

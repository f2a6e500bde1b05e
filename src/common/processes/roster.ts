/** Something that can stand in a roster: in one at a time. */
export interface RosterMember {
  /** Where it stands; -1 where it does not. The roster's own. */
  place: number;
}

/**
 * What is under way right now, where thousands come and go in a second. In no order.
 *
 * A `Set` would do the same and cost a quarter of the throughput: each time its table is full, V8 makes a new one to which the old
 * one points (for iterators that are under way). Once such a table is old enough to be promoted, it keeps the next alive, that
 * one the one after it, and with them all that ever stood in them, until the next full collection.
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

  /** Does nothing when it is not in. */
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

  /** As they stand now: whoever comes or goes while they are looked at changes nothing of it. */
  all(): readonly Member[] {
    return [...this.members];
  }
}

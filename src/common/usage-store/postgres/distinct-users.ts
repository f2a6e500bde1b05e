/** Bits of a bigint that are used: as many as a number of JavaScript holds exactly. */
const BITS = 52;
const HALF_BITS = 31;
const HALF = 2 ** HALF_BITS;

/**
 * How many end users there were, in each slot and in all. Users cannot be added up over slots, and sorting them by slot takes most of the time
 * of such an answer; so each user's row gathers in which slots it was seen, as bits, in one pass without sorting. Users that were seen alike
 * are counted together, and all of them come in one text: thousands of rows take longer to be sent than to be counted.
 *
 * `slot`: an expression for the number of a row's slot, from 1 on. `from`: rows with `end_user`, which is '' or null where there is none.
 */
export function usersSql(slot: string, slots: number, from: string): string {
  const masks = masksOf(slots);
  const gathered = masks.map(
    (name, at) =>
      `coalesce(bit_or(1::bigint << (slot - ${at * BITS + 1})) FILTER (WHERE slot BETWEEN ${at * BITS + 1} AND ${(at + 1) * BITS}), 0) AS ${name}`,
  );
  // The slot is looked for once a row where many look at it; for few, to keep it costs more than to look again.
  const once = masks.length > 1 ? 'OFFSET 0' : '';
  // Who is nobody is found out once a user, behind the second OFFSET, and not once a row.
  return `SELECT string_agg(concat_ws(' ', users, ${masks.join(', ')}), ',') AS seen FROM (
      SELECT count(*) AS users, ${masks.join(', ')} FROM (
        SELECT end_user, ${gathered.join(', ')}
        FROM (SELECT ${slot} AS slot, end_user FROM ${from} ${once}) AS seen GROUP BY end_user OFFSET 0
      ) AS each WHERE end_user <> '' GROUP BY ${masks.join(', ')}
    ) AS alike`;
}

/** Reads what it selected. `slots`: how many there are in each, the first one first. */
export function usersIn(
  seen: string | null,
  slots: number,
): { readonly total: number; readonly slots: readonly number[] } {
  const counts = new Array<number>(slots).fill(0);
  let total = 0;
  for (const alike of seen ? seen.split(',') : []) {
    const [users = 0, ...masks] = alike.split(' ').map(Number);
    total += users;
    for (const [at, mask] of masks.entries()) {
      addBits(counts, at * BITS, mask % HALF, users);
      addBits(counts, at * BITS + HALF_BITS, Math.floor(mask / HALF), users);
    }
  }
  return { total, slots: counts };
}

const masksOf = (slots: number): readonly string[] =>
  Array.from({ length: Math.max(1, Math.ceil(slots / BITS)) }, (_, at) => `mask_${at}`);

/** Adds the users to each slot whose bit is set, the lowest bit's from `first` on. */
function addBits(counts: number[], first: number, bits: number, users: number): void {
  for (let at = first, rest = bits; rest > 0; at++, rest >>>= 1)
    if ((rest & 1) === 1) counts[at] = (counts[at] ?? 0) + users;
}

/** Bits of a bigint that are used: with the sign, the numbers would be harder to read. */
const BITS = 62;

/**
 * How many end users there were, in each slot and in all. Users cannot be added up over slots, and sorting them by slot takes most of the time
 * of such an answer; so each user's row gathers in which slots it was seen, as bits, in one pass without sorting.
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
  return `SELECT ${masks.join(', ')}, count(*) AS users FROM (
      SELECT ${gathered.join(', ')}
      FROM (SELECT ${slot} AS slot, end_user FROM ${from} ${once}) AS seen WHERE end_user <> '' GROUP BY end_user
    ) AS users GROUP BY ${masks.join(', ')}`;
}

/** Reads what it selected. `slots`: how many there are in each, the first one first. */
export function usersIn(
  rows: readonly Readonly<Record<string, unknown>>[],
  slots: number,
): { readonly total: number; readonly slots: readonly number[] } {
  const masks = masksOf(slots);
  const counts = new Array<number>(slots).fill(0);
  let total = 0;
  for (const row of rows) {
    const users = Number(row['users']);
    total += users;
    for (const [at, name] of masks.entries())
      for (const bit of bitsOf(BigInt(row[name] as string)))
        counts[at * BITS + bit] = (counts[at * BITS + bit] ?? 0) + users;
  }
  return { total, slots: counts };
}

const masksOf = (slots: number): readonly string[] =>
  Array.from({ length: Math.max(1, Math.ceil(slots / BITS)) }, (_, at) => `mask_${at}`);

function* bitsOf(mask: bigint): Generator<number> {
  for (let bit = 0, rest = mask; rest > 0n; bit++, rest >>= 1n) if ((rest & 1n) === 1n) yield bit;
}

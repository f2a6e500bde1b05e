/** How a record and a simulation tell which way a conditional goes. `held`: the first condition that holds, -1 for none; `to`: where it leads, null for nowhere. */
export function conditionDecision(path: string, held: number, to: string | null): string {
  if (to === null) return `${path}: no condition holds and there is no default, so the request is refused`;
  const why = held < 0 ? 'no condition holds' : `conditions[${held}] holds`;
  return `${path}: ${why}, so ${to}`;
}

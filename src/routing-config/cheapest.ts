/** The lowest of some costs; null when all are unknown. */
export function leastOf(costs: readonly (number | null)[]): number | null {
  return costs.reduce(
    (least, cost) => (least === null || (cost !== null && cost < least) ? cost : least),
    null,
  );
}

/** The targets with the lowest cost. Targets without a known price come last; without any known price, all of them are returned. */
export function cheapest<T>(targets: readonly T[], costOf: (target: T) => number | null): readonly T[] {
  const least = leastOf(targets.map(costOf));
  return targets.filter((target) => costOf(target) === least);
}

/** The least of some costs; null when all are unknown. */
export function leastOf(costs: readonly (number | null)[]): number | null {
  return costs.reduce(
    (least, cost) => (least === null || (cost !== null && cost < least) ? cost : least),
    null,
  );
}

/** The targets that cost least. One whose price is unknown comes last, so all of them where no price is known. */
export function cheapest<T>(targets: readonly T[], costOf: (target: T) => number | null): readonly T[] {
  const least = leastOf(targets.map(costOf));
  return targets.filter((target) => costOf(target) === least);
}

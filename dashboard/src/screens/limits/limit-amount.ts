import type { Limit } from '../../api/limits';
import { limitAmount } from '../../parts/values/limit-meter';

/** Dollars, or a count of the measured unit. */
export const amountOf = ({ measure }: Limit, amount: number): string =>
  limitAmount(measure === 'cost' ? 'cost' : 'tokens', amount);

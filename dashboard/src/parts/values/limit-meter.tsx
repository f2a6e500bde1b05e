import { words } from '../../words/en';
import { money, nanoOfDollars, short } from '../format/numbers';
import { Meter } from './values';

/** A budget as the interface reports it: cost in dollars, or tokens. */
export interface ShownLimit {
  readonly type: 'cost' | 'tokens';
  readonly credit_limit: number;
  readonly usage: number;
}

export const limitAmount = (type: ShownLimit['type'], amount: number): string =>
  type === 'cost' ? money(nanoOfDollars(amount)) : short(amount);

/** The fullest of some budgets, or that there is none. */
export function LimitMeter({ label, limits }: { label: string; limits: readonly ShownLimit[] }) {
  const fullest = [...limits].sort((a, b) => b.usage / b.credit_limit - a.usage / a.credit_limit)[0];
  if (!fullest) return <span>{words.parts.noLimit}</span>;
  return (
    <Meter
      label={label}
      used={fullest.usage}
      limit={fullest.credit_limit}
      format={(amount) => limitAmount(fullest.type, amount)}
    />
  );
}

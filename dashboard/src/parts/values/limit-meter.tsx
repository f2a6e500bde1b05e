import { words } from '../../words/en';
import { money, nanoOfDollars, short } from '../format/numbers';
import { Meter } from './values';

/** A budget as reported by the API: cost in dollars, or tokens. */
export interface ShownLimit {
  readonly type: 'cost' | 'tokens';
  readonly credit_limit: number;
  /** The raise of the current period. */
  readonly raised_by: number;
  readonly usage: number;
}

export const limitAmount = (type: ShownLimit['type'], amount: number): string =>
  type === 'cost' ? money(nanoOfDollars(amount)) : short(amount);

const allowed = ({ credit_limit, raised_by }: ShownLimit): number => credit_limit + raised_by;

/** The fullest of some budgets, or a note that there is none. */
export function LimitMeter({ label, limits }: { label: string; limits: readonly ShownLimit[] }) {
  const fullest = [...limits].sort((a, b) => b.usage / allowed(b) - a.usage / allowed(a))[0];
  if (!fullest) return <span>{words.parts.noLimit}</span>;
  return (
    <Meter
      label={label}
      used={fullest.usage}
      limit={allowed(fullest)}
      format={(amount) => limitAmount(fullest.type, amount)}
    />
  );
}

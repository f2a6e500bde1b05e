import { IconCheck, IconX } from '@tabler/icons-react';
import { exact, money, nanoOfDollars, short } from '../../parts/format/numbers';
import { date } from '../../parts/format/times';
import { useZone } from '../../parts/zone';
import { apiKeyWords } from '../../words/api-keys';
import { expiryOf, type KeyForm } from './key-form';
import styles from './key-form.module.css';
import { type BudgetRow, budgetsOf, ratesOf } from './limit-rows';
import type { KeyLevel } from './scope-groups';
import { abilitiesOf, inabilitiesOf } from './scope-summary';

const texts = apiKeyWords.dialog;

/** Longer lists show how many more there are. */
const SHOWN = 10;

interface PreviewProps {
  readonly form: KeyForm;
  readonly level: KeyLevel;
  /** When the form was opened: durations count from then. */
  readonly openedAt: number;
  /** The expiry that the key has. */
  readonly expiresAt?: string | null;
}

/** What the key can do, in words. */
export function KeyPreview({ form, level, openedAt, expiresAt = null }: PreviewProps) {
  const abilities = abilitiesOf(form.scopes);
  const more = abilities.length - SHOWN;
  return (
    <aside className={styles.preview} aria-live="polite">
      <h3>{texts.can}</h3>
      <ul>
        {abilities.length === 0 && <li>{texts.nothing}</li>}
        {abilities.slice(0, SHOWN).map((ability) => (
          <li key={ability}>
            <IconCheck size={14} aria-hidden /> {ability}
          </li>
        ))}
        {more > 0 && <li>{texts.more(more)}</li>}
      </ul>
      <h3>{texts.cannot}</h3>
      <ul className={styles.cannot}>
        {inabilitiesOf(form.scopes, level).map((inability) => (
          <li key={inability}>
            <IconX size={14} aria-hidden /> {inability}
          </li>
        ))}
      </ul>
      <Ends form={form} openedAt={openedAt} expiresAt={expiresAt} />
    </aside>
  );
}

const amountOf = (amount: number, type: BudgetRow['type'] | undefined): string =>
  type === 'tokens' ? texts.limits.tokens(short(amount)) : money(nanoOfDollars(amount));

function Ends({ form, openedAt, expiresAt = null }: Omit<PreviewProps, 'level'>) {
  const zone = useZone();
  const chosen = expiryOf(form, openedAt);
  const expires = chosen === undefined ? (expiresAt === null ? null : new Date(expiresAt)) : chosen;
  const ends = [
    ...(expires ? [texts.endsOn(date(expires, zone))] : []),
    ...(budgetsOf(form.budgets) ?? []).map(({ credit_limit, type, periodic_reset, periodic_reset_days }) =>
      texts.endsBudget(
        amountOf(credit_limit, type),
        periodic_reset_days
          ? texts.limits.inDays(periodic_reset_days)
          : (texts.limits.within[periodic_reset ?? 'none'] ?? ''),
      ),
    ),
  ];
  const rates = (ratesOf(form.rates) ?? []).map(({ type, value, unit }) =>
    texts.rateNote(exact(value), type, unit ? (texts.limits.units[unit] ?? unit) : null),
  );
  if (ends.length === 0 && rates.length === 0) return null;
  return (
    <p className={styles.ends}>
      {ends.length > 0 && `${texts.ends} ${ends.join(texts.or)}. `}
      {rates.join(' ')}
    </p>
  );
}

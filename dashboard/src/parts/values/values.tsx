import { Tooltip } from '@mantine/core';
import { IconAlertTriangle, IconCheck, IconExclamationCircle } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { words } from '../../words/en';
import { exactMoney, money, NONE } from '../format/numbers';
import { clock, date, exactMoment, moment, relative } from '../format/times';
import { useNow } from './use-now';
import { useZone } from '../zone';
import styles from './values.module.css';

/** An amount in nano-dollars; every digit on hover. Null is unknown and shown as a dash. */
export function Money({ nano }: { nano: number | null }) {
  if (nano === null) return <span className={styles.none}>{NONE}</span>;
  return (
    <span className={styles.number} title={exactMoney(nano)}>
      {money(nano)}
    </span>
  );
}

interface MomentProps {
  readonly at: string | Date | null;
  /** `clock` for rows of one day, `date` for times months away. */
  readonly as?: 'relative' | 'clock' | 'moment' | 'date';
}

/** A time in the user's zone, exact with its zone on hover. */
export function Moment({ at, as = 'relative' }: MomentProps) {
  const zone = useZone();
  const now = useNow();
  if (at === null) return <span className={styles.none}>{NONE}</span>;
  const time = new Date(at);
  const shown = {
    relative: () => relative(time, now),
    clock: () => clock(time, zone),
    moment: () => moment(time, zone),
    date: () => date(time, zone),
  };
  return (
    <time
      className={as === 'clock' ? styles.mono : styles.number}
      dateTime={time.toISOString()}
      title={exactMoment(time, zone)}
    >
      {shown[as]()}
    </time>
  );
}

export type Tone = 'neutral' | 'success' | 'warning' | 'error' | 'accent';

const TONE_ICONS = { success: IconCheck, warning: IconAlertTriangle, error: IconExclamationCircle } as const;

/** A word or number on a tinted background. The text repeats the meaning of the colour; `withIcon` adds an icon for short texts. */
export function StatusPill({
  tone,
  children,
  withIcon = false,
}: {
  tone: Tone;
  children: ReactNode;
  withIcon?: boolean;
}) {
  const Icon = withIcon && tone !== 'neutral' && tone !== 'accent' ? TONE_ICONS[tone] : null;
  return (
    <span className={styles.pill} data-tone={tone}>
      {Icon && <Icon size={14} aria-hidden />}
      {children}
    </span>
  );
}

/** The tone of an HTTP status: 446 and other refusals of the gateway are warnings, failures are errors. */
export function toneOfStatus(status: number): Tone {
  if (status >= 500) return 'error';
  if (status >= 400) return 'warning';
  return status >= 200 && status < 300 ? 'success' : 'neutral';
}

/** A dash for a missing value, else its text; muted unless it is the row's subject. */
export function Value({
  children,
  isMuted = false,
}: {
  children: string | null | undefined;
  isMuted?: boolean;
}) {
  if (children === null || children === undefined || children === '')
    return <span className={styles.none}>{NONE}</span>;
  return <span className={isMuted ? styles.muted : undefined}>{children}</span>;
}

interface MeterProps {
  readonly label: string;
  readonly used: number;
  readonly limit: number;
  /** The format of amounts. */
  readonly format: (amount: number) => string;
  /** Marks it as exhausted, unless text beside it does. */
  readonly isMarked?: boolean;
}

const NEARLY_FULL = 0.8;

/** How much of a limit is used: in words and as a bar. */
export function Meter({ label, used, limit, format, isMarked = false }: MeterProps) {
  const share = limit > 0 ? Math.min(1, used / limit) : 1;
  const tone = share >= 1 ? 'error' : share >= NEARLY_FULL ? 'warning' : 'accent';
  const text = words.parts.of(format(used), format(limit));
  return (
    <Tooltip label={`${label}: ${text}`}>
      <div
        className={styles.meter}
        role="meter"
        aria-label={label}
        aria-valuenow={used}
        aria-valuemin={0}
        aria-valuemax={limit}
        aria-valuetext={text}
      >
        <span className={styles.meterText}>
          {text} {isMarked && share >= 1 && <StatusPill tone="error">{words.parts.exhausted}</StatusPill>}
        </span>
        <span className={styles.track}>
          <span className={styles.fill} data-tone={tone} style={{ width: `${share * 100}%` }} />
        </span>
      </div>
    </Tooltip>
  );
}

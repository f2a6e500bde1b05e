import type { LogDetail } from '../../../api/logs';
import { duration } from '../../../parts/format/numbers';
import { logWords } from '../../../words/log';
import styles from '../log-drawer.module.css';

const { timing } = logWords;

interface Bar {
  readonly label: string;
  readonly startMs: number;
  readonly lengthMs: number;
  readonly tone?: 'bar';
}

function barsOf(log: LogDetail): readonly Bar[] {
  const began = Date.parse(log.created_at);
  const attempts = log.attempts.map(({ provider, started_at, duration_ms }, at): Bar => ({
    label: timing.attempt(at + 1, provider),
    startMs: Math.max(0, Date.parse(started_at) - began),
    lengthMs: duration_ms,
    tone: 'bar',
  }));
  const firstToken =
    log.first_token_ms === null
      ? []
      : [{ label: timing.firstToken, startMs: 0, lengthMs: log.first_token_ms }];
  return [
    { label: timing.total, startMs: 0, lengthMs: log.duration_ms },
    ...firstToken,
    ...attempts,
    { label: timing.overhead, startMs: 0, lengthMs: log.overhead_us / 1_000 },
  ];
}

/** The time spent in each phase of a request, on one scale. */
export function TimingTab({ log }: { log: LogDetail }) {
  const bars = barsOf(log);
  const whole = Math.max(1, ...bars.map(({ startMs, lengthMs }) => startMs + lengthMs));
  return (
    <>
      <h3 className={styles.section}>{timing.title}</h3>
      {bars.map(({ label, startMs, lengthMs, tone }) => (
        <div key={label}>
          <p className={styles.barLabel}>
            <span>
              {label} {startMs > 0 && <span className={styles.at}>{timing.started(duration(startMs))}</span>}
            </span>
            <span className={styles.at}>
              {lengthMs < 1 ? `${Math.round(lengthMs * 1_000)} µs` : duration(lengthMs)}
            </span>
          </p>
          <div className={styles.bar} aria-hidden>
            <span
              data-tone={tone}
              style={{ left: `${(startMs / whole) * 100}%`, width: `${(lengthMs / whole) * 100}%` }}
            />
          </div>
        </div>
      ))}
    </>
  );
}

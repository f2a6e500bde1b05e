import { Counter, register } from 'prom-client';
import { createLogger } from '../../common/observability/logger.js';
import {
  RecentRefusals,
  REFUSAL_REASONS,
  type RefusalReason,
  type RefusedRequest,
} from './recent-refusals.js';

const QUIET_MS = 30_000;
const logger = createLogger('auth');

/** Counts and notes refused credentials, and logs each reason at most once in 30 seconds: a wrong key in a loop must not fill the log. */
export class RefusedCredentials {
  /** For the list of operators (adapters/refused-credential-writer.ts). */
  readonly recent = new RecentRefusals();
  private readonly counts = new Map<RefusalReason, number>();
  private readonly loggedAt = new Map<RefusalReason, { readonly at: number; readonly count: number }>();

  constructor(
    private readonly log: Pick<typeof logger, 'warn'> = logger,
    private readonly now: () => number = Date.now,
  ) {}

  count(refused: RefusedRequest): void {
    const { reason, address } = refused;
    const at = this.now();
    const count = (this.counts.get(reason) ?? 0) + 1;
    this.counts.set(reason, count);
    this.recent.add(refused, at);
    const last = this.loggedAt.get(reason);
    if (last && at - last.at < QUIET_MS) return;
    this.loggedAt.set(reason, { at, count });
    this.log.warn({ reason, address, since_last: count - (last?.count ?? 0) }, 'A credential was refused.');
  }

  countOf(reason: RefusalReason): number {
    return this.counts.get(reason) ?? 0;
  }
}

/** Of this process. */
export const refusedCredentials = new RefusedCredentials();

new Counter({
  name: 'gatehouse_refused_credentials_total',
  help: 'Requests without a valid credential, by reason.',
  labelNames: ['reason'],
  registers: [register],
  collect() {
    this.reset();
    for (const reason of REFUSAL_REASONS) this.inc({ reason }, refusedCredentials.countOf(reason));
  },
});

import { Counter, register } from 'prom-client';
import { createLogger } from '../../common/observability/logger.js';

/** Why a caller was not identified. Callers see less: they could learn which keys exist. */
export const REFUSAL_REASONS = [
  'missing',
  'malformed',
  'unknown',
  'expired',
  'revoked',
  'replaced',
  'token',
  'provider_key',
  'throttled',
] as const;

export type RefusalReason = (typeof REFUSAL_REASONS)[number];

const QUIET_MS = 30_000;
const logger = createLogger('auth');

/** Counts refused credentials, and logs each reason at most once in 30 seconds: a wrong key in a loop must not fill the log. */
export class RefusedCredentials {
  readonly #counts = new Map<RefusalReason, number>();
  readonly #loggedAt = new Map<RefusalReason, { readonly at: number; readonly count: number }>();

  constructor(
    private readonly log: Pick<typeof logger, 'warn'> = logger,
    private readonly now: () => number = Date.now,
  ) {}

  count(reason: RefusalReason, address: string): void {
    const count = (this.#counts.get(reason) ?? 0) + 1;
    this.#counts.set(reason, count);
    const last = this.#loggedAt.get(reason);
    const at = this.now();
    if (last && at - last.at < QUIET_MS) return;
    this.#loggedAt.set(reason, { at, count });
    this.log.warn({ reason, address, since_last: count - (last?.count ?? 0) }, 'A credential was refused.');
  }

  countOf(reason: RefusalReason): number {
    return this.#counts.get(reason) ?? 0;
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

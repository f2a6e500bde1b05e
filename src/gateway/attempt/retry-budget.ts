import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Principal } from '../../auth/principal.js';
import { broughtCredentials } from '../recording/masking.js';
import type { Target } from '../types/target.js';

/** Share of a target's requests under way that may be waiting for, or be in, a further try. */
const SHARE = 0.2;
/** So many always may. */
const AT_LEAST = 3;

/**
 * How many retries a target bears: when it is down, they would be most of what it gets, and keep it down
 * (https://www.envoyproxy.io/docs/envoy/latest/api-v3/config/cluster/v3/circuit_breaker.proto). Counted per process, and
 * for each tenant and credential separately: one customer's retries never use up those of another.
 */
export class RetryBudgets {
  private readonly counts = new Map<string, Counts>();

  /** One request to a target that may be retried. It must leave. `headers` are the client's. */
  enter(caller: Principal, target: Target, headers: IncomingHttpHeaders): RetryBudget {
    const key = budgetKey(caller, target, headers);
    let counts = this.counts.get(key);
    if (!counts) this.counts.set(key, (counts = { active: 0, retrying: 0 }));
    counts.active += 1;
    return new RetryBudget(counts, () => {
      if (counts.active === 0) this.counts.delete(key);
    });
  }
}

function budgetKey(
  { organizationId, workspaceId }: Principal,
  target: Target,
  headers: IncomingHttpHeaders,
): string {
  return `${organizationId} ${workspaceId ?? ''} ${credentialId(target, headers)} ${target.origin}`;
}

/** A provider key has no id, so its digest stands for it: keys are not kept in the clear. */
function credentialId({ virtualKey, credentials: { key } }: Target, headers: IncomingHttpHeaders): string {
  if (virtualKey) return virtualKey.id;
  const secrets = key ? [key.reveal()] : broughtCredentials(headers);
  return createHash('sha256').update(JSON.stringify(secrets)).digest('base64url');
}

interface Counts {
  active: number;
  retrying: number;
}

/** One request's part in the budget of its target. */
export class RetryBudget {
  private isRetrying = false;

  constructor(
    private readonly counts: Counts,
    private readonly onLeft: () => void,
  ) {}

  /** Whether a further try is within the budget; it counts until the next one is asked for, or the request leaves. */
  take(): boolean {
    this.giveBack();
    if (this.counts.retrying >= Math.max(AT_LEAST, SHARE * this.counts.active)) return false;
    this.counts.retrying += 1;
    this.isRetrying = true;
    return true;
  }

  leave(): void {
    this.giveBack();
    this.counts.active -= 1;
    this.onLeft();
  }

  private giveBack(): void {
    if (this.isRetrying) this.counts.retrying -= 1;
    this.isRetrying = false;
  }
}

import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Principal } from '../../auth/principal.js';
import { clientCredentials } from '../recording/masking.js';
import type { Target } from '../types/target.js';

/** Maximum share of a target's active requests that may be in a retry or waiting for one. */
const SHARE = 0.2;
/** Retries that are always allowed. */
const AT_LEAST = 3;

/**
 * Limits the retries to a target: if it is down, they would be most of its traffic and keep it down
 * (https://www.envoyproxy.io/docs/envoy/latest/api-v3/config/cluster/v3/circuit_breaker.proto). Counted per process, and separately for
 * each tenant and credential: one customer's retries never use up another's.
 */
export class RetryBudgets {
  private readonly counts = new Map<string, RetryCounts>();

  /** Registers a request to a target that may be retried. It must leave. `headers` are the client's. */
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

/** A provider key has no id, so its digest identifies it: keys are not kept in plain text. */
function credentialId({ virtualKey, credentials: { key } }: Target, headers: IncomingHttpHeaders): string {
  if (virtualKey) return virtualKey.id;
  const secrets = key ? [key.reveal()] : clientCredentials(headers);
  return createHash('sha256').update(JSON.stringify(secrets)).digest('base64url');
}

interface RetryCounts {
  active: number;
  retrying: number;
}

/** One request's share of its target's budget. */
export class RetryBudget {
  private isRetrying = false;

  constructor(
    private readonly counts: RetryCounts,
    private readonly onLeft: () => void,
  ) {}

  /** Whether the budget allows another retry. The retry counts until the next one is taken or the request leaves. */
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

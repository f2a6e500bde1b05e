import type { CachedRequest } from '../caching/response-cache.js';
import type { GuardedRequest } from '../guardrails/guard-request.js';
import type { AttemptTrail } from '../types/attempt-trail.js';
import type { RequestContent } from '../types/content.js';
import type { SentRequest } from './retrying-sender.js';

/** With the fields of a form, which may be known only once all of it has arrived. */
export const withContent = (trail: AttemptTrail, content: RequestContent): AttemptTrail => {
  const { json: body, fields = null, model, isStreamed } = content;
  return trail.body === body &&
    trail.fields === fields &&
    trail.model === model &&
    trail.isStreamed === isStreamed
    ? trail
    : { ...trail, body, fields, model, isStreamed };
};

/** With a list for the results of guardrails, which continues that of earlier targets. */
export const withHookResults = (trail: AttemptTrail, isGuarded: boolean): AttemptTrail =>
  isGuarded && !trail.hookResults
    ? { ...trail, hookResults: { before_request_hooks: [], after_request_hooks: [] } }
    : trail;

export const afterGuardrails = (trail: AttemptTrail, guarded: GuardedRequest | null): AttemptTrail =>
  guarded?.redactedBody
    ? { ...trail, redactedBody: guarded.redactedBody, body: guarded.content.json }
    : trail;

export const afterTranslation = (
  trail: AttemptTrail,
  { dropped, isUnlisted, hidesUsage }: Pick<AttemptTrail, 'dropped' | 'isUnlisted' | 'hidesUsage'>,
): AttemptTrail =>
  dropped || isUnlisted || hidesUsage ? { ...trail, dropped, isUnlisted, hidesUsage } : trail;

export const afterCache = (trail: AttemptTrail, cached: CachedRequest): AttemptTrail => {
  const { status, score, notCompared } = cached;
  if (status === null) return trail;
  const decisions = notCompared === null ? trail.decisions : [...(trail.decisions ?? []), notCompared];
  return { ...trail, cacheStatus: status, cacheScore: score, decisions };
};

export const afterRetries = (
  trail: AttemptTrail,
  { retries, isExhausted }: Pick<SentRequest, 'retries' | 'isExhausted'>,
): AttemptTrail => (retries > 0 || isExhausted ? { ...trail, retries, isExhausted } : trail);

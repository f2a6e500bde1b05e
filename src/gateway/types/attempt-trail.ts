import type { CacheStatus } from '../../request-log/record.js';
import type { Json } from '../../providers/endpoint.js';
import type { PassingForm, RequestContent } from './content.js';
import type { HookResults } from './hook-results.js';
import { ROOT_OPTION } from './plan.js';
import type { Target } from './target.js';

/**
 * The results of one attempt at a target, for the record of its request. A value: each step of the attempt makes a new one, and the attempt
 * returns the last.
 */
export interface AttemptTrail {
  /** The request in the client's dialect, as the target received it; null if it was not parsed. */
  readonly body: Json | null;
  /** The fields of a form that was read whole, files included; null for any other body. */
  readonly fields: Json | null;
  readonly model: string | null;
  readonly isStreamed: boolean;
  /** The form that streams through, whose fields after its first file are known later; null for any other body. */
  readonly form: PassingForm | null;
  /** Null before the target is known. */
  readonly target: Target | null;
  /** The path of the target in the config. */
  readonly option: string;
  /** All retries at the target were used and failed. */
  readonly isExhausted: boolean;
  /** Failed tries at the target that were retried there. */
  readonly retries: number;
  /** Parameters that the target does not support and that were dropped; null for none. */
  readonly dropped: readonly string[] | null;
  /** The target's provider does not list the endpoint, and the request was forwarded all the same. */
  readonly isUnlisted: boolean;
  /** The gateway requested the stream's usage, which the client did not: the client does not receive it. */
  readonly hidesUsage: boolean;
  /** The result of the response cache for the target; null if it was not used. */
  readonly cacheStatus: CacheStatus | null;
  /** Similarity of the semantic cache match, 0 to 1; null if nothing was compared. */
  readonly cacheScore: number | null;
  /** Choices at the target and at earlier ones, with their reasons; null for none. */
  readonly decisions: readonly string[] | null;
  /** Results of guardrails, also at earlier targets; null if there are none. Guardrails on the response add theirs. */
  readonly hookResults: HookResults | null;
  /** The body without what guardrails redacted, which the log stores; null if they changed nothing at this target and earlier ones. */
  readonly redactedBody: Buffer | null;
}

/** The trail of a request of which nothing is known. */
export const NO_TRAIL: AttemptTrail = {
  body: null,
  fields: null,
  model: null,
  isStreamed: false,
  form: null,
  target: null,
  option: ROOT_OPTION,
  isExhausted: false,
  retries: 0,
  dropped: null,
  isUnlisted: false,
  hidesUsage: false,
  cacheStatus: null,
  cacheScore: null,
  decisions: null,
  hookResults: null,
  redactedBody: null,
};

/** The trail of a request that was read and not yet routed. */
export const trailOf = (content: RequestContent): AttemptTrail =>
  trailAt(NO_TRAIL, null, ROOT_OPTION, content);

/**
 * The trail at a target, with the content for it. Of earlier targets, only choices and results of guardrails remain. Written out member by
 * member, so that all trails have one hidden class.
 */
export const trailAt = (
  { decisions, hookResults, redactedBody }: AttemptTrail,
  target: Target | null,
  option: string,
  { json, fields, model, isStreamed, form }: RequestContent,
): AttemptTrail => ({
  body: json,
  fields: fields ?? null,
  model,
  isStreamed,
  form: form ?? null,
  target,
  option,
  isExhausted: false,
  retries: 0,
  dropped: null,
  isUnlisted: false,
  hidesUsage: false,
  cacheStatus: null,
  cacheScore: null,
  decisions,
  hookResults,
  redactedBody,
});

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

/** What guardrails found in a request, and what they made of it. */
interface GuardedContent {
  readonly content: RequestContent;
  readonly redactedBody: Buffer | null;
}

export const afterGuardrails = (trail: AttemptTrail, guarded: GuardedContent | null): AttemptTrail =>
  guarded?.redactedBody
    ? { ...trail, redactedBody: guarded.redactedBody, body: guarded.content.json }
    : trail;

export const afterTranslation = (
  trail: AttemptTrail,
  { dropped, isUnlisted, hidesUsage }: Pick<AttemptTrail, 'dropped' | 'isUnlisted' | 'hidesUsage'>,
): AttemptTrail =>
  dropped || isUnlisted || hidesUsage ? { ...trail, dropped, isUnlisted, hidesUsage } : trail;

/** The result of looking into the response cache. */
interface CacheResult {
  readonly status: CacheStatus | null;
  readonly score: number | null;
  /** Why the meaning of the request was not compared; null if it was, or need not be. */
  readonly notCompared: string | null;
}

export const afterCache = (
  trail: AttemptTrail,
  { status, score, notCompared }: CacheResult,
): AttemptTrail => {
  if (status === null) return trail;
  const decisions = notCompared === null ? trail.decisions : [...(trail.decisions ?? []), notCompared];
  return { ...trail, cacheStatus: status, cacheScore: score, decisions };
};

export const afterRetries = (
  trail: AttemptTrail,
  { retries, isExhausted }: Pick<AttemptTrail, 'retries' | 'isExhausted'>,
): AttemptTrail => (retries > 0 || isExhausted ? { ...trail, retries, isExhausted } : trail);

/** Maximum length of a model's name in the record. */
export const MODEL_CHARS_MAX = 256;

/** The requested model: a form may name it after its file. */
export function modelOf({ model, form }: AttemptTrail): string | null {
  return model ?? (form?.field('model')?.slice(0, MODEL_CHARS_MAX) || null);
}

/** Whether a stream is requested: a form may say so after its file. */
export function isStreamRequested({ isStreamed, form }: AttemptTrail): boolean {
  return isStreamed || wantsStream(form?.field('stream'));
}

const YES = /^(?:true|t|yes|y|on|1)$/i;

/**
 * Whether the `stream` of a request requests a stream. Servers that parse JSON leniently accept `1` and `"true"` as true, too:
 * https://docs.pydantic.dev/latest/concepts/conversion_table/
 */
export function wantsStream(stream: unknown): boolean {
  return stream === true || stream === 1 || (typeof stream === 'string' && YES.test(stream));
}

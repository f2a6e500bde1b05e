import type { Principal } from '../../auth/principal.js';
import { AppError } from '../../common/errors/app-error.js';
import { coverageOf } from './covered/coverage.js';
import type { AnswerReading } from './covered/coverage-row.js';
import type { GuardInput } from './guard-request.js';
import { asRequired, type Guards, joinedGuards, NO_GUARDS } from './guardrails.js';
import { mayDeny } from './part-filters.js';
import { type Hook, needsReading } from './run-hooks.js';

/** The guardrails of a request, by their origin. */
export interface RequestGuardrails {
  /** Of the organization and the workspace. */
  readonly imposed: Guards;
  /** Of the config. */
  readonly own: Guards;
}

/**
 * The guardrails of a request, in order. Refuses with `guardrail_inapplicable` a request that cannot be guarded, by the tables of
 * `coverage`: where texts of the request, or of its response, would pass unread.
 *
 * A guardrail that the caller cannot disable refuses wherever it judges texts; one of the config only where it may deny, and only for the
 * response: what the caller sends is the caller's own choice.
 */
export function applicable(
  guardrails: RequestGuardrails,
  { exchangeFacts, content, headers, caller }: GuardInput,
): Guards {
  const { imposed, own } = byAuthority(guardrails, caller);
  const { request, answer } = coverageOf(exchangeFacts);
  if (content.isWebSocket) refuseAny(imposed, own, 'a WebSocket');
  if (content.body !== null) {
    if (request === 'outside') refuseAny(imposed, own, 'a realtime session');
    if (request === 'unread') refuse([...imposed.input, ...imposed.output], UNREAD_REQUEST);
  }
  if (answer === 'unread') {
    refuse(imposed.output, UNREAD_ANSWER);
    refuse(own.output.filter(mayDeny), UNREAD_ANSWER);
  }
  const guards = judging(joinedGuards(imposed, own), answer);
  const part = guards.output.length > 0 ? partAskedFor({ exchangeFacts, content, headers }) : null;
  if (part !== null) refuse(guards.output, `a part of a response (${part})`);
  return guards;
}

/** The guardrails that the caller cannot disable, and those that it chose. A config that its key may not override is no choice. */
function byAuthority({ imposed, own }: RequestGuardrails, { routing }: Principal): RequestGuardrails {
  return routing?.allowsOverride === false
    ? { imposed: asRequired(joinedGuards(imposed, own)), own: NO_GUARDS }
    : { imposed: asRequired(imposed), own };
}

const UNREAD_REQUEST = 'a request that the gateway does not read';
const UNREAD_ANSWER = 'the response of this path';

type PartialRequest = Pick<GuardInput, 'exchangeFacts' | 'content' | 'headers'>;

/** What asks for a part of a response. A withheld one could be fetched in pieces, none of which shows what a guardrail looks for. */
function partAskedFor({ exchangeFacts, content, headers }: PartialRequest): string | null {
  if (headers.range !== undefined) return 'header Range';
  if (headers['last-event-id'] !== undefined) return 'header Last-Event-ID';
  const { resumedBy } = coverageOf(exchangeFacts);
  const given = resumedBy ? parametersIn(content.path.query) : [];
  const name = resumedBy?.find((one) => given.includes(one));
  return name === undefined ? null : `parameter ${name}`;
}

/** Names in lower case and without an index, as tolerant servers read them: `a;Starting_After[]=1`. */
const parametersIn = (query: string): string[] =>
  [...new URLSearchParams(query.replaceAll(';', '&')).keys()].map((name) =>
    name.toLowerCase().replace(/\[.*$/, ''),
  );

function refuseAny(imposed: Guards, own: Guards, what: string): void {
  refuse([...imposed.input, ...imposed.output], what);
  refuse([...own.input, ...own.output].filter(mayDeny), what);
}

function refuse(hooks: readonly Hook[], what: string): void {
  const hook = hooks.find(needsReading);
  if (hook) throw new AppError('guardrail_inapplicable', { guardrail: hook.spec.id, what });
}

/** The guardrails with the checks that a kind of response is for. */
function judging(guards: Guards, answer: AnswerReading): Guards {
  if (guards.output.length === 0) return guards;
  if (answer === 'searched') return { ...guards, output: searching(guards.output) };
  return answer === 'metadata' ? { ...guards, output: guards.output.flatMap(withoutTextChecks) } : guards;
}

/** The hooks with only those checks that look for forbidden content: nothing can be required of such a response. */
export const searching = (hooks: readonly Hook[]): readonly Hook[] =>
  hooks.flatMap((hook) =>
    withChecks(hook, ({ readsTexts, check }) => !readsTexts || check.looksEverywhere === true),
  );

const withoutTextChecks = (hook: Hook): readonly Hook[] => withChecks(hook, ({ readsTexts }) => !readsTexts);

function withChecks(hook: Hook, isKept: (check: Hook['checks'][number]) => boolean): readonly Hook[] {
  const checks = hook.checks.filter(isKept);
  if (checks.length === hook.checks.length) return [hook];
  return checks.length === 0 ? [] : [{ ...hook, checks }];
}

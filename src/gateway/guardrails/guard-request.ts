import { isUtf8 } from 'node:buffer';
import { mapMaybePromise } from '../../common/maybe-promise.js';
import type { IncomingHttpHeaders } from 'node:http';
import type { Principal } from '../../auth/principal.js';
import { AppError } from '../../common/errors/app-error.js';
import type { Json } from '../../providers/endpoint.js';
import { formFields } from '../ingress/form-fields.js';
import { withFields } from '../translation/outgoing.js';
import type { RequestContent } from '../types/content.js';
import { repeatedInWords, repeatedMember } from '../types/repeated-member.js';
import type { ExchangeFacts } from '../types/exchange-facts.js';
import type { Facts } from './check.js';
import { Placeholders } from './placeholders.js';
import type { Guards } from './guardrails.js';
import type { HookResults } from '../types/hook-results.js';
import {
  type Hook,
  isDenial,
  type Judgement,
  type Matter,
  runHooks,
  type UnreadRefusal,
} from './run-hooks.js';
import { editedJson } from '../../common/json/edited-json.js';
import { ENDPOINT_TEXTS } from './texts/endpoint-texts.js';
import { utf8ReaderOf } from './texts/charset.js';
import { FormTexts } from './texts/form-texts.js';
import type { TextTree } from './texts/text-tree.js';
import { unread, type UnreadContent, unreadError } from './texts/unread.js';

/** A request that passed the input guardrails. */
export interface GuardedRequest {
  readonly guards: Guards;
  readonly facts: Facts;
  /** The content to send: the same object if nothing changed it. */
  readonly content: RequestContent;
  /** The body without what guardrails redacted; null if they changed nothing. */
  readonly redactedBody: Buffer | null;
  /** A guardrail without the right to deny failed: a successful response gets the status 246. */
  readonly hasFailed: boolean;
  /** Results of the guardrails so far; those on the response are added. */
  readonly results: HookResults;
}

export interface GuardInput {
  readonly exchangeFacts: ExchangeFacts;
  /** Receives the results of the guardrails. */
  readonly results: HookResults;
  readonly caller: Principal;
  readonly headers: IncomingHttpHeaders;
  readonly content: RequestContent;
}

/**
 * Returns without a promise when no check has to be awaited. Rejects with `guardrail_denied` when a guardrail denies the request, and with
 * `body_unreadable` or `invalid_request` when one that must read it cannot.
 */
export function guardRequest(guards: Guards, asking: GuardInput): GuardedRequest | Promise<GuardedRequest> {
  const { form } = asking.content;
  if (form && needsTexts(guards.input)) return guardForm(guards, asking);
  const { json } = asking.content;
  const tree = treeOf(asking);
  const texts = tree && needsTexts(guards.input) ? unreadBody(asking) : null;
  const judgement = judgedRequest(guards, asking, { json, tree, texts });
  return mapMaybePromise(judgement, (one) => passed(one, guards, asking));
}

/** The fields of a form are judged when the whole form has arrived. */
async function guardForm(guards: Guards, asking: GuardInput): Promise<GuardedRequest> {
  const content = await withFields(asking.content);
  const { results, headers } = asking;
  const form = FormTexts.of(content.body, headers['content-type']);
  const read = { ...asking, content };
  const texts = form.unread ? form : null;
  const fieldsBefore = form.unread ? null : form.json;
  const judgement = await judgedRequest(guards, read, { json: fieldsBefore, tree: treeOf(read), texts });
  const { json, facts } = judgement.matter;
  refuseDenied(judgement, results);
  const { hasFailed } = judgement;
  const passing = { guards, facts, hasFailed, results };
  if (form.unread || json === form.json || !json) return { ...passing, content, redactedBody: null };
  if (form.hasOtherNames(json))
    throw unreadError(unread('file', '', 'the name of a file cannot be redacted'));
  const body = form.withFields(json);
  const fields = formFields(body, form.boundary);
  return { ...passing, content: { ...content, body, fields }, redactedBody: body };
}

/** The places of a request's texts; null if it has none, or none that are read. */
function treeOf({ exchangeFacts: { endpoint }, content }: GuardInput): TextTree | null {
  return (content.body !== null && endpoint && ENDPOINT_TEXTS[endpoint.id]?.request) || null;
}

function judgedRequest(
  guards: Guards,
  asking: GuardInput,
  { json, tree, texts }: Pick<Matter, 'json' | 'tree' | 'texts'>,
): Judgement | Promise<Judgement> {
  const facts = factsOf(asking, json);
  return judged(
    guards.input,
    { side: 'input', facts, json, tree, texts },
    asking.results.before_request_hooks,
  );
}

/** Why a body as a whole cannot be read: it cannot be parsed, or another parser may read it differently. Null if it can. */
function unreadBody({ content, headers }: GuardInput): UnreadContent | null {
  const { json, body, unreadable: reason } = content;
  if (!json) return unread('format', '', reason);
  if (!Buffer.isBuffer(body)) return null;
  if (!isUtf8(body) || !utf8ReaderOf(headers['content-type'])(body)) return unread('charset');
  const name = repeatedMember(content);
  return name === null ? null : unread('duplicate', '', repeatedInWords(name));
}

/** Throws if the request is denied, or cannot be read where it must be. */
function refuseDenied({ isDenied, refusal }: Judgement, results: HookResults): void {
  if (refusal) throw unreadError(refusal.content);
  if (isDenied) throw denial(results, refusal);
}

function passed(judgement: Judgement, guards: Guards, { results, content }: GuardInput): GuardedRequest {
  const { matter, hasFailed } = judgement;
  const { json, facts } = matter;
  refuseDenied(judgement, results);
  if (json === content.json) return { guards, facts, content, redactedBody: null, hasFailed, results };
  const changed = withJson(content, json);
  const { json: request, body: redactedBody } = changed;
  return { guards, facts: { ...facts, request }, content: changed, redactedBody, hasFailed, results };
}

/** Runs hooks and records their results. Returns without a promise when no check has to be awaited. */
export function judged(
  hooks: readonly Hook[],
  matter: Matter,
  results: HookResults['before_request_hooks'],
): Judgement | Promise<Judgement> {
  const noted = (judgement: Judgement): Judgement => {
    for (const result of judgement.results) results.push(result);
    return judgement;
  };
  const judgement = runHooks(hooks, matter, (result) => results.push(result));
  return mapMaybePromise(judgement, noted);
}

/** The error of an exchange that a guardrail denied. */
export function denial(
  { before_request_hooks: before, after_request_hooks: after }: HookResults,
  refusal: UnreadRefusal | null,
): AppError {
  if (refusal) return new AppError('guardrail_denied', { guardrail: refusal.guardrail, side: 'response' });
  const hook = [...after, ...before].findLast(isDenial);
  const side = hook && after.includes(hook) ? 'response' : 'request';
  return new AppError('guardrail_denied', { guardrail: hook?.id ?? '', side });
}

const needsTexts = (hooks: readonly Hook[]): boolean =>
  hooks.some(({ checks }) => checks.some(({ readsTexts }) => readsTexts));

function withJson(content: RequestContent, changed: Json | null): RequestContent & { readonly body: Buffer } {
  // The model may have named its target, which the provider must not receive.
  const json = typeof changed?.model === 'string' ? { ...changed, model: content.model } : changed;
  const { body: before } = content;
  const body = Buffer.isBuffer(before)
    ? editedJson(before, content.json, json)
    : Buffer.from(JSON.stringify(json));
  return { ...content, json, body };
}

function factsOf({ exchangeFacts, caller, headers, content }: GuardInput, request: Json | null): Facts {
  return {
    id: exchangeFacts.id,
    traceId: exchangeFacts.traceId,
    endpoint: exchangeFacts.endpoint ? exchangeFacts.endpoint.id : null,
    model: content.model,
    isStreamed: content.isStreamed,
    metadata: exchangeFacts.options.metadata,
    headers,
    caller,
    placeholders: new Placeholders(),
    request,
  };
}

import { webhookSignature } from '../../../common/http/webhook-signature.js';
import type { ParametersOf } from '../../../routing-config/guardrails/check-parameters.js';
import { REQUEST_TYPES } from '../../../routing-config/guardrails/request-types.js';
import type { Json } from '../../../providers/endpoint.js';
import type { HttpCaller } from '../../../egress/http-caller.js';
import { withoutByteOrderMark } from '../../../common/json/byte-order-mark.js';
import type { Check, Finding, CheckSubject } from '../check.js';
import { joinedTexts } from './searched-texts.js';

/** The reported exchange: https://portkey.ai/docs/integrations/guardrails/bring-your-own-guardrails */
function eventOf(subject: CheckSubject): Json {
  const { side, json, facts } = subject;
  const isInput = side === 'input';
  const text = joinedTexts(subject).join('\n');
  return {
    eventType: isInput ? 'beforeRequestHook' : 'afterRequestHook',
    requestId: facts.id,
    traceId: facts.traceId,
    requestType: (REQUEST_TYPES as Readonly<Record<string, string>>)[facts.endpoint ?? ''] ?? 'proxy',
    metadata: facts.metadata ?? {},
    request: {
      json: isInput ? json : facts.request,
      text: isInput ? text : '',
      isStreamingRequest: facts.isStreamed,
    },
    response: { json: isInput ? null : json, text: isInput ? '' : text },
  };
}

/**
 * Requests a verdict from a service of the operator. It responds with `{ verdict, data?, transformedData? }`; `transformedData` can hold
 * the whole changed body, `{ request: { json } }` or `{ response: { json } }`.
 *
 * With a secret, the request is signed as `x-gateway-signature: t=<seconds>,v1=<hex>`: HMAC-SHA-256 of `<seconds>.<body>`.
 */
export function webhook(
  { webhookURL, headers, secret, timeout }: ParametersOf<'default.webhook'>,
  http: HttpCaller,
): Check {
  return {
    looksEverywhere: true,
    run: async (subject) => {
      const body = JSON.stringify(eventOf(subject));
      const { status, text } = await http.call(subject.facts.caller.organizationId, {
        method: 'POST',
        url: webhookURL,
        headers: [...jsonHeaders(headers), ...(secret === undefined ? [] : webhookSignature(secret, body))],
        body,
        timeoutMs: timeout,
      });
      if (status < 200 || status > 299) throw new Error(`the webhook returned status ${status}`);
      return findingOf(text, subject);
    },
  };
}

function jsonHeaders(headers: Readonly<Record<string, string>>): string[] {
  return ['content-type', 'application/json', ...Object.entries(headers).flat()];
}

function findingOf(text: string, { side, json }: CheckSubject): Finding {
  const answer: unknown = JSON.parse(withoutByteOrderMark(text));
  if (!isObject(answer) || typeof answer.verdict !== 'boolean')
    throw new Error('the webhook gave no verdict');
  const changed = bodyIn(answer.transformedData, side);
  return {
    verdict: answer.verdict,
    data: dataOf(answer.data),
    ...(changed && json && { json: changed }),
  };
}

/** Null where nothing is changed. Throws for what is meant as a change and is none: it must not be taken for consent. */
function bodyIn(transformed: unknown, side: CheckSubject['side']): Json | null {
  if (transformed === undefined || transformed === null) return null;
  const name = side === 'input' ? 'request' : 'response';
  const part = isObject(transformed) ? partOf(transformed, name) : undefined;
  const body = isObject(part) ? part.json : part;
  if (body === null) return null;
  if (!isObject(part) || !isObject(body))
    throw new Error(`the transformedData of the webhook has no ${name}.json that is an object`);
  return body;
}

/** Null for one that is left alone, because the service speaks of the other side only. */
function partOf(transformed: Json, name: 'request' | 'response'): unknown {
  const other = name === 'request' ? 'response' : 'request';
  return !(name in transformed) && other in transformed ? null : transformed[name];
}

function dataOf(data: unknown): Json | null {
  if (data === undefined || data === null) return null;
  return isObject(data) ? data : { value: data };
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Reports to a service of the operator. The verdict is positive, whatever the response. */
export function log({ logURL, headers, timeout }: ParametersOf<'default.log'>, http: HttpCaller): Check {
  return {
    looksEverywhere: true,
    run: async (subject) => {
      const { status } = await http.call(subject.facts.caller.organizationId, {
        method: 'POST',
        url: logURL,
        headers: jsonHeaders(headers),
        body: JSON.stringify(eventOf(subject)),
        timeoutMs: timeout,
      });
      return { verdict: true, data: { status } };
    },
  };
}

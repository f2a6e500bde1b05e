import { webhookSignature } from '../../../common/http/webhook-signature.js';
import type { ParametersOf } from '../../../routing-config/guardrails/check-parameters.js';
import { REQUEST_TYPES } from '../../../routing-config/guardrails/request-types.js';
import type { Json } from '../../../providers/endpoint.js';
import type { HttpCaller } from '../../../egress/http-caller.js';
import type { Check, Finding, CheckSubject } from '../check.js';

/** The reported exchange: https://portkey.ai/docs/integrations/guardrails/bring-your-own-guardrails */
function eventOf({ side, texts, json, facts }: CheckSubject): Json {
  const isInput = side === 'input';
  const text = texts.join('\n');
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
  const answer: unknown = JSON.parse(text);
  if (!isObject(answer) || typeof answer.verdict !== 'boolean')
    throw new Error('the webhook gave no verdict');
  const changed = bodyIn(answer.transformedData, side);
  return {
    verdict: answer.verdict,
    data: dataOf(answer.data),
    ...(changed && json && { json: changed }),
  };
}

function bodyIn(transformed: unknown, side: CheckSubject['side']): Json | null {
  const part = isObject(transformed) ? transformed[side === 'input' ? 'request' : 'response'] : null;
  return isObject(part) && isObject(part.json) ? part.json : null;
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

import { ERRORS } from '../../common/errors/catalog.js';
import { googleStatusError } from '../../providers/dialects/gemini/errors.js';
import type { EndpointId, Json } from '../../providers/endpoint.js';
import { clientFormats } from '../../providers/client-formats/index.js';
import type { Context, HubError, StreamEvent } from '../../providers/translation.js';
import type { ExchangeFacts } from '../types/exchange-facts.js';
import type { AttemptTrail } from '../types/attempt-trail.js';
import { encodeSse } from '../framing/index.js';

/** The request of a stream. */
interface StreamedExchange {
  readonly facts: StreamFacts;
  readonly trail: Pick<AttemptTrail, 'body' | 'model' | 'isStreamed'>;
}

type StreamFacts = Pick<ExchangeFacts, 'id' | 'createdAt' | 'endpoint'>;

/** The end of a stopped stream, in the client's dialect. */
export function streamFailure(error: HubError, exchange: StreamedExchange, context?: Context): string {
  const { facts, trail } = exchange;
  const clientFormat = facts.endpoint ? clientFormats[facts.endpoint.id] : undefined;
  const client = clientFormat?.open(trail.body ?? {}, context ?? contextOf(exchange));
  const events = client?.fail(error) ?? [nativeFailure(error, facts)];
  return events.map(encodeSse).join('');
}

type NativeFailure = (error: HubError, requestId: string) => StreamEvent;

/** Endpoints whose format is native only, and whose errors are not OpenAI's. */
const NATIVE: { readonly [Id in EndpointId]?: NativeFailure } = {
  'generate-content': (error, id) => ({ event: null, data: JSON.stringify(googleFailure(error, id)) }),
  interactions: interactionFailure,
};

function nativeFailure(error: HubError, { id, endpoint }: StreamFacts): StreamEvent {
  const native = endpoint ? NATIVE[endpoint.id] : undefined;
  return native?.(error, id) ?? { event: null, data: JSON.stringify({ error }) };
}

/** The `code` is a word here. https://googleapis.github.io/js-genai/release_docs/ (`Interactions.ErrorEvent`) */
function interactionFailure({ message, code }: HubError): StreamEvent {
  const event_type = 'error';
  const error = { code: code ?? 'upstream_error', message };
  return { event: event_type, data: JSON.stringify({ event_type, error }) };
}

/** Google's clients read `error.code` as a status. https://github.com/googleapis/js-genai/blob/main/src/_api_client.ts */
function googleFailure({ message, code }: HubError, requestId: string): Json {
  const ours = Object.entries(ERRORS).find(([name]) => name === code)?.[1];
  const status = ours?.status ?? ERRORS.upstream_error.status;
  return googleStatusError({ status, code: code ?? 'upstream_error', message, requestId, retryAfter: null });
}

function contextOf({ facts, trail: { model, isStreamed } }: StreamedExchange): Context {
  const { id, createdAt } = facts;
  return {
    id,
    created: Math.floor(createdAt / 1000),
    model: model ?? '',
    isStreamed,
    fields: {},
    isStrict: true,
  };
}

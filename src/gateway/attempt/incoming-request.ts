import type { Principal } from '../../auth/principal.js';
import { requestMetadata } from '../../common/contracts/request-metadata.js';
import type { EndpointId, Json } from '../../providers/endpoint.js';
import type { RoutedRequest } from '../../routing-config/conditions.js';
import type { Exchange } from '../recording/exchange.js';
import type { ReadRequest } from '../types/content.js';

/** A request as it was received, whichever target it goes to. */
export interface IncomingRequest {
  readonly exchange: Exchange;
  readonly caller: Principal;
  readonly read: ReadRequest;
}

/** Endpoints that store nothing at the provider, so that sending a request twice costs money and has no other effect. */
const TRACELESS: ReadonlySet<EndpointId> = new Set([
  'chat-completions',
  'completions',
  'fim-completions',
  'messages',
  'count-tokens',
  'generate-content',
  'embed-content',
  'chat-v2',
  'embed-v2',
  'rerank-v2',
  'embeddings',
  'rerank',
  'moderations',
  'ocr',
]);

/** Endpoints that store a response must not run twice: the response of the slower target would remain at its provider. */
export function mayBeSentTwice({ exchange: { entry }, read }: IncomingRequest): boolean {
  const { endpoint } = entry;
  const { isRepeatable, json } = read;
  if (!endpoint || !isRepeatable || !json) return false;
  return TRACELESS.has(endpoint.id) || (endpoint.id === 'responses' && json.store === false);
}

/** Input of conditions and sticky sessions. */
export function routedRequest({ exchange, read }: IncomingRequest): RoutedRequest {
  const { headers, url = '' } = exchange.request;
  const [pathname = ''] = url.split('?', 1);
  const metadata = requestMetadata(exchange.entry.asked.metadata, read.json);
  return { metadata, params: paramsOf(read), pathname, headers };
}

/** The parameters that conditions read. Google's requests name the model in the path; forms are read up to their first file. */
function paramsOf({ json, form, model }: ReadRequest): Json | null {
  if (json) return json.model !== undefined || model === null ? json : { ...json, model };
  const fields = form && { model: form.field('model'), stream: form.field('stream') };
  return fields ? Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null)) : null;
}

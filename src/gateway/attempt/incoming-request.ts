import type { Principal } from '../../auth/principal.js';
import { requestMetadata } from '../../common/contracts/request-metadata.js';
import type { Json } from '../../providers/endpoint.js';
import type { RoutedRequest } from '../../routing-config/conditions.js';
import type { Exchange } from '../recording/exchange.js';
import type { ReadRequest } from '../types/content.js';

/** A request as it was received, whichever target it goes to. */
export interface IncomingRequest {
  readonly exchange: Exchange;
  readonly caller: Principal;
  readonly read: ReadRequest;
}

/** A request that a provider keeps must not run twice: the response of the slower target would remain there. */
export function mayBeSentTwice({ exchange: { facts }, read }: IncomingRequest): boolean {
  const { isRepeatable, json } = read;
  if (!isRepeatable || !json) return false;
  switch (facts.endpoint?.storage) {
    case 'none':
      return true;
    case 'on-request':
      return json.store !== true;
    case 'unless-refused':
      return json.store === false;
    case undefined:
      return false;
  }
}

/** Input of conditions and sticky sessions. */
export function routedRequest({ exchange, read }: IncomingRequest): RoutedRequest {
  const { headers, url = '' } = exchange.request;
  const [pathname = ''] = url.split('?', 1);
  const metadata = requestMetadata(exchange.facts.options.metadata, read.json);
  return { metadata, params: paramsOf(read), pathname, headers };
}

/** The parameters that conditions read. Google's requests name the model in the path; forms are read up to their first file. */
function paramsOf({ json, form, model }: ReadRequest): Json | null {
  if (json) return json.model !== undefined || model === null ? json : { ...json, model };
  const fields = form && { model: form.field('model'), stream: form.field('stream') };
  return fields ? Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null)) : null;
}

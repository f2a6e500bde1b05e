import type { EndpointId } from '../../../providers/endpoint.js';
import { compiled } from '../../../providers/endpoints/lookup.js';
import type { ExchangeFacts } from '../../types/exchange-facts.js';
import { ENDPOINT_TEXTS } from '../texts/endpoint-texts.js';
import type { RequestCoverage, TextCoverage } from './coverage-row.js';
import { ENDPOINT_COVERAGE } from './endpoint-coverage.js';
import { storedCoverage } from './stored-coverage.js';

/** A path that no row names: whatever its response is, guardrails cannot read it. */
const UNKNOWN: RequestCoverage = { request: 'unread', answer: 'unread' };
/** The response to a HEAD is its head. */
const HEAD_ONLY: RequestCoverage = { request: 'unread', answer: 'metadata' };

const find = compiled(storedCoverage);

const byEndpoint = new Map(
  (Object.entries(ENDPOINT_COVERAGE) as [EndpointId, TextCoverage][]).map(([id, coverage]) => [
    id,
    { ...coverage, texts: ENDPOINT_TEXTS[id] },
  ]),
);

export function coverageOf({
  method,
  path,
  endpoint,
}: Pick<ExchangeFacts, 'method' | 'path' | 'endpoint'>): RequestCoverage {
  if (method === 'HEAD') return HEAD_ONLY;
  return find(method, path) ?? (endpoint ? byEndpoint.get(endpoint.id) : undefined) ?? UNKNOWN;
}

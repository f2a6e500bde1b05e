import type { Principal } from '../../auth/principal.js';
import type { CacheRules, EmbeddingRules } from '../../routing-config/document.js';
import { AppError } from '../../common/errors/app-error.js';
import { gatewayOption } from '../types/gateway-headers.js';
import type { CachedResponseKey } from '../ports.js';
import type { RequestContent } from '../types/content.js';
import type { Exchange } from '../recording/exchange.js';
import type { FoundAnswer, StoredResponse } from '../types/stored-answer.js';
import type { Target } from '../types/target.js';
import type { WireRequest } from '../upstream/wire.js';
import { type CacheKeyParts, cacheKey } from './cache-key.js';
import { isCacheable } from './cacheable.js';

/** A request that is ready to be sent, and its config's cache rules. */
export interface CacheOffer {
  readonly exchange: Exchange;
  readonly caller: Principal;
  readonly target: Target;
  readonly wire: WireRequest;
  /** The request in the client's dialect. */
  readonly content: RequestContent;
  readonly rules: CacheRules;
  /** The target's path in the config. */
  readonly path: string;
  /** Another target was attempted first and is still running. */
  readonly isHedge: boolean;
}

const DAY_SECONDS = 86_400;
const MAX_AGE_SECONDS = 7 * DAY_SECONDS;

const NAMESPACE_CHARS_MAX = 128;

/** Default similarity above which requests count as the same. */
const THRESHOLD = 0.95;

/** The key of a request's response, and the conditions that the response must meet. */
export interface CacheLookup {
  readonly place: CachedResponseKey;
  /** The parts of the key. */
  readonly keyParts: CacheKeyParts;
  readonly maxAgeMs: number;
  /** Null when only an equal request counts. */
  readonly semantic: Semantic | null;
}

interface Semantic {
  readonly embedding: EmbeddingRules;
  readonly threshold: number;
}

/** Null when the response to the request must not be cached. The workspace's defaults apply to options that are not set. */
export function lookupFor(offered: CacheOffer): CacheLookup | null {
  const keyParts = keyPartsOf(offered);
  const key = keyParts && cacheKey(keyParts);
  if (!keyParts || key === null) return null;
  const { organizationId, workspaceId } = keyParts;
  const { rules, caller } = offered;
  const maxAgeSeconds = rules.max_age ?? caller.cache?.max_age ?? MAX_AGE_SECONDS;
  return {
    place: { organizationId, workspaceId, key },
    keyParts,
    maxAgeMs: maxAgeSeconds * 1000,
    semantic: rules.mode === 'semantic' ? semanticBy(offered) : null,
  };
}

function semanticBy({ rules, caller, path }: CacheOffer): Semantic {
  const embedding = rules.embedding ?? caller.cache?.embedding;
  if (!embedding)
    throw new AppError('config_invalid', {
      parameter: `${path}.cache.embedding`,
      detail: `${path}.cache.embedding is missing, and the workspace has no default: it names the virtual key and the model that compute embeddings`,
    });
  return { embedding, threshold: rules.threshold ?? caller.cache?.threshold ?? THRESHOLD };
}

function keyPartsOf({ exchange, caller, target, wire, content }: CacheOffer): CacheKeyParts | null {
  const { facts, request } = exchange;
  const { organizationId, workspaceId } = caller;
  const { endpoint, options } = facts;
  const { json: body, isStreamed } = content;
  if (workspaceId === null || !endpoint || !body || wire.method !== 'POST' || wire.counted !== undefined)
    return null;
  if (!isCacheable(endpoint.id, body)) return null;
  const namespace = gatewayOption(request.headers, 'cache-namespace');
  if (namespace !== null && namespace.length > NAMESPACE_CHARS_MAX)
    throw new AppError('header_invalid', {
      header: 'x-gateway-cache-namespace',
      detail: `it is longer than ${NAMESPACE_CHARS_MAX} characters`,
    });
  const { metadata } = options;
  const of = { organizationId, workspaceId, namespace, metadata, endpoint: endpoint.id, isStreamed };
  return { ...of, target, wire };
}

/** Whether the response to an equal request, which may have had weaker conditions, meets these. */
export function wouldDo({ answer, score }: FoundAnswer, { maxAgeMs, semantic }: CacheLookup): boolean {
  const isNear = score === null || (semantic !== null && score >= semantic.threshold);
  return isNear && isFresh(answer, maxAgeMs);
}

/** Fresh by its own expiry and by the maximum age of the new request. */
export function isFresh({ storedAt, expiresAt }: StoredResponse, maxAgeMs: number): boolean {
  const now = Date.now();
  return now < expiresAt && now < storedAt + maxAgeMs;
}

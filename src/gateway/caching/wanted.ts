import type { Principal } from '../../auth/principal.js';
import type { CacheRules, EmbeddingRules } from '../../routing-config/document.js';
import { AppError } from '../../common/errors/app-error.js';
import { gatewayOption } from '../types/gateway-headers.js';
import type { AnswerPlace } from '../ports.js';
import type { Content } from '../types/content.js';
import type { Exchange } from '../recording/exchange.js';
import type { Trail } from '../recording/trail.js';
import type { StoredAnswer } from '../types/stored-answer.js';
import type { Target } from '../types/target.js';
import type { WireRequest } from '../upstream/wire.js';
import { type CacheKeyParts, cacheKey } from './cache-key.js';
import { isCacheable } from './cacheable.js';
import type { FoundAnswer } from './found.js';

/** A request that is ready to be sent, and what its config says of the cache. */
export interface CacheOffer {
  readonly exchange: Exchange;
  readonly trail: Trail;
  readonly caller: Principal;
  readonly target: Target;
  readonly wire: WireRequest;
  /** The same in the client's dialect. */
  readonly content: Content;
  readonly rules: CacheRules;
  /** Where the target stands in the config. */
  readonly path: string;
}

const DAY_SECONDS = 86_400;
const MAX_AGE_SECONDS = 7 * DAY_SECONDS;

const NAMESPACE_CHARS_MAX = 128;

/** Likeness from which questions are taken for the same by default. */
const THRESHOLD = 0.95;

/** Where the answer to a request would be, and which would do. */
export interface CacheLookup {
  readonly place: AnswerPlace;
  /** What the place was made of. */
  readonly asked: CacheKeyParts;
  readonly maxAgeMs: number;
  /** Null where only the very same request counts. */
  readonly semantic: Semantic | null;
}

interface Semantic {
  readonly embedding: EmbeddingRules;
  readonly threshold: number;
}

/** Null where the request is not one whose answer may be kept. The default of the workspace applies to what is not set here. */
export function wantedBy(offered: CacheOffer): CacheLookup | null {
  const asked = askedBy(offered);
  const key = asked && cacheKey(asked);
  if (!asked || key === null) return null;
  const { organizationId, workspaceId } = asked;
  const { rules, caller } = offered;
  const maxAgeSeconds = rules.max_age ?? caller.cache?.max_age ?? MAX_AGE_SECONDS;
  return {
    place: { organizationId, workspaceId, key },
    asked,
    maxAgeMs: maxAgeSeconds * 1000,
    semantic: rules.mode === 'semantic' ? semanticBy(offered) : null,
  };
}

function semanticBy({ rules, caller, path }: CacheOffer): Semantic {
  const embedding = rules.embedding ?? caller.cache?.embedding;
  if (!embedding)
    throw new AppError('config_invalid', {
      detail: `${path}.cache.embedding is missing, and the workspace has no default: it names the virtual key and the model that compute embeddings`,
    });
  return { embedding, threshold: rules.threshold ?? caller.cache?.threshold ?? THRESHOLD };
}

function askedBy({ exchange, caller, target, wire, content }: CacheOffer): CacheKeyParts | null {
  const { entry, request } = exchange;
  const { organizationId, workspaceId } = caller;
  const { endpoint, asked } = entry;
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
  const { metadata } = asked;
  const of = { organizationId, workspaceId, namespace, metadata, endpoint: endpoint.id, isStreamed };
  return { ...of, target, wire };
}

/** What an equal request got, which may have been content with less. */
export function wouldDo({ answer, score }: FoundAnswer, { maxAgeMs, semantic }: CacheLookup): boolean {
  const isNear = score === null || (semantic !== null && score >= semantic.threshold);
  return isNear && isFresh(answer, maxAgeMs);
}

/** By its own time and by that of the request that asks. */
export function isFresh({ storedAt, expiresAt }: StoredAnswer, maxAgeMs: number): boolean {
  const now = Date.now();
  return now < expiresAt && now < storedAt + maxAgeMs;
}

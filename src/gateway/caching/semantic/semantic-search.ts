import { Inject, Injectable } from '@nestjs/common';
import type { Principal } from '../../../auth/principal.js';
import type { EmbeddingRules } from '../../../routing-config/document.js';
import { SETTINGS } from '../../../common/settings/settings.module.js';
import type { Settings } from '../../../common/settings/settings.js';
import { slugOf } from '../../../routing-config/cache-rules.js';
import type { Exchange } from '../../recording/exchange.js';
import { type VectorNamespace, VectorStore } from '../../ports.js';
import type { RequestContent } from '../../types/content.js';
import { type CacheKeyParts, namespaceKey } from '../cache-key.js';
import { cacheCounts } from '../cache-metrics.js';
import { comparedIn } from './compared-text.js';
import { Embedder } from './embedder.js';
import { SemanticNamespaces } from './semantic-namespaces.js';
import { similarity, type Vector } from './vector.js';

/** A request that another request's response may serve. */
interface Question {
  readonly keyParts: CacheKeyParts;
  readonly caller: Principal;
  readonly exchange: Exchange;
  readonly content: RequestContent;
  readonly embedding: EmbeddingRules;
  /** The target's path in the config. */
  readonly path: string;
  /** Another target was attempted first and is still running. */
  readonly isHedge: boolean;
}

/** An earlier request that is similar. */
interface Alike {
  /** The key of its cached response. */
  readonly key: string;
  /** 0 to 1. */
  readonly score: number;
}

/** A request with its meaning. */
export interface MeantRequest {
  /** Null for a request that is not compared, and when its embedding failed. */
  readonly meaning: Meaning | null;
  /** Why its embedding failed, for the record; null if it did not. */
  readonly notCompared: string | null;
}

/** A request that is not compared by meaning. */
export const NOT_MEANT: MeantRequest = { meaning: null, notCompared: null };

/** How many of the most similar requests are tried, because some of their responses may have been removed. */
const NEAREST_MAX = 3;

/**
 * Finds earlier requests with the same meaning. Only the user's last texts are compared, and only between requests that are equal in
 * everything else: tenant, namespace, target, model, tools, parameters and all previous turns.
 */
@Injectable()
export class SemanticSearch {
  private readonly namespaces: SemanticNamespaces;

  constructor(
    private readonly embedder: Embedder,
    store: VectorStore,
    @Inject(SETTINGS) { cacheStoreBytes }: Pick<Settings, 'cacheStoreBytes'>,
  ) {
    this.namespaces = new SemanticNamespaces(cacheStoreBytes > 0 ? store : null);
  }

  /** Never rejects. */
  async meant(question: Question): Promise<MeantRequest> {
    const { keyParts, caller, exchange, content, path, isHedge } = question;
    const { endpoint } = exchange.facts;
    const compared = content.json && endpoint && comparedIn(endpoint.id, content.json);
    if (!compared) return NOT_MEANT;
    const { model, virtual_key } = question.embedding;
    const rules = { model, virtual_key: slugOf(virtual_key) };
    const { text, rest } = compared;
    const place = `${path}.cache.embedding`;
    const embedding = { caller, exchange, content, rules, text, path: place, isHedge };
    const { vector, failure } = await this.embedder.embed(embedding);
    if (!vector) return { meaning: null, notCompared: `${place}: not compared by meaning: ${failure}` };
    const { organizationId, workspaceId } = keyParts;
    const namespace = namespaceKey(keyParts, [rules.virtual_key, model, rest]);
    const meaning = new Meaning(this.namespaces, { organizationId, workspaceId, digest: namespace }, vector);
    return { meaning, notCompared: null };
  }
}

/** The vector of a request, and the namespace in which it is compared. */
export class Meaning {
  constructor(
    private readonly namespaces: SemanticNamespaces,
    private readonly place: VectorNamespace,
    private readonly vector: Vector,
  ) {}

  /** Most similar first. Never rejects. */
  async nearest(): Promise<readonly Alike[]> {
    const now = Date.now();
    const questions = await this.namespaces.questionsIn(this.place);
    return questions
      .filter(({ expiresAt }) => expiresAt > now)
      .map(({ key, vector }) => ({ key, score: similarity(this.vector, vector) }))
      .sort((one, other) => other.score - one.score)
      .slice(0, NEAREST_MAX);
  }

  /** Registers this request for the response stored under `key` until then. */
  keep(key: string, expiresAt: number): void {
    this.namespaces.keep(this.place, { key, vector: this.vector, expiresAt });
    cacheCounts.vectorBytes = this.namespaces.bytes;
  }
}

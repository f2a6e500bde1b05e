import { Inject, Injectable } from '@nestjs/common';
import type { CacheStatus } from '../../request-log/record.js';
import { SETTINGS } from '../../common/settings/settings.module.js';
import type { Settings } from '../../common/settings/settings.js';
import { gatewayOption } from '../types/gateway-headers.js';
import { ClientLeft } from '../types/client-left.js';
import { type CachedResponseKey, AnswerStore } from '../ports.js';
import type { FoundAnswer, StoredResponse } from '../types/stored-answer.js';
import type { WireRequest } from '../upstream/wire.js';
import { cacheCounts } from './cache-metrics.js';
import { InFlightRequests } from './in-flight-requests.js';
import { MemoryAnswers } from './memory-answers.js';
import { type RecordedAnswer, RecordedFill } from './recording.js';
import { type Meaning, type MeantRequest, NOT_MEANT, SemanticSearch } from './semantic/semantic-search.js';
import { SharedAnswers } from './shared-answers.js';
import { isFresh, type CacheOffer, type CacheLookup, lookupFor, wouldDo } from './cache-lookup.js';

/** How long responses in memory are used before the store is read again: a refresh in another process takes effect by then. */
const BELIEVED_MS = 20_000;

/** How long an equal request waits for the first one's response. A waiting stream delivers nothing meanwhile. */
const WAIT_MS = 30_000;
const STREAM_WAIT_MS = 5_000;

/** A request with its cached response, or with the recording of its own. */
export interface CachedRequest {
  readonly wire: WireRequest;
  /** Null if the cache does not apply. */
  readonly status: Exclude<CacheStatus, 'DISABLED'> | null;
  /** Similarity of the closest request, 0 to 1; null if nothing was compared. */
  readonly score: number | null;
  /** Why its meaning was not compared, for the record; null if it was, or need not be. */
  readonly notCompared: string | null;
}

/** A request that the cache could not serve. */
interface CacheMiss {
  readonly lookup: CacheLookup;
  /** Other requests may wait for its response. */
  readonly isAwaited: boolean;
  readonly meant: MeantRequest;
  readonly score: number | null;
}

/** The result of a semantic comparison. */
interface SemanticMatch {
  /** The response to the most similar request above the threshold that still has one. */
  readonly found: FoundAnswer | null;
  /** Similarity of the closest request, 0 to 1. */
  readonly score: number | null;
}

/**
 * Serves requests with the cached response to an equal request. It caches the provider's response byte for byte, so that translation and
 * output guardrails apply to a hit as to any response.
 */
@Injectable()
export class ResponseCache {
  private readonly memory: MemoryAnswers;
  /** Null when responses stay in this process. */
  private readonly shared: SharedAnswers | null;
  private readonly flights = new InFlightRequests();

  constructor(
    store: AnswerStore,
    @Inject(SETTINGS) settings: Pick<Settings, 'cacheMemoryBytes' | 'cacheStoreBytes'>,
    private readonly search: SemanticSearch,
  ) {
    this.memory = new MemoryAnswers(settings.cacheMemoryBytes);
    this.shared = settings.cacheStoreBytes > 0 ? new SharedAnswers(store) : null;
  }

  /**
   * The request with its cached response, or with a `cacheFill` that records the response it receives; unchanged if the cache does not apply.
   * Returns without a promise when the response is in memory. Throws `header_invalid` and `config_invalid`, rejects with `ClientLeft`.
   */
  offer(offered: CacheOffer): CachedRequest | Promise<CachedRequest> {
    const lookup = lookupFor(offered);
    if (!lookup) return { wire: offered.wire, status: null, score: null, notCompared: null };
    if (isRefresh(offered)) return this.refresh(offered, lookup);
    const known = this.freshAnswer(lookup.place.key);
    if (known && isFresh(known, lookup.maxAgeMs)) return hit(offered, { answer: known, score: null });
    return this.seek(offered, lookup);
  }

  private refresh(offered: CacheOffer, lookup: CacheLookup): CachedRequest | Promise<CachedRequest> {
    const missed = (meant: MeantRequest): CachedRequest =>
      this.missed(offered, { lookup, isAwaited: this.flights.begin(lookup.place.key), meant, score: null });
    return lookup.semantic ? this.meant(offered, lookup).then(missed) : missed(NOT_MEANT);
  }

  private async seek(offered: CacheOffer, lookup: CacheLookup): Promise<CachedRequest> {
    const { place } = lookup;
    const { key } = place;
    const landed = this.flights.join(key, offered.content.isStreamed ? STREAM_WAIT_MS : WAIT_MS);
    if (landed) {
      const found = await landed;
      return found && wouldDo(found, lookup)
        ? hit(offered, found)
        : this.missed(offered, { lookup, isAwaited: this.flights.begin(key), meant: NOT_MEANT, score: null });
    }
    this.flights.begin(key);
    const answer = await this.lookUp(place);
    if (answer && isFresh(answer, lookup.maxAgeMs)) return this.landed(offered, key, { answer, score: null });
    const meant = await this.meant(offered, lookup);
    const { found, score } = meant.meaning ? await this.compare(lookup, meant.meaning) : NOT_COMPARED;
    return found
      ? this.landed(offered, key, found)
      : this.missed(offered, { lookup, isAwaited: true, meant, score });
  }

  private landed(offered: CacheOffer, key: string, found: FoundAnswer): CachedRequest {
    this.flights.land(key, found);
    return hit(offered, found);
  }

  private meant(
    { exchange, caller, content, path, isHedge }: CacheOffer,
    { keyParts, semantic }: CacheLookup,
  ): Promise<MeantRequest> {
    if (!semantic) return NO_MEANING;
    const { embedding } = semantic;
    return this.search.meant({ keyParts, caller, exchange, content, embedding, path, isHedge });
  }

  private async compare(lookup: CacheLookup, meaning: Meaning): Promise<SemanticMatch> {
    const nearest = await meaning.nearest();
    const closest = nearest[0]?.score ?? null;
    for (const { key, score } of nearest) {
      if (!lookup.semantic || score < lookup.semantic.threshold) break;
      const answer = this.freshAnswer(key) ?? (await this.lookUp({ ...lookup.place, key }));
      if (answer && isFresh(answer, lookup.maxAgeMs)) return { found: { answer, score }, score };
    }
    return { found: null, score: closest };
  }

  /** The response in memory, as long as the store need not be read again. */
  private freshAnswer(key: string): StoredResponse | null {
    const known = this.memory.find(key);
    return known !== null && Date.now() - known.checkedAt < BELIEVED_MS ? known.answer : null;
  }

  /** While the store is unavailable, responses in memory are used for longer. */
  private async lookUp(place: CachedResponseKey): Promise<StoredResponse | null> {
    const found = await this.shared?.find(place);
    if (found === undefined) return this.memory.find(place.key)?.answer ?? null;
    if (found) this.memory.keep(place.key, found, Date.now());
    else this.memory.forget(place.key);
    cacheCounts.memoryBytes = this.memory.bytes;
    return found;
  }

  /** Sends a request on to the provider and records its response. */
  private missed(offered: CacheOffer, { lookup, isAwaited, meant, score }: CacheMiss): CachedRequest {
    const { exchange, wire } = offered;
    const { meaning, notCompared } = meant;
    // These captures live until the response has ended, so they exclude the request's body.
    const { place, maxAgeMs } = lookup;
    const { key } = place;
    let isLanded = !isAwaited;
    const land = (found: FoundAnswer | null): void => {
      if (!isLanded) this.flights.land(key, found);
      isLanded = true;
    };
    const cacheFill = new RecordedFill({
      keep: (recorded) => {
        const answer = this.keep(place, recorded, maxAgeMs);
        meaning?.keep(key, answer.expiresAt);
        land({ answer, score: null });
      },
      giveUp: () => land(null),
    });
    if (exchange.signal.isCancelled) {
      cacheFill.release();
      throw new ClientLeft();
    }
    exchange.signal.onCancel(() => cacheFill.release());
    const status = isRefresh(offered) ? 'REFRESH' : meaning ? 'SEMANTIC MISS' : 'MISS';
    cacheCounts.asked[status]++;
    return { wire: { ...wire, headers: inClear(wire.headers), cacheFill }, status, score, notCompared };
  }

  private keep(place: CachedResponseKey, recorded: RecordedAnswer, maxAgeMs: number): StoredResponse {
    const storedAt = Date.now();
    const answer: StoredResponse = { ...recorded, storedAt, expiresAt: storedAt + maxAgeMs };
    this.memory.keep(place.key, answer, storedAt);
    this.shared?.keep(place, answer);
    cacheCounts.kept++;
    cacheCounts.memoryBytes = this.memory.bytes;
    return answer;
  }
}

const NO_MEANING = Promise.resolve(NOT_MEANT);
const NOT_COMPARED: SemanticMatch = { found: null, score: null };

function hit({ wire }: CacheOffer, { answer, score }: FoundAnswer): CachedRequest {
  const status = score === null ? 'HIT' : 'SEMANTIC HIT';
  cacheCounts.asked[status]++;
  return { wire: { ...wire, stored: answer }, status, score, notCompared: null };
}

function isRefresh({ exchange }: CacheOffer): boolean {
  return gatewayOption(exchange.request.headers, 'cache-force-refresh')?.toLowerCase() === 'true';
}

/** A shared response must not be compressed for the client that requested it first. */
function inClear(headers: readonly string[]): string[] {
  const kept = headers.filter((_, at) => headers[at - (at % 2)]?.toLowerCase() !== 'accept-encoding');
  return [...kept, 'accept-encoding', 'identity'];
}

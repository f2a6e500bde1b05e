import { Inject, Injectable } from '@nestjs/common';
import type { CacheStatus } from '../../request-log/record.js';
import { SETTINGS } from '../../common/settings/settings.module.js';
import type { Settings } from '../../common/settings/settings.js';
import { gatewayOption } from '../types/gateway-headers.js';
import { ClientLeft } from '../types/client-left.js';
import { type AnswerPlace, AnswerStore } from '../ports.js';
import type { FoundAnswer, StoredAnswer } from '../types/stored-answer.js';
import type { WireRequest } from '../upstream/wire.js';
import { cacheCounts } from './cache-metrics.js';
import { Flights } from './flights.js';
import { MemoryAnswers } from './memory-answers.js';
import { Lead, type RecordedAnswer } from './recording.js';
import { type Meaning, SemanticSearch } from './semantic/semantic-search.js';
import { SharedAnswers } from './shared-answers.js';
import { isFresh, type CacheOffer, type CacheLookup, wantedBy, wouldDo } from './wanted.js';

/** How long responses in memory are used before the store is read again: a refresh in another process takes effect by then. */
const BELIEVED_MS = 20_000;

/** How long an equal request waits for the first one's response. A waiting stream delivers nothing meanwhile. */
const WAIT_MS = 30_000;
const STREAM_WAIT_MS = 5_000;

/** A request that the cache could not serve. */
interface Errand {
  readonly wanted: CacheLookup;
  /** Other requests may wait for its response. */
  readonly isAwaited: boolean;
  /** Null if it was not compared semantically. */
  readonly meaning: Meaning | null;
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
  private readonly flights = new Flights();

  constructor(
    store: AnswerStore,
    @Inject(SETTINGS) settings: Pick<Settings, 'cacheMemoryBytes' | 'cacheStoreBytes'>,
    private readonly search: SemanticSearch,
  ) {
    this.memory = new MemoryAnswers(settings.cacheMemoryBytes);
    this.shared = settings.cacheStoreBytes > 0 ? new SharedAnswers(store) : null;
  }

  /**
   * The request with its cached response, or with a `lead` that records the response it receives; unchanged if the cache does not apply.
   * Returns without a promise when the response is in memory. Throws `header_invalid` and `config_invalid`, rejects with `ClientLeft`.
   */
  offer(offered: CacheOffer): WireRequest | Promise<WireRequest> {
    const wanted = wantedBy(offered);
    if (!wanted) return offered.wire;
    if (isRefresh(offered)) return this.refresh(offered, wanted);
    const known = this.believed(wanted.place.key);
    if (known && isFresh(known, wanted.maxAgeMs)) return hit(offered, { answer: known, score: null });
    return this.seek(offered, wanted);
  }

  private refresh(offered: CacheOffer, wanted: CacheLookup): WireRequest | Promise<WireRequest> {
    const lead = (meaning: Meaning | null): WireRequest =>
      this.lead(offered, { wanted, isAwaited: this.flights.begin(wanted.place.key), meaning });
    return wanted.semantic ? this.meant(offered, wanted).then(lead) : lead(null);
  }

  private async seek(offered: CacheOffer, wanted: CacheLookup): Promise<WireRequest> {
    const { place } = wanted;
    const { key } = place;
    const landed = this.flights.join(key, offered.content.isStreamed ? STREAM_WAIT_MS : WAIT_MS);
    if (landed) {
      const found = await landed;
      return found && wouldDo(found, wanted)
        ? hit(offered, found)
        : this.lead(offered, { wanted, isAwaited: this.flights.begin(key), meaning: null });
    }
    this.flights.begin(key);
    const answer = await this.lookUp(place);
    if (answer && isFresh(answer, wanted.maxAgeMs)) return this.landed(offered, key, { answer, score: null });
    const meaning = await this.meant(offered, wanted);
    const alike = meaning && (await this.alike(offered, wanted, meaning));
    return alike
      ? this.landed(offered, key, alike)
      : this.lead(offered, { wanted, isAwaited: true, meaning });
  }

  private landed(offered: CacheOffer, key: string, found: FoundAnswer): WireRequest {
    this.flights.land(key, found);
    return hit(offered, found);
  }

  private meant(
    { exchange: { entry }, trail, caller, content, path }: CacheOffer,
    { asked, semantic }: CacheLookup,
  ): Promise<Meaning | null> {
    if (!semantic) return NO_MEANING;
    return this.search.meant({ asked, caller, entry, trail, content, embedding: semantic.embedding, path });
  }

  /** The response to the most similar request above the threshold that still has one. */
  private async alike(
    offered: CacheOffer,
    wanted: CacheLookup,
    meaning: Meaning,
  ): Promise<FoundAnswer | null> {
    const nearest = await meaning.nearest();
    offered.trail.cacheCompared(nearest[0]?.score ?? null);
    for (const { key, score } of nearest) {
      if (!wanted.semantic || score < wanted.semantic.threshold) return null;
      const answer = this.believed(key) ?? (await this.lookUp({ ...wanted.place, key }));
      if (answer && isFresh(answer, wanted.maxAgeMs)) return { answer, score };
    }
    return null;
  }

  /** The response in memory, as long as the store need not be read again. */
  private believed(key: string): StoredAnswer | null {
    const known = this.memory.find(key);
    return known !== null && Date.now() - known.checkedAt < BELIEVED_MS ? known.answer : null;
  }

  /** While the store is unavailable, responses in memory are used for longer. */
  private async lookUp(place: AnswerPlace): Promise<StoredAnswer | null> {
    const found = await this.shared?.find(place);
    if (found === undefined) return this.memory.find(place.key)?.answer ?? null;
    if (found) this.memory.keep(place.key, found, Date.now());
    else this.memory.forget(place.key);
    cacheCounts.memoryBytes = this.memory.bytes;
    return found;
  }

  /** Sends a request on to the provider and records its response. */
  private lead(offered: CacheOffer, { wanted, isAwaited, meaning }: Errand): WireRequest {
    const { exchange, wire } = offered;
    // These captures live until the response has ended, so they exclude the request's body.
    const { place, maxAgeMs } = wanted;
    const { key } = place;
    let isLanded = !isAwaited;
    const land = (found: FoundAnswer | null): void => {
      if (!isLanded) this.flights.land(key, found);
      isLanded = true;
    };
    const lead = new Lead({
      keep: (recorded) => {
        const answer = this.keep(place, recorded, maxAgeMs);
        meaning?.keep(key, answer.expiresAt);
        land({ answer, score: null });
      },
      giveUp: () => land(null),
    });
    if (exchange.response.destroyed) {
      lead.close();
      throw new ClientLeft();
    }
    exchange.response.once('close', () => lead.close());
    note(offered, isRefresh(offered) ? 'REFRESH' : meaning ? 'SEMANTIC MISS' : 'MISS');
    return { ...wire, headers: inClear(wire.headers), lead };
  }

  private keep(place: AnswerPlace, recorded: RecordedAnswer, maxAgeMs: number): StoredAnswer {
    const storedAt = Date.now();
    const answer: StoredAnswer = { ...recorded, storedAt, expiresAt: storedAt + maxAgeMs };
    this.memory.keep(place.key, answer, storedAt);
    this.shared?.keep(place, answer);
    cacheCounts.kept++;
    cacheCounts.memoryBytes = this.memory.bytes;
    return answer;
  }
}

const NO_MEANING = Promise.resolve(null);

function hit(offered: CacheOffer, { answer, score }: FoundAnswer): WireRequest {
  if (score !== null) offered.trail.cacheCompared(score);
  note(offered, score === null ? 'HIT' : 'SEMANTIC HIT');
  return { ...offered.wire, stored: answer };
}

function note({ trail }: CacheOffer, status: Exclude<CacheStatus, 'DISABLED'>): void {
  trail.cacheAnswered(status);
  cacheCounts.asked[status]++;
}

function isRefresh({ exchange }: CacheOffer): boolean {
  return gatewayOption(exchange.request.headers, 'cache-force-refresh')?.toLowerCase() === 'true';
}

/** A shared response must not be compressed for the client that requested it first. */
function inClear(headers: readonly string[]): string[] {
  const kept = headers.filter((_, at) => headers[at - (at % 2)]?.toLowerCase() !== 'accept-encoding');
  return [...kept, 'accept-encoding', 'identity'];
}

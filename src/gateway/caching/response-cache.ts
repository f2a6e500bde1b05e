import { Inject, Injectable } from '@nestjs/common';
import type { Principal } from '../../auth/principal.js';
import type { CacheRules } from '../../common/contracts/routing-config/document.js';
import { AppError } from '../../common/errors/app-error.js';
import { SETTINGS } from '../../common/settings/settings.module.js';
import type { Settings } from '../../common/settings/settings.js';
import { gatewayOption } from '../door/gateway-headers.js';
import { ClientLeft } from '../door/request-body.js';
import { type AnswerPlace, AnswerStore } from '../ports.js';
import type { Exchange } from '../types/exchange.js';
import type { StoredAnswer } from '../types/stored-answer.js';
import type { Target } from '../types/target.js';
import type { WireRequest } from '../upstream/wire.js';
import { cacheKey } from './cache-key.js';
import { cacheCounts } from './cache-metrics.js';
import { isCacheable } from './cacheable.js';
import { Flights } from './flights.js';
import { Lead } from './lead.js';
import { MemoryAnswers } from './memory-answers.js';
import type { Recorded } from './recording.js';
import { SharedAnswers } from './shared-answers.js';

/** A request that is ready to be sent, and what its config says of the cache. */
export interface Offered {
  readonly exchange: Exchange;
  readonly caller: Principal;
  readonly target: Target;
  readonly wire: WireRequest;
  readonly rules: CacheRules;
}

const DAY_SECONDS = 86_400;
const MAX_AGE_SECONDS = 7 * DAY_SECONDS;

/** How long what is in memory is believed before the store behind it is asked again: a refresh elsewhere is seen by then. */
const BELIEVED_MS = 20_000;

/** How long an equal request waits for the first one's answer. A stream that is waited for shows nothing meanwhile. */
const WAIT_MS = 30_000;
const STREAM_WAIT_MS = 5_000;

const NAMESPACE_CHARS_MAX = 128;

/** A request that the cache could not answer. */
interface Errand {
  readonly place: AnswerPlace;
  readonly maxAgeMs: number;
  /** Others may wait for what it gets. */
  readonly isAwaited: boolean;
}

/**
 * Answers requests with what a provider once answered to the very same. What is kept is the provider's answer, byte for
 * byte, so that translation and output guardrails do their work on a hit as they do on any answer.
 */
@Injectable()
export class ResponseCache {
  private readonly memory: MemoryAnswers;
  /** Null where answers stay in this process. */
  private readonly shared: SharedAnswers | null;
  private readonly flights = new Flights();

  constructor(
    store: AnswerStore,
    @Inject(SETTINGS) settings: Pick<Settings, 'cacheMemoryBytes' | 'cacheStoreBytes'>,
  ) {
    this.memory = new MemoryAnswers(settings.cacheMemoryBytes);
    this.shared = settings.cacheStoreBytes > 0 ? new SharedAnswers(store) : null;
  }

  /**
   * The request with its stored answer, or with one who records the answer that it gets; as it came where the cache has
   * nothing to do with it. Returns without a promise where the answer is in memory. Throws `header_invalid`, rejects with
   * `ClientLeft`.
   */
  offer(offered: Offered): WireRequest | Promise<WireRequest> {
    const place = placeOf(offered);
    if (!place) return offered.wire;
    const maxAgeMs = (offered.rules.max_age ?? MAX_AGE_SECONDS) * 1000;
    if (isRefresh(offered))
      return this.lead(offered, { place, maxAgeMs, isAwaited: this.flights.begin(place.key) });
    const known = this.memory.find(place.key);
    const isBelieved = known !== null && Date.now() - known.checkedAt < BELIEVED_MS;
    if (isBelieved && isFresh(known.answer, maxAgeMs)) return hit(offered, known.answer);
    return this.seek(offered, place, maxAgeMs);
  }

  private async seek(offered: Offered, place: AnswerPlace, maxAgeMs: number): Promise<WireRequest> {
    const { key } = place;
    const { entry } = offered.exchange;
    const landed = this.flights.join(key, entry.isStreamed ? STREAM_WAIT_MS : WAIT_MS);
    if (landed) {
      const answer = await landed;
      return answer
        ? hit(offered, answer)
        : this.lead(offered, { place, maxAgeMs, isAwaited: this.flights.begin(key) });
    }
    this.flights.begin(key);
    const found = await this.lookUp(place);
    if (!found || !isFresh(found, maxAgeMs)) return this.lead(offered, { place, maxAgeMs, isAwaited: true });
    this.flights.land(key, found);
    return hit(offered, found);
  }

  /** While the store is away, memory is believed for longer. */
  private async lookUp(place: AnswerPlace): Promise<StoredAnswer | null> {
    const found = await this.shared?.find(place);
    if (found === undefined) return this.memory.find(place.key)?.answer ?? null;
    if (found) this.memory.keep(place.key, found, Date.now());
    else this.memory.forget(place.key);
    cacheCounts.memoryBytes = this.memory.bytes;
    return found;
  }

  /** Sends a request on its way to the provider, and has what it gets recorded. */
  private lead(offered: Offered, { place, maxAgeMs, isAwaited }: Errand): WireRequest {
    const { exchange, wire } = offered;
    let isLanded = !isAwaited;
    const land = (answer: StoredAnswer | null): void => {
      if (!isLanded) this.flights.land(place.key, answer);
      isLanded = true;
    };
    const lead = new Lead({
      keep: (recorded) => land(this.keep(place, recorded, maxAgeMs)),
      giveUp: () => land(null),
    });
    if (exchange.response.destroyed) {
      lead.close();
      throw new ClientLeft();
    }
    exchange.response.once('close', () => lead.close());
    note(offered, isRefresh(offered) ? 'REFRESH' : 'MISS');
    return { ...wire, headers: inClear(wire.headers), lead };
  }

  private keep(place: AnswerPlace, recorded: Recorded, maxAgeMs: number): StoredAnswer {
    const storedAt = Date.now();
    const answer: StoredAnswer = { ...recorded, storedAt, expiresAt: storedAt + maxAgeMs };
    this.memory.keep(place.key, answer, storedAt);
    this.shared?.keep(place, answer);
    cacheCounts.kept++;
    cacheCounts.memoryBytes = this.memory.bytes;
    return answer;
  }
}

function hit(offered: Offered, stored: StoredAnswer): WireRequest {
  note(offered, 'HIT');
  return { ...offered.wire, stored };
}

function note({ exchange }: Offered, status: 'HIT' | 'MISS' | 'REFRESH'): void {
  exchange.entry.cacheStatus = status;
  cacheCounts.asked[status]++;
}

function isRefresh({ exchange }: Offered): boolean {
  return gatewayOption(exchange.request.headers, 'cache-force-refresh')?.toLowerCase() === 'true';
}

/** Null where the request is not one whose answer may be kept. */
function placeOf({ exchange, caller, target, wire }: Offered): AnswerPlace | null {
  const { entry, request } = exchange;
  const { organizationId, workspaceId } = caller;
  const { endpoint, body, isStreamed, asked } = entry;
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
  const key = cacheKey({ ...of, target, wire });
  return key === null ? null : { organizationId, workspaceId, key };
}

/** By its own time and by that of the request that asks. */
function isFresh({ storedAt, expiresAt }: StoredAnswer, maxAgeMs: number): boolean {
  const now = Date.now();
  return now < expiresAt && now < storedAt + maxAgeMs;
}

/** An answer for everybody cannot be packed for the one who asked first. */
function inClear(headers: readonly string[]): string[] {
  const kept = headers.filter((_, at) => headers[at - (at % 2)]?.toLowerCase() !== 'accept-encoding');
  return [...kept, 'accept-encoding', 'identity'];
}

import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { reachOf } from '../../../auth/tenant.js';
import type { EmbeddingRules } from '../../../routing-config/document.js';
import { AppError } from '../../../common/errors/app-error.js';
import { findEndpointRow } from '../../../providers/endpoints/index.js';
import { embeddingsUsage } from '../../../providers/endpoints/embeddings.js';
import type { Json } from '../../../providers/endpoint.js';
import { NO_OPTIONS } from '../../types/gateway-headers.js';
import type { AttemptReservation } from '../../recording/attempt-reservation.js';
import type { Exchange } from '../../recording/exchange.js';
import { metadataOf } from '../../recording/record-of.js';
import type { RequestContent } from '../../types/content.js';
import { note, nothingRead, parsedObject, type Reading } from '../../recording/reading.js';
import { Admission } from '../../upstream/admission.js';
import { checkModel, checkPolicy } from '../../planning/check-allowed.js';
import { Planner } from '../../planning/planner.js';
import { outgoing, type ActiveTranslation } from '../../translation/outgoing.js';
import { translatedAnswer } from '../../translation/translated-answer.js';
import { DEFAULT_PLAN } from '../../types/plan.js';
import type { ExchangeFacts } from '../../types/exchange-facts.js';
import type { Target } from '../../types/target.js';
import type { Attempt } from '../../upstream/attempt.js';
import { Sender } from '../../upstream/sender.js';
import { readWholeBody } from '../../upstream/whole-answer.js';
import type { Principal } from '../../../auth/principal.js';
import { cacheCounts } from '../cache-metrics.js';
import { type Vector, vectorOf } from './vector.js';

/** A text to embed. */
interface Embedding {
  readonly caller: Principal;
  readonly exchange: Exchange;
  /** The request that is compared. */
  readonly content: RequestContent;
  readonly rules: EmbeddingRules;
  readonly text: string;
  /** The target's path in the log. */
  readonly path: string;
  /** Another target was attempted first and is still running. */
  readonly isHedge: boolean;
}

/** A vector, or why there is none in time. */
type EmbeddingResult =
  | { readonly vector: Vector; readonly failure?: undefined }
  | { readonly vector: null; readonly failure: string };

/** The request waits for the embedding: a longer wait costs more time than a hit saves. */
const WITHIN_MS = 1_500;

/** How long an account that failed is not used. */
const AWAY_MS = 5_000;

/** 8,192 numbers with all their digits. */
const ANSWER_BYTES_MAX = 512 * 1024;

/** Cached vectors, so that a text is embedded once and not for each target. */
const REMEMBERED_MAX = 1_000;

const PATH = { path: '/embeddings', query: '', isProxied: false } as const;
const ENDPOINT = findEndpointRow('POST', PATH.path);
const HEADERS = ['content-type', 'application/json', 'accept-encoding', 'identity'];

/**
 * Computes embeddings with a virtual key of the caller's workspace. Each is a side call in the request's record: reserved, charged and
 * logged like any attempt, under the same limits and rules.
 */
@Injectable()
export class Embedder {
  private readonly remembered = new LRUCache<string, Vector>({ max: REMEMBERED_MAX });
  private readonly unavailableUntil = new WeakMap<Target, number>();

  constructor(
    private readonly planner: Planner,
    private readonly sender: Sender,
    private readonly admission: Admission,
  ) {}

  /** Never rejects. */
  async embed(embedding: Embedding): Promise<EmbeddingResult> {
    try {
      return { vector: await this.vector(embedding) };
    } catch (error) {
      cacheCounts.embeddingFailures++;
      return { vector: null, failure: error instanceof AppError ? error.code : (error as Error).message };
    }
  }

  private async vector(embedding: Embedding): Promise<Vector> {
    const target = await this.targetOf(embedding);
    const name = nameOf(embedding, target);
    const known = this.remembered.get(name);
    if (known) return known;
    // The exchange may end, and its record be written, before the embedding arrives.
    if (embedding.isHedge) throw new Error('embeddings are not computed for hedged attempts');
    if (Date.now() < (this.unavailableUntil.get(target) ?? 0))
      throw new Error(`the account failed in the last ${AWAY_MS / 1000} s`);
    const vector = await this.ask(embedding, target);
    this.remembered.set(name, vector);
    return vector;
  }

  /** The organization's policy and the virtual key's models apply here too. */
  private async targetOf({ caller, rules }: Embedding): Promise<Target> {
    const { virtual_key: modelSlug, model } = rules;
    const request = { caller, headers: {}, options: NO_OPTIONS, modelSlug, planned: DEFAULT_PLAN };
    const target = await this.planner.plan(request);
    if (caller.policy) checkPolicy(caller.policy, target, model);
    checkModel(target, model, caller);
    return target;
  }

  private async ask(
    { caller, exchange, content: { json: body }, rules, text, path: option }: Embedding,
    target: Target,
  ): Promise<Vector> {
    const { model } = rules;
    const { wire, translated } = question(exchange.facts, target, { model, input: text });
    const limits = { ...this.sender.limitsFor(WITHIN_MS), totalMs: WITHIN_MS, setByCaller: false };
    const input = wire.body as Buffer;
    const metadata = metadataOf(exchange.facts.options, body);
    const call = { exchange, caller, target, model, input, metadata, option };
    const reservation = await this.admission.reserveSideCall(call);
    const attempt = started(reservation, () =>
      this.sender.start(caller.workspaceId ?? '', target, wire, limits),
    );
    cacheCounts.embeddings++;
    const reading = nothingRead();
    let errorCode: string | null = null;
    try {
      return await answered(attempt, translated, reading);
    } catch (error) {
      if (error instanceof AppError) errorCode = error.code;
      this.unavailableUntil.set(target, Date.now() + AWAY_MS);
      throw error;
    } finally {
      reservation.settleSideCall(attempt, exchange.trail, { errorCode, reading, text });
    }
  }
}

function started(reservation: AttemptReservation, start: () => Attempt): Attempt {
  try {
    return start();
  } catch (error) {
    reservation.release();
    throw error;
  }
}

/** A vector is shared only within the workspace that paid for it. */
function nameOf({ caller, rules, text }: Embedding, { virtualKey }: Target): string {
  const { organizationId, workspaceId } = reachOf(caller);
  const digest = createHash('sha256').update(text).digest('hex');
  return JSON.stringify([organizationId, workspaceId, virtualKey?.id, rules.model, digest]);
}

/** The embedding request in the provider's dialect. Of the client's request, it contains only the text. */
function question(
  { id, createdAt, gatewayKey }: ExchangeFacts,
  target: Target,
  json: Json & { readonly model: string },
) {
  const { model } = json;
  const content = { path: PATH, body: Buffer.from(JSON.stringify(json)), json, model, isStreamed: false };
  return outgoing({
    request: { method: 'POST', headers: {}, rawHeaders: HEADERS },
    content,
    planned: DEFAULT_PLAN,
    target,
    facts: {
      id,
      createdAt,
      gatewayKey,
      options: NO_OPTIONS,
      endpoint: ENDPOINT,
    },
  });
}

async function answered(
  attempt: Attempt,
  translated: ActiveTranslation | null,
  reading: Reading,
): Promise<Vector> {
  const reply = await attempt.reply;
  const body = await readWholeBody(reply, ANSWER_BYTES_MAX);
  if (reply.status !== 200) throw new Error(`the provider returned status ${reply.status}`);
  const vector = vectorOf(valuesIn(translated, { reply: attempt, body, reading }));
  if (!vector) throw new Error('the response has no vector');
  return vector;
}

interface EmbeddingAnswer {
  readonly reply: Attempt;
  readonly body: Buffer;
  readonly reading: Reading;
}

/** https://platform.openai.com/docs/api-reference/embeddings/object */
function valuesIn(translated: ActiveTranslation | null, { reply, body, reading }: EmbeddingAnswer): unknown {
  const json = parsedObject(
    (translated ? translatedAnswer(reply, body, translated, reading).bytes : body).toString('utf8'),
  );
  if (!translated) note(reading, embeddingsUsage, json);
  const { data } = (json ?? {}) as { data?: unknown };
  const first: unknown = Array.isArray(data) ? data[0] : null;
  return (first as { embedding?: unknown } | null)?.embedding;
}

import { AppError } from '../../common/errors/app-error.js';
import type { HubError } from '../../providers/translation.js';
import type { Reading } from '../recording/reading.js';
import { readResponseHead } from '../upstream/forwarded-headers.js';
import { StreamWithHiddenUsage } from '../translation/hidden-usage.js';
import { streamFailure } from '../translation/stream-failure.js';
import { TranslatedStream } from '../translation/translated-stream.js';
import type { StreamPlan } from '../translation/client-stream.js';
import type { RecordedExchange } from '../recording/record-of.js';
import type { AttemptTrail } from '../types/attempt-trail.js';
import type { StartedAttempt } from '../upstream/started-attempt.js';
import type { GuardedRequest } from './guard-request.js';
import { type PendingAnswer, passingFraming, streamGuard } from './answering.js';
import { FAILED_STATUS, isGuardedStream, judgedTexts } from './judge-answer.js';
import { type AnswerFrames, decoderFor, type EventFraming, framesOf } from '../framing/index.js';
import type { StreamGuard } from './stream-guard.js';

const UNREADABLE: HubError = {
  message: 'The provider sent a stream that cannot be read.',
  type: 'upstream_error',
  code: 'upstream_error',
  param: null,
};

interface GuardedStreamOptions {
  readonly framing: EventFraming;
  /** Filled by its meter. */
  readonly reading: Reading;
  readonly trail: AttemptTrail;
}

/**
 * A stream that passes its translation, if any, and then its guardrails. When a guardrail denies, it stops with an error in the client's
 * dialect.
 */
export class GuardedStream {
  private readonly inner: TranslatedStream | null;
  private readonly guard: StreamGuard;
  private readonly frames: AnswerFrames;
  private readonly trail: AttemptTrail;
  error: HubError | null = null;
  hasEnded = false;

  constructor(
    private readonly guarded: GuardedRequest,
    private readonly answering: PendingAnswer,
    { framing, reading, trail }: GuardedStreamOptions,
  ) {
    this.trail = trail;
    const { translated } = answering;
    this.frames = framesOf(framing);
    this.inner = translated ? new TranslatedStream(translated, reading) : null;
    this.guard = streamGuard(guarded, answering, {
      frames: this.frames,
      reading: translated ? null : reading,
    });
  }

  /** A guardrail has stopped it. */
  get isDenied(): boolean {
    return this.guard.isDenied;
  }

  feed(bytes: Buffer): string {
    if (this.hasEnded) return '';
    const out = this.through(() => this.guard.feed(this.inner ? Buffer.from(this.inner.feed(bytes)) : bytes));
    return this.inner?.hasEnded || this.guard.isDone ? out + this.end() : out;
  }

  end(): string {
    if (this.hasEnded) return '';
    const out = this.through(
      () => (this.inner ? this.guard.feed(Buffer.from(this.inner.end())) : '') + this.guard.end(),
    );
    this.hasEnded = true;
    this.error ??= this.inner?.error ?? null;
    return out;
  }

  fail(error: HubError): string {
    if (this.hasEnded) return '';
    this.hasEnded = true;
    this.error = error;
    const { exchangeFacts: facts, translated } = this.answering;
    const failure = streamFailure(error, { facts, trail: this.trail }, translated?.context);
    const words = decoderFor('sse').feed(Buffer.from(failure));
    return words.map((event) => this.frames.encode(event)).join('') + this.frames.close();
  }

  /** Resolves when the verdict on the whole is in the exchange record. */
  async settle(): Promise<void> {
    await judgedTexts(this.guard, this.guarded, this.answering.exchangeFacts);
  }

  /** The output of a step, unless a guardrail stops the stream there. */
  private through(step: () => string): string {
    let out: string;
    try {
      out = step();
    } catch {
      return this.fail(UNREADABLE);
    }
    const { deniedBy } = this.guard;
    if (deniedBy === null) return out;
    const { message, code, spec } = new AppError('guardrail_denied', {
      guardrail: deniedBy,
      side: 'response',
    });
    return this.fail({ message, type: spec.type, code, param: null });
  }
}

/** The delivery of a stream that guardrails apply to; null for every other response. */
export function streamPlanOf(
  guarded: GuardedRequest,
  { request, facts: exchangeFacts, trail }: Pick<RecordedExchange, 'request' | 'facts' | 'trail'>,
  { attempt, reservation, cacheFill, translated }: StartedAttempt & Pick<StreamPlan, 'translated'>,
): StreamPlan | null {
  const head = readResponseHead(attempt.rawHeaders);
  const { content } = guarded;
  const answering = { request, exchangeFacts, content, attempt, head, translated, isStrict: true };
  const framing = passingFraming(answering);
  if (framing === null || !isGuardedStream(guarded, answering)) return null;
  return {
    attempt,
    reservation,
    cacheFill,
    translated,
    open: (reading) => {
      const stream = new GuardedStream(guarded, answering, { framing, reading, trail });
      return trail.hidesUsage ? new StreamWithHiddenUsage(stream) : stream;
    },
    ...(framing === 'json-array' && head.contentType !== null && { contentType: head.contentType }),
    ...(guarded.hasFailed && { status: FAILED_STATUS }),
  };
}

import type { Usage, UsageCount } from '../../common/contracts/usage.js';
import type { Json } from '../../providers/endpoint.js';
import { isTranscription, realtimeUsage, transcriptionModelOf } from '../../providers/endpoints/realtime.js';
import { nothingRead, parsedObject, type Reading } from '../recording/metering.js';
import type { FrameListener } from './frames.js';

/** What a usage costs at the price of the first of these models that has one, nano-dollars; null when none has. */
export type CostOf = (usage: Usage, models: readonly (string | null)[]) => number | null;

/** Every event that is worth parsing has one of these; audio has not. */
const WORTH_READING = ['"usage"', '"session.'] as const;

/**
 * Adds up what the events of a session tell of tokens, and what they cost: each response at its own price, because a long
 * one may cost more by the token. Where one of them has no price, or went by unread, the sum is unknown.
 */
export class SessionMeter implements FrameListener {
  readonly reading: Reading = nothingRead();
  private transcriptionModel: string | null = null;
  private sum: number | null = 0;

  constructor(
    /** The model that was asked for. */
    private readonly model: string | null,
    private readonly costOf: CostOf,
  ) {}

  /** Nano-dollars; null when it is not known to the last token. */
  get cost(): number | null {
    return this.sum;
  }

  onText(text: Buffer): void {
    this.reading.firstEventAt ??= performance.now();
    if (!WORTH_READING.some((mark) => text.includes(mark))) return;
    const event = parsedObject(text.toString('utf8'));
    if (event) this.note(event);
  }

  onUnread(): void {
    this.sum = null;
  }

  private note(event: Json): void {
    this.reading.responseModel = realtimeUsage.modelOf(event)?.slice(0, 256) ?? this.reading.responseModel;
    this.transcriptionModel = transcriptionModelOf(event) ?? this.transcriptionModel;
    const usage = realtimeUsage.fromAnswer(event);
    if (!usage) {
      // A transcription always costs something; here the cost was not reported.
      if (isTranscription(event)) this.sum = null;
      return;
    }
    const models = isTranscription(event)
      ? [this.transcriptionModel]
      : [this.reading.responseModel, this.model];
    const cost = this.costOf(usage, models);
    this.sum = this.sum === null || cost === null ? null : this.sum + cost;
    this.reading.usage = added(this.reading.usage, usage);
  }
}

function added(sum: Usage | null, usage: Usage): Usage {
  if (!sum) return usage;
  // A session generates no images, so its usages hold nothing but counts.
  const kinds = Object.keys({ ...sum, ...usage }) as UsageCount[];
  const counts = kinds.map((kind) => [kind, (sum[kind] ?? 0) + (usage[kind] ?? 0)]);
  const total: unknown = Object.fromEntries(counts);
  return total as Usage;
}

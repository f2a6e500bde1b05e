import type { Usage, UsageCount } from '../../common/contracts/usage.js';
import type { Json } from '../../providers/endpoint.js';
import { isTranscription, realtimeUsage, transcriptionModelOf } from '../../providers/endpoints/realtime.js';
import { nothingRead, parsedObject, type Reading } from '../recording/metering.js';
import type { FrameListener } from './frames.js';

/** The cost of a usage at the price of the first of these models that has one, in nano-dollars; null when none has. */
export type CostOf = (usage: Usage, models: readonly (string | null)[]) => number | null;

/** Every event that is worth parsing contains one of these; audio events do not. */
const WORTH_READING = ['"usage"', '"session.'] as const;

/**
 * Sums up the reported tokens of a session's events, and their cost: each response at its own price, because a long one may cost more per
 * token. If one of them has no price, or passed unread, the sum is unknown.
 */
export class SessionMeter implements FrameListener {
  readonly reading: Reading = nothingRead();
  private transcriptionModel: string | null = null;
  private sum: number | null = 0;

  constructor(
    /** The requested model. */
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
      // A transcription always has a cost; this one did not report it.
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
  // A session generates no images, so its usages contain only counts.
  const kinds = Object.keys({ ...sum, ...usage }) as UsageCount[];
  const counts = kinds.map((kind) => [kind, (sum[kind] ?? 0) + (usage[kind] ?? 0)]);
  const total: unknown = Object.fromEntries(counts);
  return total as Usage;
}

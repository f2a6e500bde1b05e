import { lower } from '../../common/http/raw-headers.js';
import { editedJson } from '../../common/json/edited-json.js';
import { without } from '../../providers/unsupported-parameters.js';
import { encodeSse, SseBlocks } from '../framing/index.js';
import { parsedObject } from '../recording/reading.js';
import type { ResponseHead } from '../upstream/forwarded-headers.js';
import type { ClientStream } from './client-stream.js';

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const EVENT_END = Buffer.from('\n\n');
/** A text without any of these has no member `usage`: an escape of one of its letters begins like the last. */
const USAGE = ['"usage"', '\\u00'] as const;
/**
 * The end of an event of OpenAI's, whose last fields are `usage` and, with obfuscation, one more text. Nothing but the event's own
 * closing brace follows, so the field is the event's own.
 */
const NULL_AT_THE_END = /,"usage":null((?:,"\w+":"[^"\\]*")?\})$/;

/**
 * Takes out of a stream what OpenAI's format adds to it for `stream_options.include_usage`: the event with the usage alone, and
 * `"usage":null` in all others. Every other byte passes, and most events pass unread. Bytes that are no server-sent events pass, too.
 * https://platform.openai.com/docs/api-reference/chat/streaming
 */
export class HiddenUsage {
  private readonly blocks = new SseBlocks((raw, data, event) => this.block(raw, data, event));
  private shown: Buffer[] = [];
  /** The last event is gone and ended with a carriage return, whose line feed may follow. */
  private hasDroppedCr = false;

  feed(bytes: Buffer): Buffer {
    if (this.passesUnread(bytes)) return bytes;
    this.blocks.feed(bytes);
    return this.taken();
  }

  /** The rest, when the stream has ended. */
  end(): Buffer {
    this.blocks.end();
    return this.taken();
  }

  /** Whole events without a usage. */
  private passesUnread(bytes: Buffer): boolean {
    return (
      this.blocks.isBetweenBlocks &&
      bytes.subarray(-EVENT_END.length).equals(EVENT_END) &&
      !USAGE.some((text) => bytes.includes(text)) &&
      !bytes.includes(CARRIAGE_RETURN)
    );
  }

  private taken(): Buffer {
    const { shown } = this;
    this.shown = [];
    return shown.length === 1 ? (shown[0] as Buffer) : Buffer.concat(shown);
  }

  private block(raw: Buffer, data: string | null, event: string): void {
    const isRestOfDropped = this.hasDroppedCr && raw.length === 1 && raw[0] === LINE_FEED;
    this.hasDroppedCr = false;
    if (isRestOfDropped) return;
    const kept = data !== null && USAGE.some((text) => data.includes(text)) ? withoutUsage(data) : data;
    if (kept === data) this.shown.push(raw);
    else if (kept === null) this.hasDroppedCr = raw.at(-1) === CARRIAGE_RETURN;
    else this.shown.push(withData(raw, { event, before: data as string, after: kept }));
  }
}

/** Null if the event has nothing else. */
function withoutUsage(data: string): string | null {
  const short = data.replace(NULL_AT_THE_END, '$1');
  if (short !== data) return short;
  const event = parsedObject(data);
  if (event?.usage === undefined) return data;
  const { choices, usage } = event;
  if (usage === null) return editedJson(Buffer.from(data), event, without(event, 'usage')).toString();
  return Array.isArray(choices) && choices.length === 0 ? null : data;
}

interface ChangedData {
  readonly event: string;
  readonly before: string;
  readonly after: string;
}

/** Data of several lines become one line. */
function withData(raw: Buffer, { event, before, after }: ChangedData): Buffer {
  const at = raw.indexOf(before);
  if (at < 0) return Buffer.from(encodeSse({ event: event === '' ? null : event, data: after }));
  const end = at + Buffer.byteLength(before);
  return Buffer.concat([raw.subarray(0, at), Buffer.from(after), raw.subarray(end)]);
}

/** A whole stream without the usage that its client did not request. */
export function withUsageHidden(stream: Buffer): Buffer {
  const hidden = new HiddenUsage();
  return Buffer.concat([hidden.feed(stream), hidden.end()]);
}

/** The same for a stream in progress. */
export class StreamWithHiddenUsage implements ClientStream {
  private readonly hidden = new HiddenUsage();

  constructor(private readonly inner: ClientStream) {}

  get error(): ClientStream['error'] {
    return this.inner.error;
  }

  get hasEnded(): boolean {
    return this.inner.hasEnded;
  }

  get isDenied(): boolean {
    return this.inner.isDenied ?? false;
  }

  feed(bytes: Buffer): string {
    const out = this.filtered(this.inner.feed(bytes));
    return this.inner.hasEnded ? out + this.rest() : out;
  }

  end(): string {
    return this.filtered(this.inner.end()) + this.rest();
  }

  fail(error: Parameters<ClientStream['fail']>[0]): string {
    return this.filtered(this.inner.fail(error)) + this.rest();
  }

  private filtered(events: string): string {
    return events === '' ? '' : this.hidden.feed(Buffer.from(events)).toString();
  }

  private rest(): string {
    return this.hidden.end().toString();
  }

  async settle(): Promise<void> {
    await this.inner.settle?.();
  }
}

/**
 * For a stream whose usage the gateway requested in place of the client, whatever its content type: clients know from their request that
 * it is one. Null for a refusal, and for a provider that compresses against the request.
 */
export function hiddenUsageOf({ contentEncoding }: ResponseHead, status: number): HiddenUsage | null {
  const isReadable = contentEncoding === null || contentEncoding === 'identity';
  return status < 400 && isReadable ? new HiddenUsage() : null;
}

/** The head of a stream that becomes shorter. */
export function withoutLength(head: ResponseHead): ResponseHead {
  if (head.contentLength === null) return head;
  const isLength = (index: number): boolean =>
    lower(head.headers[index - (index % 2)] as string) === 'content-length';
  return { ...head, contentLength: null, headers: head.headers.filter((_, index) => !isLength(index)) };
}

import { editedJson } from '../../common/json/edited-json.js';
import { without } from '../../providers/unsupported-parameters.js';
import { parsedObject } from '../recording/metering.js';
import type { ClientStream } from './client-stream.js';

/** A longer line is no event with a usage alone; it passes unread. */
const LINE_CHARS_MAX = 1024 * 1024;

const LONE_CARRIAGE_RETURN = /\r[^\n]/;
const DATA = 'data:';
const USAGE = '"usage"';
/**
 * The end of an event of OpenAI's, whose last fields are `usage` and, with obfuscation, one more text. Nothing but the event's own
 * closing brace follows, so the field is the event's own.
 */
const NULL_AT_THE_END = /,"usage":null((?:,"\w+":"[^"\\]*")?\})$/;

/**
 * Takes out of a stream what OpenAI's format adds to it for `stream_options.include_usage`: the event with the usage alone, and
 * `"usage":null` in all others. Every other byte passes, and most events pass unread. Texts are Latin-1 or UTF-16: all that is compared
 * is ASCII. https://platform.openai.com/docs/api-reference/chat/streaming
 */
export class HiddenUsage {
  /** The beginning of a line whose end has not arrived. */
  private held = '';
  /** The last line is gone, and the empty line that ended its event goes too. */
  private hasDropped = false;
  /** A line was too long to be held; its rest passes. */
  private isInLongLine = false;
  /** Its lines end with carriage returns alone, as no provider's do: it passes. */
  private isOff = false;

  /** `encoding` is that of the texts. */
  constructor(private readonly encoding: 'latin1' | 'utf8') {}

  /** Bytes without a usage pass as they are. */
  feedBytes(bytes: Buffer): Buffer {
    const isAlone = this.held === '' && !this.hasDropped && !this.isInLongLine;
    if (isAlone && bytes.at(-1) === LINE_FEED && !bytes.includes(USAGE)) return bytes;
    return Buffer.from(this.feed(bytes.toString('latin1')), 'latin1');
  }

  endBytes(): Buffer {
    return Buffer.from(this.end(), 'latin1');
  }

  feed(text: string): string {
    if (this.isOff) return text;
    const end = text.lastIndexOf('\n') + 1;
    if (end === 0) return this.hold(text);
    const lines = this.held + text.slice(0, end);
    this.held = '';
    const out = this.isInLongLine ? this.afterLongLine(lines) : this.filtered(lines);
    return out + this.hold(text.slice(end));
  }

  /** The rest, when the stream has ended. */
  end(): string {
    const { held } = this;
    this.held = '';
    return held === '' ? '' : this.filtered(held);
  }

  private hold(text: string): string {
    if (this.isInLongLine) return text;
    this.held += text;
    this.isOff = LONE_CARRIAGE_RETURN.test(text);
    if (this.held.length <= LINE_CHARS_MAX && !this.isOff) return '';
    const { held } = this;
    this.held = '';
    this.isInLongLine = true;
    return held;
  }

  private afterLongLine(lines: string): string {
    this.isInLongLine = false;
    const end = lines.indexOf('\n') + 1;
    return lines.slice(0, end) + this.filtered(lines.slice(end));
  }

  private filtered(lines: string): string {
    if (!this.hasDropped && !lines.includes(USAGE)) return lines;
    let out = '';
    for (let at = 0; at < lines.length;) {
      const lineFeed = lines.indexOf('\n', at);
      const end = lineFeed < 0 ? lines.length : lineFeed + 1;
      out += this.line(lines.slice(at, end));
      at = end;
    }
    return out;
  }

  private line(line: string): string {
    if (this.hasDropped) {
      this.hasDropped = false;
      if (line === '\n' || line === '\r\n') return '';
    }
    if (!line.startsWith(DATA) || !line.includes(USAGE)) return line;
    const begin = line.charAt(DATA.length) === ' ' ? DATA.length + 1 : DATA.length;
    const data = line.slice(begin).trimEnd();
    const kept = this.withoutUsage(data);
    if (kept === data) return line;
    this.hasDropped = kept === null;
    return kept === null ? '' : line.slice(0, begin) + kept + line.slice(begin + data.length);
  }

  /** Null if the event has nothing else. */
  private withoutUsage(data: string): string | null {
    if (NULL_AT_THE_END.test(data)) return data.replace(NULL_AT_THE_END, '$1');
    const event = parsedObject(data);
    if (event?.usage === undefined) return data;
    const { choices, usage } = event;
    if (usage === null)
      return editedJson(Buffer.from(data, this.encoding), event, without(event, 'usage')).toString(
        this.encoding,
      );
    return Array.isArray(choices) && choices.length === 0 ? null : data;
  }
}

const LINE_FEED = 0x0a;

/** A whole stream without the usage that its client did not request. */
export function withUsageHidden(stream: Buffer): Buffer {
  const hidden = new HiddenUsage('latin1');
  return Buffer.concat([hidden.feedBytes(stream), hidden.endBytes()]);
}

/** The same for a stream in progress. */
export class StreamWithHiddenUsage implements ClientStream {
  private readonly hidden = new HiddenUsage('utf8');

  constructor(private readonly inner: ClientStream) {}

  get error(): ClientStream['error'] {
    return this.inner.error;
  }

  get isOver(): boolean {
    return this.inner.isOver;
  }

  get isDenied(): boolean {
    return this.inner.isDenied ?? false;
  }

  feed(bytes: Buffer): string {
    const out = this.hidden.feed(this.inner.feed(bytes));
    return this.inner.isOver ? out + this.hidden.end() : out;
  }

  end(): string {
    return this.hidden.feed(this.inner.end()) + this.hidden.end();
  }

  fail(error: Parameters<ClientStream['fail']>[0]): string {
    return this.hidden.feed(this.inner.fail(error)) + this.hidden.end();
  }

  async settle(): Promise<void> {
    await this.inner.settle?.();
  }
}

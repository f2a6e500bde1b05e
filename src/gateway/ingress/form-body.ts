import { FastRequest } from '../../common/http/fast-request.js';
import type { ClientRequest } from '../../common/http/messages.js';
import { AppError } from '../../common/errors/app-error.js';
import type { Json } from '../../providers/endpoint.js';
import type { BodyCapture } from '../recording/capture.js';
import type { PassingForm } from '../types/content.js';
import { formFields } from './form-fields.js';
import { MultipartScanner } from './multipart-scanner.js';
import { bodyChunks } from './request-body.js';
import { announcedSize } from './request-hygiene.js';
import { fieldError } from '../../common/errors/field-errors.js';

/** Maximum size of the head that is held until the model is known. A form up to this size may name its model after the file. */
const HELD_BYTES_MAX = 256 * 1024;

/** Fields that the gateway reads. */
const NOTED = ['model', 'stream'] as const;
export type NotedField = (typeof NOTED)[number];
const isNoted = (name: string): name is NotedField => (NOTED as readonly string[]).includes(name);

interface FormBodyField {
  readonly value: string;
  readonly start: number;
  readonly bytes: number;
}

/**
 * A multipart form that streams through: its short fields are read, its files pass in constant memory. Fields before the first file are
 * known before the request is sent anywhere, those after it once they have passed.
 */
export class FormBody implements PassingForm {
  size: number | null;
  private readonly fields = new Map<NotedField, FormBodyField>();
  private readonly scanner: MultipartScanner;
  private readonly chunks: AsyncIterator<Buffer, undefined>;
  private held: Buffer[] = [];
  private heldBytes = 0;
  private hasFile = false;
  onLate: (name: NotedField, value: string) => void = () => undefined;
  private isHead = true;
  private whole: Buffer | null = null;
  /** The whole body is in memory. */
  isWhole = false;

  constructor(
    private readonly request: ClientRequest,
    private readonly capture: BodyCapture,
    private readonly boundary: string,
    private readonly limitBytes: number,
  ) {
    this.size = announcedSize(request);
    this.chunks = bodyChunks(request);
    this.scanner = new MultipartScanner(boundary, {
      onField: (name, value, start) => this.note(name, value, start),
      onFile: () => {
        this.hasFile = true;
      },
    });
  }

  /** Null for a field that has not arrived. */
  field(name: NotedField): string | null {
    return this.fields.get(name)?.value ?? null;
  }

  /**
   * Reads until the first file and the model have arrived, or the whole form if it must be kept. The bound is in bytes, so that a form is
   * treated alike however the network cuts it.
   */
  async readHead(isKept: boolean): Promise<void> {
    while (isKept || (!this.isHeadKnown && this.heldBytes <= HELD_BYTES_MAX)) {
      const chunk = await this.next();
      if (!chunk) {
        this.isWhole = true;
        break;
      }
      this.held.push(chunk);
      this.heldBytes += chunk.length;
    }
    this.isHead = false;
  }

  private get isHeadKnown(): boolean {
    return this.hasFile && this.fields.has('model');
  }

  /** Replaces the value of a field in the head; every other byte is unchanged. */
  replace(name: NotedField, value: string): void {
    const field = this.fields.get(name);
    if (!field) return;
    const whole = Buffer.concat(this.held);
    const end = field.start + field.bytes;
    const bytes = Buffer.from(value);
    this.held = [whole.subarray(0, field.start), bytes, whole.subarray(end)];
    if (this.size !== null) this.size += bytes.length - field.bytes;
  }

  /**
   * The fields of the whole form, files included, once all of it has arrived. Throws `body_too_large`. Not named `read`: the HTTP client
   * takes a body with such a method for a Node stream, and calls it. https://github.com/nodejs/undici/blob/v7.x/lib/dispatcher/client-h1.js
   */
  async readAll(): Promise<Json> {
    this.whole ??= this.isWhole ? this.takeHead() : await this.rest();
    return formFields(this.whole, this.boundary);
  }

  private async rest(): Promise<Buffer> {
    const { limitBytes } = this;
    const pieces: Buffer[] = [];
    let bytes = 0;
    for await (const piece of this) {
      pieces.push(piece);
      bytes += piece.length;
      if (bytes > limitBytes) throw new AppError('body_too_large', { limitBytes });
    }
    return Buffer.concat(pieces);
  }

  /** The head, which is the whole body if `isWhole` or after `readAll`. */
  takeHead(): Buffer {
    const head = this.whole ?? Buffer.concat(this.held);
    this.held = [];
    if (this.isWhole) this.whole = head;
    return head;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer> {
    try {
      const head = this.takeHead();
      if (head.length > 0) yield head;
      for (let chunk = await this.next(); chunk; chunk = await this.next()) yield chunk;
    } finally {
      // As with every streamed body, the rest is read even if it is no longer needed.
      await this.chunks.return?.();
      if (!(this.request instanceof FastRequest)) this.request.resume();
    }
  }

  private async next(): Promise<Buffer | null> {
    const { value: chunk } = await this.chunks.next();
    if (!chunk) return null;
    this.capture.add(chunk);
    this.scanner.feed(chunk);
    return chunk;
  }

  private note(name: string, bytes: Buffer, start: number): void {
    if (!isNoted(name)) return;
    // Parsers differ in which of two equal fields they use, so the logged value might not be the effective one.
    if (this.fields.has(name)) throw fieldError(name, 'may occur in the form only once');
    const value = bytes.toString('utf8');
    this.fields.set(name, { value, start, bytes: bytes.length });
    if (!this.isHead) this.onLate(name, value);
  }
}

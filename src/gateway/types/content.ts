import type { Json } from '../../providers/endpoint.js';
import type { RequestPath } from './request-path.js';

/** A body that streams through. */
export interface PassingBody extends AsyncIterable<Buffer> {
  /** Its announced size; null if it is chunked, and is sent on in chunks. */
  readonly size: number | null;
}

/** Bytes in memory, or a body that streams through; null for none. */
export type RequestBody = Buffer | PassingBody | null;

/** A multipart form that streams through, of which the fields before its first file were read. */
export interface PassingForm extends PassingBody {
  /** Null for a field that has not arrived. */
  field(name: 'model' | 'stream'): string | null;
  /** Called with each of these fields that follows a file. Throws if the field is too late. */
  onLate: (name: 'model' | 'stream', value: string) => void;
  /** The fields of the form, files included, once all of it has arrived. Rejects with `body_too_large`. */
  readAll(): Promise<Json>;
  /** The bytes read so far, once: the whole body after all of it was read. */
  takeHead(): Buffer;
}

/** A body with a `content-encoding`: the client's bytes, and their decoded content. */
export interface EncodedBody {
  readonly bytes: Buffer;
  readonly decoded: Buffer;
}

/** The content of a request as it goes upstream, with its parsed parts. */
export interface RequestContent {
  readonly path: RequestPath;
  readonly body: RequestBody;
  /**
   * The body as an object; null if it was not parsed. Code that changes it must change `body` too: long strings are copied from there
   * (`translation/long-strings.ts`).
   */
  readonly json: Json | null;
  /** Set if `body` was decoded. As long as `body` is unchanged, the client's own bytes are sent instead. */
  readonly encoded?: EncodedBody;
  /** Why the gateway could not read a body that it reads at this endpoint, as the end of a sentence; absent if it could. */
  readonly unreadable?: string;
  /** The body as a form, if the gateway reads it as one. */
  readonly form?: PassingForm;
  /** The fields of that form, files included, if the target needs it translated. */
  readonly fields?: Json;
  readonly model: string | null;
  readonly isStreamed: boolean;
  /** The connection is upgraded to a WebSocket. */
  readonly isWebSocket?: true;
}

/** A request as received. */
export interface ReadRequest extends RequestContent {
  /** Slug that the model named, `@slug/model`. */
  readonly modelSlug: string | null;
  /** The body is kept whole, so that another try can send it again. */
  readonly isRepeatable: boolean;
  /** How long the client took to send it, in milliseconds. */
  readonly waitedMs: number;
}

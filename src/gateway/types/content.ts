import type { Json } from '../../providers/endpoint.js';
import type { RequestPath } from './request-path.js';

/** A body on its way through. */
export interface PassingBody extends AsyncIterable<Buffer> {
  /** Its size, where the client has told it; null where it comes in chunks, and goes on in such. */
  readonly size: number | null;
}

/** Bytes that are known, or a body on its way through; null for none. */
export type RequestBody = Buffer | PassingBody | null;

/** A multipart form on its way through, of which the fields before its first file were read. */
export interface PassingForm extends PassingBody {
  /** Null for a field that has not come. */
  field(name: 'model' | 'stream'): string | null;
  /** What the form says, files included, when all of it has come. Rejects with `body_too_large`. */
  readAll(): Promise<Json>;
  /** The bytes that were read so far, once: the whole body where all of it was read. */
  takeHead(): Buffer;
}

/** A body that came with a `content-encoding`: the bytes of the client, and what they decode to. */
export interface EncodedBody {
  readonly bytes: Buffer;
  readonly decoded: Buffer;
}

/** What a request says to a provider, as it will go upstream, and what was read of it. */
export interface Content {
  readonly path: RequestPath;
  readonly body: RequestBody;
  /**
   * The body as an object; null where it was not read. Whoever changes it changes `body` with it: long strings are copied from there
   * (`translating/long-strings.ts`).
   */
  readonly json: Json | null;
  /** Set where `body` was decoded. As long as nothing changes `body`, the client's own bytes go on in its place. */
  readonly encoded?: EncodedBody;
  /** Why the gateway could not read a body that it reads at this endpoint, as the end of a sentence; absent where it could. */
  readonly unreadable?: string;
  /** The form that the body is, where it is one that the gateway reads. */
  readonly form?: PassingForm;
  /** What that form says, files included, where the target needs it in other words. */
  readonly fields?: Json;
  readonly model: string | null;
  readonly isStreamed: boolean;
  /** The connection is to become a WebSocket. */
  readonly isWebSocket?: true;
}

/** A request as it came. */
export interface ReadRequest extends Content {
  /** Slug that the model named, `@slug/model`. */
  readonly modelSlug: string | null;
  /** The body is kept whole, so that another try can send it again. */
  readonly isRepeatable: boolean;
  /** How long the client took to send it, milliseconds. */
  readonly waitedMs: number;
}

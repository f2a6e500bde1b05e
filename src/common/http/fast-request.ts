import type { IncomingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';

/** The parsed head of a request. */
export interface FastRequestHead {
  readonly method: string;
  readonly url: string;
  /** By lower-case name; each occurs once. */
  readonly headers: Readonly<Record<string, string>>;
  /** Names and values in turn, as the client wrote them. */
  readonly rawHeaders: string[];
}

/** A request whose body arrived with its head. The names are those of Node's `IncomingMessage`. */
export class FastRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  /** Names and values in turn, as the client wrote them. */
  readonly rawHeaders: string[];
  readonly destroyed = false;

  /** `complete`: false if the client disconnected before sending all of `body`. */
  constructor(
    { method, url, headers, rawHeaders }: FastRequestHead,
    readonly body: Buffer,
    readonly socket: Socket,
    readonly complete = true,
  ) {
    this.method = method;
    this.url = url;
    this.headers = headers;
    this.rawHeaders = rawHeaders;
  }
}

import { AppError } from '../../common/errors/app-error.js';
import { sandboxAnswer } from '../../providers/sandbox/sandbox.js';
import type { Wire, WireHandler, WireRequest } from './wire.js';

/** Maximum request body that the sandbox reads. */
const BODY_BYTES_MAX = 32 * 1024 * 1024;

/** The built-in provider as a wire: apart from the socket, its responses are handled like any other. */
export const sandboxWire: Wire = {
  dispatch: (request, handler) => {
    void new Performance(handler).play(request);
  },
};

/** One response of the sandbox, frame by frame, at its own pace and the reader's. */
class Performance {
  private isAborted = false;
  private whenResumed: (() => void) | null = null;
  private wake: (() => void) | null = null;

  constructor(private readonly handler: WireHandler) {}

  async play(request: WireRequest): Promise<void> {
    const { handler } = this;
    handler.onConnect((reason) => {
      this.abort(reason);
    });
    try {
      const { method, path } = request;
      const { status, headers, frames } = sandboxAnswer({ method, path, body: await collect(request.body) });
      const raw = headers.flat();
      for (const [index, { afterMs, bytes }] of frames.entries()) {
        if (afterMs > 0) await this.pause(afterMs);
        if (this.isAborted) return;
        if (index === 0)
          handler.onHeaders(
            status,
            raw,
            () => {
              this.resume();
            },
            '',
          );
        if (!handler.onData(bytes)) await this.resumed();
      }
      if (!this.isAborted) handler.onComplete();
    } catch (error) {
      if (!this.isAborted) handler.onError(error as Error);
    }
  }

  private abort(reason?: Error): void {
    if (this.isAborted) return;
    this.isAborted = true;
    this.handler.onError(reason ?? new AppError('upstream_error', { detail: 'the request was cancelled' }));
    this.wake?.();
    this.resume();
  }

  private pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  private resumed(): Promise<void> {
    return new Promise((resolve) => {
      if (this.isAborted) resolve();
      else this.whenResumed = resolve;
    });
  }

  private resume(): void {
    this.whenResumed?.();
    this.whenResumed = null;
  }
}

async function collect(body: WireRequest['body']): Promise<Buffer> {
  if (body === null) return Buffer.alloc(0);
  if (Buffer.isBuffer(body)) return body;
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > BODY_BYTES_MAX) throw new AppError('body_too_large', { limitBytes: BODY_BYTES_MAX });
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, bytes);
}

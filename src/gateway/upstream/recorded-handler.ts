import type { Duplex } from 'node:stream';
import type { CacheFill, ResponseRecording, WireHandler } from './wire.js';

/** A handler that also records the response for the cache. */
export const recordedHandler = (handler: WireHandler, fill: CacheFill): WireHandler =>
  new RecordedHandler(handler, fill.record());

class RecordedHandler implements WireHandler {
  constructor(
    private readonly handler: WireHandler,
    private readonly recording: ResponseRecording,
  ) {}

  onConnect(abort: (reason?: Error) => void): void {
    this.handler.onConnect(abort);
  }

  onHeaders(status: number, rawHeaders: readonly string[], resume: () => void, statusText: string): boolean {
    this.recording.begin(status, rawHeaders);
    return this.handler.onHeaders(status, rawHeaders, resume, statusText);
  }

  onUpgrade(status: number, rawHeaders: readonly string[], socket: Duplex): void {
    this.handler.onUpgrade(status, rawHeaders, socket);
  }

  onData(chunk: Buffer): boolean {
    this.recording.add(chunk);
    return this.handler.onData(chunk);
  }

  onComplete(): void {
    this.recording.over(false);
    this.handler.onComplete();
  }

  onError(error: Error): void {
    this.recording.over(true);
    this.handler.onError(error);
  }
}

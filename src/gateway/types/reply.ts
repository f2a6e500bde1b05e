import type { AppError } from '../../common/errors/app-error.js';

/** Receives the bytes of a reply as they arrive. */
export interface ReplySink {
  /** False requests a pause; `Reply.resume` ends it. */
  onChunk(chunk: Buffer): boolean;
  onEnd(): void;
  /** The provider broke off after its response had begun, or the attempt was cancelled. */
  onFail(error: AppError): void;
}

/**
 * A provider's response, whatever its status: its head has arrived, its body is on the way. Chunks that arrive before a sink is attached
 * are kept; they belong to the same packet.
 */
export interface Reply {
  readonly status: number;
  readonly statusText: string;
  /** Names and values in turn, as the provider wrote them, hop-by-hop fields included. */
  readonly rawHeaders: readonly string[];
  attach(sink: ReplySink): void;
  resume(): void;
  /** Stops the provider's work: the rest is not needed. */
  cancel(): void;
}

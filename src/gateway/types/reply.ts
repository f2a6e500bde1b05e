import type { AppError } from '../../common/errors/app-error.js';

/** Takes the bytes of a reply as they come. */
export interface ReplySink {
  /** False asks for a pause; `Reply.resume` ends it. */
  onChunk(chunk: Buffer): boolean;
  onEnd(): void;
  /** The provider broke off after its answer had begun, or the attempt was cancelled. */
  onFail(error: AppError): void;
}

/**
 * A provider's answer, whatever its status: its head has arrived, its body is on the way.
 * Chunks that come before a sink is attached are kept; they are those of the same packet.
 */
export interface Reply {
  readonly status: number;
  readonly statusText: string;
  /** Names and values in turn, as the provider wrote them, hop-by-hop fields included. */
  readonly rawHeaders: readonly string[];
  attach(sink: ReplySink): void;
  resume(): void;
  /** Ends the provider's work: the rest is not needed. */
  cancel(): void;
}

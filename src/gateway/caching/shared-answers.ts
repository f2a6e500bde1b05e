import type { CachedResponseKey, AnswerStore } from '../ports.js';
import type { StoredResponse } from '../types/stored-answer.js';
import { StoreCircuit } from './store-circuit.js';

/** The responses of all processes. Waits for the store are short, and a failure there is a miss. */
export class SharedAnswers {
  private readonly circuit = new StoreCircuit('The cache store failed. Requests continue without it.');

  constructor(private readonly store: AnswerStore) {}

  /** Undefined when it is unknown. */
  find(place: CachedResponseKey): Promise<StoredResponse | null | undefined> {
    return this.circuit.ask(async () => {
      const found = await this.store.find(place);
      return found && decodedResponse(found);
    });
  }

  /** Never throws and returns at once. */
  keep(place: CachedResponseKey, answer: StoredResponse): void {
    const bytes = bytesOf(answer);
    this.circuit.tell(bytes.length, () => this.store.keep(place, bytes, answer.expiresAt));
  }
}

interface StoredResponseHead {
  readonly headers: readonly string[];
  readonly lengths: readonly number[];
  readonly storedAt: number;
  readonly expiresAt: number;
}

const LENGTH_BYTES = 4;

/** A response as one buffer: the length of its head, the head as JSON, then the chunks. */
export function bytesOf({ chunks, ...head }: StoredResponse): Buffer {
  const text = Buffer.from(JSON.stringify({ ...head, lengths: chunks.map(({ length }) => length) }));
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32BE(text.length);
  return Buffer.concat([length, text, ...chunks]);
}

/** Throws for bytes that `bytesOf` did not write. The chunks are views of `bytes`. */
export function decodedResponse(bytes: Buffer): StoredResponse {
  const bodyAt = LENGTH_BYTES + bytes.readUInt32BE(0);
  const head = JSON.parse(bytes.toString('utf8', LENGTH_BYTES, bodyAt)) as StoredResponseHead;
  let at = bodyAt;
  const chunks = head.lengths.map((length) => bytes.subarray(at, (at += length)));
  if (at !== bytes.length) throw new Error('A stored response is shorter than its recorded length.');
  const { headers, storedAt, expiresAt } = head;
  return { headers, chunks, storedAt, expiresAt };
}

import type { StoredAnswer } from '../types/stored-answer.js';

/** What an entry and each of its pieces take besides their bytes, about. */
const ENTRY_BYTES = 1024;
const PIECE_BYTES = 128;

/** An answer in memory, and when the store behind it was last asked for it. */
export interface KnownAnswer {
  readonly answer: StoredAnswer;
  readonly bytes: number;
  readonly checkedAt: number;
}

/** The answers that this process used last, up to so many bytes. */
export class MemoryAnswers {
  private readonly known = new Map<string, KnownAnswer>();
  private total = 0;

  constructor(private readonly bytesMax: number) {}

  get bytes(): number {
    return this.total;
  }

  find(key: string): KnownAnswer | null {
    const found = this.known.get(key);
    if (!found) return null;
    this.known.delete(key);
    this.known.set(key, found);
    return found;
  }

  keep(key: string, answer: StoredAnswer, checkedAt: number): void {
    this.forget(key);
    const bytes = answer.chunks.reduce((sum, { length }) => sum + length + PIECE_BYTES, ENTRY_BYTES);
    if (bytes > this.bytesMax) return;
    this.known.set(key, { answer, bytes, checkedAt });
    this.total += bytes;
    for (const oldest of this.known.keys()) {
      if (this.total <= this.bytesMax) return;
      this.forget(oldest);
    }
  }

  forget(key: string): void {
    const found = this.known.get(key);
    if (!found) return;
    this.known.delete(key);
    this.total -= found.bytes;
  }
}

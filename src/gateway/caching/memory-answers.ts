import { LRUCache } from 'lru-cache';
import type { StoredAnswer } from '../types/stored-answer.js';

/** What an entry and each of its pieces take besides their bytes, about. */
const ENTRY_BYTES = 1024;
const PIECE_BYTES = 128;

/** An answer in memory, and when the store behind it was last asked for it. */
export interface KnownAnswer {
  readonly answer: StoredAnswer;
  readonly checkedAt: number;
}

/** The answers that this process used last, up to so many bytes. */
export class MemoryAnswers {
  private readonly known: LRUCache<string, KnownAnswer>;

  constructor(bytesMax: number) {
    // No entry fits into one byte: 0 keeps none.
    this.known = new LRUCache({ maxSize: Math.max(1, bytesMax), sizeCalculation: bytesOf });
  }

  get bytes(): number {
    return this.known.calculatedSize;
  }

  find(key: string): KnownAnswer | null {
    return this.known.get(key) ?? null;
  }

  keep(key: string, answer: StoredAnswer, checkedAt: number): void {
    this.known.set(key, { answer, checkedAt });
  }

  forget(key: string): void {
    this.known.delete(key);
  }
}

const bytesOf = ({ answer }: KnownAnswer): number =>
  answer.chunks.reduce((sum, { length }) => sum + length + PIECE_BYTES, ENTRY_BYTES);

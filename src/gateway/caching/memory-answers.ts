import { LRUCache } from 'lru-cache';
import type { StoredResponse } from '../types/stored-answer.js';

/** Approximate overhead of an entry and of each of its chunks, in bytes. */
const ENTRY_BYTES = 1024;
const PIECE_BYTES = 128;

/** A response in memory, and when the store behind it was last read. */
export interface KnownAnswer {
  readonly answer: StoredResponse;
  readonly checkedAt: number;
}

/** The most recently used responses of this process, up to a size in bytes. */
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

  keep(key: string, answer: StoredResponse, checkedAt: number): void {
    this.known.set(key, { answer, checkedAt });
  }

  forget(key: string): void {
    this.known.delete(key);
  }
}

const bytesOf = ({ answer }: KnownAnswer): number =>
  answer.chunks.reduce((sum, { length }) => sum + length + PIECE_BYTES, ENTRY_BYTES);

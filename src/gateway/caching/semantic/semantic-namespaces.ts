import { LRUCache } from 'lru-cache';
import type { VectorNamespace, VectorStore } from '../../ports.js';
import { StoreCircuit } from '../store-circuit.js';
import { bytesOfVector, type Vector, vectorFrom } from './vector.js';

/** An earlier request, and the key of its cached response. */
export interface CachedPrompt {
  readonly key: string;
  readonly vector: Vector;
  /** When the response expires, in milliseconds since the epoch. */
  readonly expiresAt: number;
}

/** Maximum requests of a namespace, the newest: each search compares all of them. */
export const QUESTIONS_MAX = 500;

/** Memory for all namespaces together. */
const BYTES_MAX = 16 * 1024 * 1024;
/** Approximate overhead of a request besides its vector, in bytes. */
const QUESTION_BYTES = 256;

/** How long requests in memory are used before the store is read again: other processes' requests are included by then. */
const BELIEVED_MS = 20_000;

interface NamespaceEntry {
  readonly questions: readonly CachedPrompt[];
  readonly checkedAt: number;
}

const EMPTY: readonly CachedPrompt[] = [];

/** The requests of the namespaces that this process used most recently. */
export class SemanticNamespaces {
  private readonly entries: LRUCache<string, NamespaceEntry>;
  private readonly readings = new Map<string, Promise<readonly CachedPrompt[]>>();
  private readonly circuit = new StoreCircuit(
    'The store of cached embeddings failed. It returns no semantic matches until it works again.',
  );

  /** `store`: null when requests stay in this process. */
  constructor(
    private readonly store: VectorStore | null,
    bytesMax = BYTES_MAX,
  ) {
    this.entries = new LRUCache({ maxSize: bytesMax, sizeCalculation: bytesOf });
  }

  get bytes(): number {
    return this.entries.calculatedSize;
  }

  /** Newest first. Never rejects: while the store is unavailable, requests in memory are used for longer. */
  async questionsIn(place: VectorNamespace): Promise<readonly CachedPrompt[]> {
    const known = this.entries.get(place.digest);
    const { store } = this;
    const isBelieved = known !== undefined && Date.now() - known.checkedAt < BELIEVED_MS;
    if (isBelieved || !store) return known?.questions ?? EMPTY;
    // Concurrent callers share one read: a namespace may be large.
    let reading = this.readings.get(place.digest);
    if (!reading) {
      reading = this.read(place, store).finally(() => this.readings.delete(place.digest));
      this.readings.set(place.digest, reading);
    }
    return reading;
  }

  private async read(place: VectorNamespace, store: VectorStore): Promise<readonly CachedPrompt[]> {
    const found = await this.circuit.ask(() => store.newest(place, QUESTIONS_MAX));
    if (!found) return this.entries.get(place.digest)?.questions ?? EMPTY;
    const questions = found.flatMap(({ key, vector, expiresAt }) => {
      const read = vectorFrom(vector);
      return read ? [{ key, vector: read, expiresAt }] : [];
    });
    this.put(place.digest, questions, Date.now());
    return questions;
  }

  /** Replaces the request with the same key. */
  keep(place: VectorNamespace, question: CachedPrompt): void {
    const { key, vector, expiresAt } = question;
    const known = this.entries.get(place.digest);
    const others = (known?.questions ?? EMPTY).filter((other) => other.key !== key);
    // A namespace that was never read is still due to be read.
    this.put(place.digest, [question, ...others].slice(0, QUESTIONS_MAX), known?.checkedAt ?? -Infinity);
    const bytes = bytesOfVector(vector);
    const { store } = this;
    if (store)
      this.circuit.tell(bytes.length, () =>
        store.keep(place, { key, vector: bytes, expiresAt }, QUESTIONS_MAX),
      );
  }

  private put(namespaceKey: string, questions: readonly CachedPrompt[], checkedAt: number): void {
    this.entries.set(namespaceKey, { questions, checkedAt });
  }
}

const bytesOf = ({ questions }: NamespaceEntry): number =>
  questions.reduce((sum, { vector }) => sum + vector.bytes.length + QUESTION_BYTES, QUESTION_BYTES);

import { Worker } from 'node:worker_threads';
import { AppError } from '../common/errors/app-error.js';
import { TokenCounter } from '../gateway/ports.js';

/** The thread ends, and frees its 73 MiB, after being idle for this long. */
const IDLE_MS = 60_000;
/** A text takes up to a second; a request behind this many has timed out by then. */
const WAITING_MAX = 32;

interface WaitingCount {
  readonly resolve: (tokens: number) => void;
  readonly reject: (error: Error) => void;
}

/** Counts tokens in a separate thread, which runs only while it is needed. */
export class WorkerTokenCounter extends TokenCounter {
  private worker: Worker | null = null;
  private readonly waiting = new Map<number, WaitingCount>();
  private ids = 0;
  private idle: NodeJS.Timeout | undefined;

  count(text: string): Promise<number> {
    if (this.waiting.size >= WAITING_MAX) return Promise.reject(new AppError('overloaded'));
    clearTimeout(this.idle);
    const worker = (this.worker ??= this.start());
    const id = ++this.ids;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      worker.postMessage({ id, text });
    });
  }

  private start(): Worker {
    const worker = new Worker(new URL('./token-counting-worker.js', import.meta.url));
    worker.on('message', ({ id, tokens }: { readonly id: number; readonly tokens: number }) => {
      this.waiting.get(id)?.resolve(tokens);
      this.waiting.delete(id);
      if (this.waiting.size === 0) this.idle = setTimeout(() => void worker.terminate(), IDLE_MS).unref();
    });
    worker.on('error', (error) => this.lost(worker, error));
    worker.on('exit', () => this.lost(worker, new Error('the token counting thread has ended')));
    worker.unref();
    return worker;
  }

  private lost(worker: Worker, cause: Error): void {
    if (this.worker !== worker) return;
    this.worker = null;
    const waiting = [...this.waiting.values()];
    this.waiting.clear();
    for (const { reject } of waiting) reject(new AppError('internal_error', {}, { cause }));
  }
}

import type { Dispatcher, Pool } from 'undici';
import type { ConnectionPool } from './http1/connection-pool.js';

/** What one tenant has of one origin: connections for whole requests, and undici's for everything else. */
export class Origin {
  /** When it was last used, counted in requests. */
  lastUse = 0;
  private pool: Pool | null = null;
  private isClosed = false;

  constructor(
    /** Takes requests whose bytes are all there, at half of what they cost in `dispatcher`; null where undici takes all. */
    readonly connections: ConnectionPool | null,
    private readonly createPool: () => Pool,
  ) {}

  /** Takes every request. Most origins never need it, so it is made on demand. */
  get dispatcher(): Dispatcher {
    if (this.pool) return this.pool;
    this.pool = this.createPool();
    // It says itself that it is closed.
    if (this.isClosed) void this.pool.close();
    return this.pool;
  }

  /** Requests under way come to their end; only then their connections close. */
  close(): void {
    this.isClosed = true;
    this.connections?.close();
    void this.pool?.close();
  }

  /** Ends every connection. Requests under way fail. */
  async destroy(): Promise<void> {
    this.isClosed = true;
    this.connections?.destroy();
    await this.pool?.destroy();
  }
}

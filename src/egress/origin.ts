import type { Dispatcher, Pool } from 'undici';
import type { ConnectionPool } from './http1/connection-pool.js';

/** One tenant's clients for one origin: connections for complete requests, and undici's for everything else. */
export class Origin {
  /** When it was last used, counted in requests. */
  lastUse = 0;
  private pool: Pool | null = null;
  private isClosed = false;

  constructor(
    /** Accepts requests whose bytes are all available, at half the cost of `dispatcher`; null if undici handles all. */
    readonly connections: ConnectionPool | null,
    private readonly createPool: () => Pool,
  ) {}

  /** Accepts every request. Most origins never need it, so it is created on demand. */
  get dispatcher(): Dispatcher {
    if (this.pool) return this.pool;
    this.pool = this.createPool();
    // It reports itself that it is closed.
    if (this.isClosed) void this.pool.close();
    return this.pool;
  }

  /** Requests under way finish; only then their connections close. */
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

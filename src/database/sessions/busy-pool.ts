import pg from 'pg';

/** `pg` uses this text when a caller waited too long for a connection of a full pool, whatever the connections were doing. */
const WAITED_TOO_LONG = 'timeout exceeded when trying to connect';

/** No connection became free in time, because other callers used all of them: the database is there. */
export class BusyPoolError extends Error {
  constructor(cause: unknown) {
    super('All connections of this pool are in use.', { cause });
  }
}

type PoolConnectCallback = (
  error: Error | undefined,
  client: pg.PoolClient | undefined,
  done: () => void,
) => void;

/**
 * A pool that tells two failures apart that `pg` reports alike: connections that are all in use (`BusyPoolError`), and connections that
 * cannot be opened.
 */
export class AttributingPool extends pg.Pool {
  private inUse = 0;

  constructor(config?: pg.PoolConfig) {
    super(config);
    this.on('acquire', () => (this.inUse += 1)).on('release', () => (this.inUse -= 1));
  }

  override connect(): Promise<pg.PoolClient>;
  override connect(connected: PoolConnectCallback): void;
  override connect(connected?: PoolConnectCallback): Promise<pg.PoolClient> | void {
    if (connected)
      return super.connect((error, client, done) => connected(error && this.attributed(error), client, done));
    return super.connect().catch((error: unknown) => {
      throw error instanceof Error ? this.attributed(error) : error;
    });
  }

  private attributed(error: Error): Error {
    return this.inUse > 0 && error.message === WAITED_TOO_LONG ? new BusyPoolError(error) : error;
  }
}

/** The driver that TypeORM uses, with this pool. */
export const ATTRIBUTING_DRIVER = Object.create(pg, { Pool: { value: AttributingPool } }) as typeof pg;

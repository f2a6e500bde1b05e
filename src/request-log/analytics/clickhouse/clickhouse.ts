import type { OnApplicationShutdown } from '@nestjs/common';
import type { ClickHouseClient, ClickHouseSettings as QuerySettings, QueryParams } from '@clickhouse/client';
import { AppError } from '../../../common/errors/app-error.js';
import { answeredWithin } from '../../../common/processes/answered-within.js';
import { CLICKHOUSE_TIMEOUTS } from '../../../common/net/store-timeouts.js';
import type { ClickHouseSettings, RetentionDays } from '../../../common/settings/settings.js';
import { connectionOptions } from './connection-options.js';
import { Ddl } from './ddl.js';
import { prepareSchema } from './schema.js';

const READING_LIMITS = CLICKHOUSE_TIMEOUTS.reading;
const CONNECTIONS = 4;

export interface ClickHouseOptions extends Pick<ClickHouseSettings, 'cluster'> {
  readonly retentionDays: RetentionDays;
  /** Time limit of a read in seconds; default: 5. */
  readonly readWithinS?: number;
}

type ClickhouseParameters = Readonly<Record<string, unknown>>;

/** Values by column, in row order. Without rows there are no columns. */
export interface Columns<Name extends string> {
  readonly data: Readonly<Partial<Record<Name, readonly unknown[]>>>;
  readonly rows: number;
}

/**
 * The ClickHouse of `CLICKHOUSE_URL`, with its tables in place before the first use. The package is loaded only where it
 * is set. https://clickhouse.com/docs/integrations/javascript
 */
export class ClickHouse implements OnApplicationShutdown {
  private prepared: Promise<void> | undefined;

  constructor(
    private readonly client: ClickHouseClient,
    private readonly options: ClickHouseOptions,
  ) {}

  static async connect(settings: ClickHouseSettings, retentionDays: RetentionDays): Promise<ClickHouse> {
    const { ClickHouseLogLevel, createClient } = await import('@clickhouse/client');
    const client = createClient({
      ...connectionOptions(settings, CONNECTIONS),
      application: 'gatehouse',
      request_timeout: CLICKHOUSE_TIMEOUTS.storing.commandMs,
      keep_alive: { enabled: true, idle_socket_ttl: CLICKHOUSE_TIMEOUTS.storing.idleMs },
      // The caller logs failures; the package would write them to the console.
      log: { level: ClickHouseLogLevel.OFF },
      // Lists of ids may exceed the maximum length of a URL.
      use_multipart_params_auto: true,
    });
    return new ClickHouse(client, { cluster: settings.cluster, retentionDays });
  }

  /** Rows of a query, within five seconds. Throws `overloaded` when it takes longer. */
  read<Row>(sql: string, parameters: ClickhouseParameters): Promise<readonly Row[]> {
    return this.answer(sql, parameters, async (asked) => {
      const answer = await this.client.query({ ...asked, format: 'JSONEachRow' });
      return answer.json<Row>();
    });
  }

  /**
   * Like `read`, for responses with many columns or rows: column names occur once, which halves the time to read them. Times are ISO 8601.
   * https://clickhouse.com/docs/interfaces/formats/JSONColumnsWithMetadata
   */
  readColumns<Name extends string>(sql: string, parameters: ClickhouseParameters): Promise<Columns<Name>> {
    return this.answer(`${sql} ${OF_ROWS}`, parameters, async (asked) => {
      const answer = await this.client.query({ ...asked, format: 'JSONColumnsWithMetadata' });
      // The package types this format as rows.
      return (await answer.json()) as unknown as Columns<Name>;
    });
  }

  private async answer<Answer>(
    query: string,
    parameters: ClickhouseParameters,
    ask: (asked: Omit<QueryParams, 'format'>) => Promise<Answer>,
  ): Promise<Answer> {
    const { readWithinS = READING_LIMITS.serverMs / 1_000 } = this.options;
    const answerMs = READING_LIMITS.commandMs - READING_LIMITS.serverMs;
    const withinMs = readWithinS * 1_000 + answerMs;
    const abort = AbortSignal.timeout(withinMs);
    try {
      // Creating the tables may take longer than a reader waits; a later reader finds them.
      await answeredWithin(this.ready(), withinMs, 'ClickHouse did not respond in time.');
      return await ask({
        query,
        query_params: { ...parameters },
        clickhouse_settings: { ...READING, max_execution_time: readWithinS },
        abort_signal: abort,
      });
    } catch (error) {
      const { code } = error as { readonly code?: unknown };
      if (abort.aborted || TOO_MUCH.has(code))
        throw new AppError('query_timeout', { seconds: readWithinS }, { cause: error });
      if (code === TOO_MANY_QUERIES) throw new AppError('overloaded', {}, { cause: error });
      throw namingSetting(error);
    }
  }

  /** Runs statements that change tables. `statementsOf` gets the table names and the cluster on which to run them. */
  async change(statementsOf: (ddl: Ddl) => readonly string[]): Promise<void> {
    await this.ready();
    for (const query of statementsOf(new Ddl(this.options.cluster))) await this.client.command({ query });
  }

  /**
   * Stores rows of a batch. Repeating a token changes neither the table nor the rollups above it, and completes an interrupted insert:
   * https://clickhouse.com/docs/guides/developer/deduplicating-inserts-on-retries
   */
  async insert(table: string, rows: readonly unknown[], token: string): Promise<void> {
    await this.ready();
    const inserted = this.client.insert({
      table,
      values: [...rows],
      format: 'JSONEachRow',
      clickhouse_settings: {
        ...STORING,
        ...(this.options.cluster === undefined ? {} : ON_CLUSTER),
        insert_deduplication_token: token,
      },
    });
    await inserted.catch((error: unknown) => {
      throw namingSetting(error);
    });
  }

  async onApplicationShutdown(): Promise<void> {
    await this.client.close();
  }

  /** After a failure, the next caller retries. */
  private async ready(): Promise<void> {
    this.prepared ??= prepareSchema(this.client, this.options);
    try {
      await this.prepared;
    } catch (error) {
      this.prepared = undefined;
      throw namingSetting(error);
    }
  }
}

const READING: QuerySettings = {
  // An alias may equal the name of the column that it is computed from.
  prefer_column_name_to_alias: 1,
  output_format_json_quote_64bit_integers: 0,
};

/**
 * For rows. With a small LIMIT and an ORDER BY, read-ahead would read all rows.
 * https://clickhouse.com/docs/reference/settings/session-settings/read-in
 */
const OF_ROWS = "SETTINGS date_time_output_format = 'iso', read_in_order_use_buffering = 0";

/** Rows form one block per partition in a fixed order, so that the token identifies a retry. */
const STORING: QuerySettings = {
  async_insert: 0,
  max_execution_time: CLICKHOUSE_TIMEOUTS.storing.serverMs / 1_000,
  insert_deduplicate: 1,
  deduplicate_blocks_in_dependent_materialized_views: 1,
  input_format_parallel_parsing: 0,
  // Imported logs may cover any number of days.
  max_partitions_per_insert_block: '0',
};

/** The insert returns once the shards have the rows. */
const ON_CLUSTER: QuerySettings = { distributed_foreground_insert: 1 };

/** TIMEOUT_EXCEEDED, TOO_SLOW, MEMORY_LIMIT_EXCEEDED. */
const TOO_MUCH: ReadonlySet<unknown> = new Set(['159', '160', '241']);
const TOO_MANY_QUERIES = '202';

const NETWORK_FAILURE = /^(E[A-Z]+|EAI_\w+)$/;

/** Says in the log which setting to check. Errors of ClickHouse itself, whose code is a number, stay as they are. */
function namingSetting(error: unknown): unknown {
  const { code } = error as { readonly code?: unknown };
  if (typeof code !== 'string' || !NETWORK_FAILURE.test(code)) return error;
  const named = new Error(
    `ClickHouse cannot be reached (${code}). Check CLICKHOUSE_URL and that ClickHouse runs.`,
    {
      cause: error,
    },
  );
  return Object.assign(named, { code });
}

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const SOURCE = join(import.meta.dirname, '../../src');

/** Where clients of stores are made. Each takes its limits from `common/net/store-timeouts.ts`. */
const MAKERS: Readonly<Record<string, readonly string[]>> = {
  // `pg`: pools and single connections
  "from 'pg'[^]*(new (pg\\.)?(Pool|Client)\\(|extends pg\\.Client)": [
    'database/sessions/postgres-connections.ts',
  ],
  'new DataSource\\(': ['schema/data-source.ts'],
  'new (Redis|Cluster)\\(': [
    'adapters/redis-connection.ts',
    'egress/store-checks.ts',
    'jobs/queues/redis-queues.ts',
    'cli/doctor/check-redis.ts',
  ],
  '\\bcreateClient\\(': ['request-log/analytics/clickhouse/clickhouse.ts', 'cli/doctor/check-clickhouse.ts'],
  'S3Client\\(': ['request-log/bodies/object-store.ts'],
  'createTransport\\(': ['jobs/mails/mailer.ts'],
  'new OTLP\\w+Exporter\\(': [
    'jobs/sinks/otlp/metric-sink.ts',
    'jobs/sinks/otlp/trace-sink.ts',
    'telemetry/log-export-thread.ts',
    'telemetry/registry-export.ts',
  ],
};

/** Options under which the packages take a time limit. */
const LIMIT =
  /\b(connectionTimeoutMillis|query_timeout|idleTimeoutMillis|keepAliveInitialDelayMillis|connectTimeoutMS|commandTimeout|socketTimeout|connectTimeout|connectionTimeout|greetingTimeout|dnsTimeout|request_timeout|idle_socket_ttl|timeoutMillis)\b: (.*)/;

const files = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts') && !path.endsWith('.spec.ts'))
  .map((path) => ({ path, text: readFileSync(join(SOURCE, path), 'utf8') }));

describe('clients of stores', () => {
  it.each(Object.entries(MAKERS))('are made by %s only where their time limits are set', (made, makers) => {
    const found = files.filter(({ text }) => new RegExp(made).test(text)).map(({ path }) => path);
    expect(found.sort()).toEqual([...makers].sort());
  });

  it('take their time limits from the one table', () => {
    const makers = [...new Set(Object.values(MAKERS).flat())];
    const without = files
      .filter(({ path }) => makers.includes(path))
      .filter(({ text }) => !/(store-timeouts|redis-limits|postgres-connections)\.js/.test(text));
    expect(without.map(({ path }) => path)).toEqual([]);
  });

  it('are given no number for a time limit anywhere', () => {
    const numbers = files.flatMap(({ path, text }) =>
      text
        .split('\n')
        .map((line) => LIMIT.exec(line))
        .filter((match) => match !== null && /^[\d(]|_000/.test(match[2] ?? ''))
        .map((match) => `${path}: ${match?.[0] ?? ''}`),
    );
    expect(numbers).toEqual([]);
  });
});

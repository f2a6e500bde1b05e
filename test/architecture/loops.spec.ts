import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const SRC = join(import.meta.dirname, '../../src');

/**
 * Timers and endless loops outside of `common/loops`, each with the reason why it needs no supervision. Work that can
 * fail, hang or wait for a store belongs into an `IntervalJob`.
 */
const ALLOWED: Readonly<Record<string, string>> = {
  'common/loops/interval-job.ts': 'the mechanism itself',
  'common/supervision/loop-reports.ts':
    'reports the loops to the supervisor, which notices when reports stop',
  // Ticks over memory: synchronous, no store, nothing to wait for; they run only while there is something to look at.
  'gateway/upstream/attempt.ts': 'looks at the deadlines of running attempts',
  'gateway/delivery/running-streams.ts': 'asks for each running stream by itself, bounded by the directory',
  'gateway/realtime/sessions.ts': 'asks for each running session by itself, bounded by the directory',
  'egress/http1/connection-pool.ts': 'closes idle connections',
  'server/fast-path/fast-path.ts': 'closes idle connections',
  'server/tls/certificate-reloader.ts': 'compares three small files; what it rejects is a metric of its own',
  'server/http.ts': 'closes idle connections during the shutdown, and ends with it',
  // Heartbeats: one call each, whose failure somebody else notices.
  'request-log/spool/spool-writer.ts': 'touches the owner file; an error is handled by the next write',
  'request-log/spool/segment-chain.ts':
    'tries once a second to leave the degraded state, which is a metric of its own',
  'cli/folder/folder-lock.ts': 'touches the lock; another start notices when it stops',
  'cli/processes/loop-watch.ts': 'the supervisor passes on what its processes report',
  'gateway/limits/leases.ts': 'rounds that end within two seconds and may overlap; reports to `LoopHealth`',
  'adapters/changes/redis-change-feed.ts': 'sends a heartbeat; receiving it is what `LoopHealth` is told of',
  'jobs/exports/export-writer.ts': 'renews the lease of one upload, and loops over the pieces of one file',
  // Loops that end with what they work on.
  'request-log/spool/segment-reader.ts': 'reads one segment',
  'jobs/shipping/spool-tail.ts': 'reads one segment',
  'jobs/shipping/open-exchanges.ts': 'reads one file',
  'egress/http1/line-reader.ts': 'reads one line',
  'gateway/attempt/retry.ts': 'the tries of one attempt',
  'adapters/tokens/key-renewal.ts': 'waits for another process to fetch one key set, ten seconds at most',
  'server/admin-relay.ts': 'the tries of one request',
  'adapters/directories/refreshing-cache.ts': 'the reads of one value',
  'admin/audit-logs/audit-logs.service.ts': 'the pages of one export',
  'admin/logs/search/body-search.ts': 'the steps of one search',
  'adapters/directories/snapshot/snapshot-file.ts': 'the parts of one file',
  'gateway/guardrails/texts/escaped-text.ts': 'the special characters of one text',
  'common/json/json-fault.ts': 'the characters of one text',
  'gateway/translation/unsupported-parameters.ts': 'the parameters of one request',
  'gateway/guardrails/finding/windows.ts': 'the stretches of one text',
  'cli/config-as-code/administration-client.ts': 'the pages of one list',
  'cli/database/prepare-database.ts': 'waits at the start for an API node',
  'schema/build-index.ts': 'the partitions of one table',
  'schema/migrate.ts': 'waits for the lock of migrations, and repeats one for five minutes at most',
  // Starts, which the supervisor and the log follow.
  'jobs/queues/postgres-queues.ts': 'prepares the schema of the queue at the start',
  'database/sessions/connect-patiently.ts': 'connects at the start',
  'cli/database/await-database.ts': 'waits for the database at the start',
  'cli/database/start-in-outage.ts': 'prepares the database when it comes back; its state is in readiness',
  'adapters/changes/postgres-change-feed.ts': 'keeps the connection that listens; reports to `LoopHealth`',
};

const LOOP = /\bsetInterval\(|\bfor \([^;)]*; ?; ?[^;)]*\)|\bwhile \(true\)|\bwhile \(!?this\.(is)?[sS]top/;

const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter(
  (path) => path.endsWith('.ts') && !path.endsWith('.spec.ts'),
);
const withLoops = files.filter((path) => LOOP.test(readFileSync(join(SRC, path), 'utf8')));

describe('work in the background', () => {
  it('is done by interval jobs: no other file has a bare timer or an endless loop without a reason', () => {
    expect(withLoops.filter((path) => !(path in ALLOWED))).toEqual([]);
  });

  it('has no exception that is not needed any more', () => {
    expect(Object.keys(ALLOWED).filter((path) => !withLoops.includes(path))).toEqual([]);
  });

  it('has a name for each of its loops that no other loop has', () => {
    const names = files.flatMap((path) =>
      [...readFileSync(join(SRC, path), 'utf8').matchAll(/new IntervalJob\([\s\S]*?\bname: (.+?),\n/g)].map(
        ([, name]) => name,
      ),
    );
    expect(names.length).toBeGreaterThan(15);
    expect(new Set(names).size).toBe(names.length);
  });
});

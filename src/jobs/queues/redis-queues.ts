import { Cluster, type RedisOptions } from 'ioredis';
import { retryPauseMs } from '../../common/loops/retry-pause.js';
import { redisLimits } from '../../common/net/redis-limits.js';
import { storeTlsOf } from '../../common/net/store-tls.js';
import type { Secret } from '../../common/settings/secret.js';

const DEFAULT_PORT = 6379;
const SENTINEL_PORT = 26379;
const RECONNECT = { firstMs: 200, maxMs: 2_000 };

/** In a cluster all keys of a queue must share a slot, which the braces ensure: https://docs.bullmq.io/bull/patterns/redis-cluster */
export const REDIS_PREFIX = '{gatehouse}';

interface RedisNode {
  readonly host: string;
  readonly port: number;
}

/**
 * BullMQ's connection to Redis or Valkey.
 *
 * - `redis://user:password@host:6379/0`, `rediss://` with TLS: one server
 * - `redis://user:password@sentinel:26379/0?sentinel=mymaster`: the master that Sentinel names
 * - `rediss://user:password@node:6379?cluster=true`: a cluster
 *
 * `sslrootcert`, `sslcert` and `sslkey` name the files of TLS. Further seed nodes of the last two: `&node=other-host:port`, repeatable. The server must run with `maxmemory-policy noeviction`:
 * https://docs.bullmq.io/guide/going-to-production
 */
export function redisQueues(redisUrl: Secret): RedisOptions | Cluster {
  const url = new URL(redisUrl.reveal());
  const sentinel = url.searchParams.get('sentinel');
  if (url.searchParams.get('cluster') === 'true')
    return new Cluster([...nodesOf(url, DEFAULT_PORT)], {
      redisOptions: access(url),
      clusterRetryStrategy: pauseMs,
    });
  if (sentinel) return { ...access(url), ...sentinelAccess(url, sentinel) };
  const [node] = nodesOf(url, DEFAULT_PORT);
  return { ...access(url), ...node };
}

function access(url: URL): RedisOptions {
  const database = Number(url.pathname.slice(1));
  return {
    ...redisLimits('queues'),
    username: decodeURIComponent(url.username) || undefined,
    password: decodeURIComponent(url.password) || undefined,
    db: Number.isInteger(database) ? database : 0,
    tls: url.protocol === 'rediss:' ? storeTlsOf(url) : undefined,
    retryStrategy: pauseMs,
    // Required by BullMQ's workers: commands wait for the connection instead of failing after some attempts.
    maxRetriesPerRequest: null,
  };
}

function sentinelAccess(url: URL, name: string): RedisOptions {
  const encrypted = url.protocol === 'rediss:';
  return {
    name,
    sentinels: [...nodesOf(url, SENTINEL_PORT)],
    enableTLSForSentinelMode: encrypted,
    sentinelTLS: encrypted ? storeTlsOf(url) : undefined,
    sentinelRetryStrategy: pauseMs,
  };
}

function nodesOf(url: URL, port: number): readonly RedisNode[] {
  const others = url.searchParams.getAll('node').map((node) => new URL(`redis://${node}`));
  return [url, ...others].map((each) => ({
    // In a URL, brackets only enclose IPv6 addresses.
    host: each.hostname.replace(/^\[|\]$/g, ''),
    port: each.port ? Number(each.port) : port,
  }));
}

const pauseMs = (attempt: number): number => retryPauseMs(attempt, RECONNECT);

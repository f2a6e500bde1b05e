import { redisLimits } from '../../common/net/redis-limits.js';
import { redisTlsOf } from '../../common/net/store-tls.js';
import type { Secret } from '../../common/settings/secret.js';
import { failed, type DoctorFinding, ok, errorText, warning } from './finding.js';
import { isAtLeast } from './is-at-least.js';
import { judgeSkew } from './judge-skew.js';

/** BullMQ's floor for all its features (https://docs.bullmq.io/guide/going-to-production). */
const OLDEST_VERSION = [6, 2] as const;

export async function checkRedis(url: Secret | undefined): Promise<DoctorFinding[]> {
  if (!url) return [ok('Redis', 'not used; PostgreSQL stores limits and queues')];
  const { Redis } = await import('ioredis');
  const client = new Redis(url.reveal(), {
    ...redisLimits('probing'),
    ...redisTlsOf(url.reveal()),
    lazyConnect: true,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const findings = judgeRedis(await client.info());
    const before = Date.now();
    const theirMs = timeIn(await client.time());
    return [...findings, judgeSkew(theirMs, { before, after: Date.now() }, 'Redis')];
  } catch (error) {
    return [failed('Redis', errorText(error), 'Check REDIS_URL and that the server runs.')];
  } finally {
    client.disconnect();
  }
}

/** Milliseconds, from seconds and microseconds: https://redis.io/docs/latest/commands/time/ */
const timeIn = ([seconds = 0, microseconds = 0]: readonly (number | string)[]): number =>
  Number(seconds) * 1_000 + Number(microseconds) / 1_000;

/** Reads the response to INFO: lines of `name:value` (https://redis.io/docs/latest/commands/info/). */
export function judgeRedis(info: string): DoctorFinding[] {
  const facts = new Map(
    info.split(/\r?\n/).map((line) => line.split(':', 2) as [string, string | undefined]),
  );
  const version = facts.get('valkey_version') ?? facts.get('redis_version') ?? 'unknown';
  const policy = facts.get('maxmemory_policy') ?? 'unknown';
  const findings: DoctorFinding[] = [];
  if (!isAtLeast(version, OLDEST_VERSION))
    findings.push(
      failed('Redis', `version ${version}`, `Version ${OLDEST_VERSION.join('.')} or newer is needed.`),
    );
  if (policy !== 'noeviction')
    findings.push(
      failed(
        'Redis',
        `maxmemory-policy ${policy}`,
        'Set it to noeviction: anything else may evict queued jobs.',
      ),
    );
  if (facts.get('aof_enabled') !== '1')
    findings.push(
      warning(
        'Redis',
        'appendonly no',
        'Set it to yes: a killed server otherwise loses queued jobs, which are recreated late.',
      ),
    );
  return findings.length > 0 ? findings : [ok('Redis', `version ${version}`)];
}

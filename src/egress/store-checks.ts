import { request as plainRequest } from 'node:http';
import { request as tlsRequest, type RequestOptions } from 'node:https';
import type { Redis } from 'ioredis';
import type { Secret } from '../common/settings/secret.js';
import { EgressAgent } from './egress-agent.js';
import { type EgressSettings, operatorEgress } from './operator-egress.js';
import { type ReadinessCheck, CheckFailure } from '../common/supervision/probes.js';
import type { Settings } from '../common/settings/settings.js';
import type { S3Settings } from '../common/settings/sink-settings.js';
import { redisLimits } from '../common/net/redis-limits.js';
import { redisTlsOf, type StoreTls, storeTlsOf } from '../common/net/store-tls.js';

/** A check of these stores costs a network round trip, so its result is reused. */
const FRESH_MS = 15_000;
const ANSWER_MS = 5_000;

/** Readiness of the stores besides PostgreSQL. None of them is vital: the data plane continues without each. */
export class StoreChecks {
  private redis: Promise<Redis> | undefined;

  constructor(private readonly settings: Settings) {}

  get all(): ReadinessCheck[] {
    const { redisUrl, clickhouse, s3 } = this.settings;
    const checks: ReadinessCheck[] = [];
    if (redisUrl) checks.push({ name: 'redis', isVital: false, run: () => this.pingRedis(redisUrl) });
    if (clickhouse) checks.push(this.pingClickHouse(new URL(clickhouse.url.reveal())));
    if (s3) checks.push(this.overHttp('object storage', addressOf(s3)));
    return checks;
  }

  /** Databases are reached without the outbound proxy. */
  private pingClickHouse(address: URL): ReadinessCheck {
    const files = storeTlsOf(address);
    const ping = new URL('/ping', withoutCredentials(address.href));
    if (Object.keys(files).length === 0)
      return this.overHttp('clickhouse', ping, { ...this.settings, proxies: undefined });
    return { name: 'clickhouse', isVital: false, freshMs: FRESH_MS, run: () => answersWith(files, ping) };
  }

  async close(): Promise<void> {
    (await this.redis)?.disconnect();
  }

  private overHttp(name: string, url: URL, settings: EgressSettings = this.settings): ReadinessCheck {
    return { name, isVital: false, freshMs: FRESH_MS, run: () => answers(url, settings) };
  }

  private async pingRedis(url: Secret): Promise<void> {
    const redis = await (this.redis ??= openRedis(url));
    await redis.ping();
  }
}

/** The client is loaded only if Redis is configured. */
async function openRedis(url: Secret): Promise<Redis> {
  const { Redis } = await import('ioredis');
  const redis = new Redis(url.reveal(), {
    ...redisLimits('probing'),
    ...redisTlsOf(url.reveal()),
    connectionName: 'gatehouse-readiness',
    maxRetriesPerRequest: 0,
    lazyConnect: true,
  });
  return redis.on('error', () => undefined);
}

/** Resolves when the server responds, whatever the status; rejects when it is unavailable. */
export async function answers(url: URL, settings: EgressSettings, withinMs = ANSWER_MS): Promise<void> {
  const egress = operatorEgress(settings, url, 1);
  const isTls = url.protocol === 'https:';
  // Node only checks that the protocol matches; this is not an `https.Agent`, because the egress does TLS itself.
  const agent = new EgressAgent(egress, isTls, 1) as never;
  try {
    await headAnswered(url, { agent, signal: AbortSignal.timeout(withinMs) });
  } finally {
    (agent as EgressAgent).destroy();
    await egress.close();
  }
}

/** The same for a store whose URL names files of TLS. The setting itself allows its address. */
const answersWith = (files: StoreTls, url: URL): Promise<void> =>
  headAnswered(url, { agent: false, signal: AbortSignal.timeout(ANSWER_MS), ...files });

async function headAnswered(url: URL, options: RequestOptions): Promise<void> {
  const send = url.protocol === 'https:' ? tlsRequest : plainRequest;
  const status = await new Promise<number>((resolve, reject) => {
    send(url, { ...options, method: 'HEAD' })
      .on('response', (answer) => {
        answer.resume();
        resolve(answer.statusCode ?? 0);
      })
      .on('error', reject)
      .end();
  });
  if (status >= 500) throw new CheckFailure(`It returned status ${status}.`);
}

/** Without the bucket: `gatehouse doctor` checks whether the credentials can access it. */
export function addressOf({ endpoint, region }: S3Settings): URL {
  return endpoint ?? new URL(`https://s3.${region}.amazonaws.com/`);
}

function withoutCredentials(text: string): URL {
  const url = new URL(text);
  url.username = '';
  url.password = '';
  return url;
}

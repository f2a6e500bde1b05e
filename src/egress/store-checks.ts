import { request as plainRequest } from 'node:http';
import { request as tlsRequest } from 'node:https';
import type { Redis } from 'ioredis';
import type { Secret } from '../common/settings/secret.js';
import { EgressAgent } from './egress-agent.js';
import { type EgressSettings, operatorEgress } from './operator-egress.js';
import { type ReadinessCheck, CheckFailure } from '../common/supervision/probes.js';
import type { Settings } from '../common/settings/settings.js';
import type { S3Settings } from '../common/settings/sink-settings.js';
import { redisLimits } from '../common/net/redis-limits.js';

/** A check of these stores costs a network round trip, so its result is reused. */
const FRESH_MS = 15_000;

/** Readiness of the stores besides PostgreSQL. None of them is vital: the data plane continues without each. */
export class StoreChecks {
  #redis: Promise<Redis> | undefined;

  constructor(private readonly settings: Settings) {}

  get all(): ReadinessCheck[] {
    const { redisUrl, clickhouse, s3 } = this.settings;
    const checks: ReadinessCheck[] = [];
    if (redisUrl) checks.push({ name: 'redis', isVital: false, run: () => this.#pingRedis(redisUrl) });
    if (clickhouse)
      checks.push(
        // Databases are reached without the outbound proxy.
        this.#overHttp('clickhouse', new URL('/ping', withoutCredentials(clickhouse.url.reveal())), {
          ...this.settings,
          proxies: undefined,
        }),
      );
    if (s3) checks.push(this.#overHttp('object storage', addressOf(s3)));
    return checks;
  }

  async close(): Promise<void> {
    (await this.#redis)?.disconnect();
  }

  #overHttp(name: string, url: URL, settings: EgressSettings = this.settings): ReadinessCheck {
    return { name, isVital: false, freshMs: FRESH_MS, run: () => answers(url, settings) };
  }

  async #pingRedis(url: Secret): Promise<void> {
    const redis = await (this.#redis ??= openRedis(url));
    await redis.ping();
  }
}

/** The client is loaded only if Redis is configured. */
async function openRedis(url: Secret): Promise<Redis> {
  const { Redis } = await import('ioredis');
  const redis = new Redis(url.reveal(), {
    ...redisLimits('probing'),
    connectionName: 'gatehouse-readiness',
    maxRetriesPerRequest: 0,
    lazyConnect: true,
  });
  return redis.on('error', () => undefined);
}

/** Resolves when the server responds, whatever the status; rejects when it is unavailable. */
export async function answers(url: URL, settings: EgressSettings, withinMs = 5_000): Promise<void> {
  const egress = operatorEgress(settings, url, 1);
  const isTls = url.protocol === 'https:';
  // Node only checks that the protocol matches; this is not an `https.Agent`, because the egress does TLS itself.
  const agent = new EgressAgent(egress, isTls, 1) as never;
  try {
    const status = await new Promise<number>((resolve, reject) => {
      const signal = AbortSignal.timeout(withinMs);
      (isTls ? tlsRequest : plainRequest)(url, { method: 'HEAD', agent, signal })
        .on('response', (answer) => {
          answer.resume();
          resolve(answer.statusCode ?? 0);
        })
        .on('error', reject)
        .end();
    });
    if (status >= 500) throw new CheckFailure(`It returned status ${status}.`);
  } finally {
    (agent as EgressAgent).destroy();
    await egress.close();
  }
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

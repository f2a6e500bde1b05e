import {
  type BeforeApplicationShutdown,
  type DynamicModule,
  Inject,
  Injectable,
  Module,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { DataSource } from 'typeorm';
import { CryptoModule } from '../../common/crypto/crypto.module.js';
import { SecretBox } from '../../common/crypto/envelope.js';
import { operatorEgress } from '../../egress/operator-egress.js';
import { BodyObjects } from '../../request-log/bodies/body-objects.js';
import { ObjectStore } from '../../request-log/bodies/object-store.js';
import type { ClickHouse } from '../../request-log/analytics/clickhouse/clickhouse.js';
import { CLICKHOUSE, ClickHouseModule } from '../../request-log/analytics/clickhouse/clickhouse.module.js';
import { ObjectStoreModule } from '../../request-log/bodies/object-store.module.js';
import { IntervalJob } from '../../common/loops/interval-job.js';
import { createLogger } from '../../common/observability/logger.js';
import { SETTINGS } from '../../common/settings/settings.module.js';
import type { Settings } from '../../common/settings/settings.js';
import { underTimes } from '../retention/under-times.js';
import { BodySink } from './body-sink.js';
import { ClickHouseBodySink } from './clickhouse-body-sink.js';
import { forgetBodies } from './forget-bodies.js';
import type { LogDestination } from './log-sink.js';
import { MetricSink } from './otlp/metric-sink.js';
import { TraceSink } from './otlp/trace-sink.js';
import { S3Sink } from './s3-sink.js';
import { SinkBook } from './sink-book.js';
import { SinkRunner } from './sink-runner.js';
import { WebhookSink } from './webhook-sink.js';

const CONNECTIONS = 2;
const FORGET_EVERY_MS = 60 * 60_000;

/** The configured sinks, each with its own connections. */
function sinksFor(
  settings: Settings,
  database: DataSource,
  { inBucket, clickhouse }: SinkStores,
): LogDestination[] {
  const { webhook, s3Seconds } = settings.sinks;
  const { traces, metrics, spans } = settings.telemetry;
  const wayTo = (url: URL) => operatorEgress(settings, url, CONNECTIONS);
  return [
    ...(webhook ? [new WebhookSink(wayTo(webhook.url), webhook)] : []),
    ...(traces ? [new TraceSink(wayTo(traces), traces, spans)] : []),
    ...(metrics ? [new MetricSink(wayTo(metrics.url), metrics.url, metrics.everyMs)] : []),
    ...(inBucket && s3Seconds !== null ? [new S3Sink(inBucket.store, s3Seconds)] : []),
    ...(inBucket && settings.logBodies === 's3' ? [new BodySink(database, inBucket.bodies)] : []),
    ...(clickhouse && settings.postgresBodyDays !== null
      ? [new ClickHouseBodySink(database, clickhouse)]
      : []),
  ];
}

interface SinkStores {
  readonly inBucket: BucketStores | null;
  readonly clickhouse: ClickHouse | null;
}

interface BucketStores {
  readonly store: ObjectStore;
  readonly bodies: BodyObjects;
}

/** Serves the sinks for the lifetime of the process. Any number of processes may run it: each delivery is claimed by one. */
@Injectable()
class Sinks implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly log = createLogger('sinks');
  private readonly runners: readonly SinkRunner[];
  private readonly forgetting: IntervalJob | null;

  constructor(
    database: DataSource,
    box: SecretBox,
    @Inject(ObjectStore) store: ObjectStore | null,
    @Inject(SETTINGS) settings: Settings,
    @Inject(CLICKHOUSE) clickhouse: ClickHouse | null,
  ) {
    const inBucket = store && { store, bodies: new BodyObjects(store, box) };
    const book = new SinkBook(database);
    this.runners = sinksFor(settings, database, { inBucket, clickhouse }).map(
      (sink) => new SinkRunner(sink, book, this.log),
    );
    this.forgetting =
      store &&
      new IntervalJob(
        (round) =>
          forgetBodies(store, underTimes(database, settings.retentionDays), () => round.progressed()),
        {
          name: 'forget-bodies',
          everyMs: FORGET_EVERY_MS,
          boundMs: 6 * FORGET_EVERY_MS,
          logger: this.log,
          failure: 'Expired bodies could not be removed from the bucket.',
        },
      );
  }

  onApplicationBootstrap(): void {
    for (const runner of this.runners) runner.start();
    this.forgetting?.start();
    void this.forgetting?.round();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await Promise.all([...this.runners.map((runner) => runner.stop()), this.forgetting?.stop()]);
  }
}

/** Sends stored requests to the configured sinks. Requires `SettingsModule` and `DatabaseModule`. */
@Module({})
export class SinksModule {
  /** Without a sink, nothing is created and no package is loaded. */
  static register(settings: Settings): DynamicModule[] {
    const { sinks, telemetry, postgresBodyDays } = settings;
    const receiver =
      sinks.webhook ?? telemetry.traces ?? telemetry.metrics ?? settings.s3 ?? postgresBodyDays;
    if (receiver === null) return [];
    const imports = [ClickHouseModule, CryptoModule, ObjectStoreModule];
    return [{ module: SinksModule, imports, providers: [Sinks] }];
  }
}

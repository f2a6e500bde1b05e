import {
  type BeforeApplicationShutdown,
  Inject,
  Injectable,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { DataSource } from 'typeorm';
import { IntervalJob, type Round } from '../../common/loops/interval-job.js';
import { createLogger } from '../../common/observability/logger.js';
import { KeptTimes, type LogPart, type RetentionRule } from '../../request-log/retention/kept-times.js';
import { ALL_RULES } from '../../request-log/retention/read-rules.js';
import { dropMinutes, forgetBatches } from '../../request-log/rollups/drop-old.js';
import { GRANULARITY_MS, startOf } from '../../request-log/rollups/granularities.js';
import { SETTINGS } from '../../common/settings/settings.module.js';
import type { Settings } from '../../common/settings/settings.js';
import type { ClickHouse } from '../../request-log/analytics/clickhouse/clickhouse.js';
import { CLICKHOUSE } from '../../request-log/analytics/clickhouse/clickhouse.module.js';
import { dropCopiedBodies } from './drop-copied-bodies.js';
import { clickHouseDays, cutClickHouseDay } from './cut-clickhouse-day.js';
import { cutDay } from './rewrite-day.js';
import { forgetDeadLetters } from './forget-dead-letters.js';
import { forgetRefusedCredentials } from './forget-refused-credentials.js';
import { daysOf } from './log-days.js';
import { underTimes } from './under-times.js';

const EVERY_MS = 60 * 60_000;
/** Rewriting one large day takes a while. */
const STALLED_AFTER_MS = 6 * EVERY_MS;
/** Bodies first: their requests identify their owners. */
const PARTS: readonly LogPart[] = ['bodies', 'logs'];

/** Removes expired request logs, day by day, old analytics by the minute, and old refused credentials. */
@Injectable()
export class Retention implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly log = createLogger('retention');
  private readonly job = new IntervalJob((round) => this.removeExpired(round), {
    name: 'retention',
    everyMs: EVERY_MS,
    boundMs: STALLED_AFTER_MS,
    logger: this.log,
    failure: 'Expired request logs could not be removed.',
  });

  constructor(
    private readonly database: DataSource,
    @Inject(SETTINGS) private readonly settings: Pick<Settings, 'retentionDays' | 'postgresBodyDays'>,
    @Inject(CLICKHOUSE) private readonly clickhouse: ClickHouse | null,
  ) {}

  onApplicationBootstrap(): void {
    this.job.start();
    void this.job.round();
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.job.stop();
  }

  /** One round. Never rejects. A concurrent call waits for the running round. */
  round(): Promise<void> {
    return this.job.round();
  }

  private async removeExpired(round: Round): Promise<void> {
    await this.minutes();
    for (const part of PARTS) await this.cut(round, part);
    const [oldest] = await daysOf(this.database, 'logs');
    if (oldest) await forgetBatches(this.database, oldest.from);
    const letters = await forgetDeadLetters(underTimes(this.database, this.settings.retentionDays));
    if (letters > 0) this.log.info({ letters }, 'Refused records past their retention were removed.');
    await forgetRefusedCredentials(this.database);
    if (!this.clickhouse) return;
    for (const part of PARTS) await this.cutInClickHouse(round, this.clickhouse, part);
    await this.dropCopied(round, this.clickhouse);
  }

  private async dropCopied(round: Round, clickhouse: ClickHouse): Promise<void> {
    const { postgresBodyDays: days } = this.settings;
    if (days === null) return;
    const before = startOf('day', Date.now()) - days * GRANULARITY_MS.day;
    for (const day of await daysOf(this.database, 'bodies')) {
      if (day.to.getTime() > before || round.hasEnded) return;
      const drop = await dropCopiedBodies(this.database, clickhouse, day);
      round.progressed();
      if (drop?.did === 'dropped')
        this.log.info({ day: day.name, ...drop }, 'PostgreSQL dropped the bodies that ClickHouse has.');
      if (drop?.did === 'copied again')
        this.log.warn(
          { day: day.name, ...drop },
          'ClickHouse lacks bodies that it had confirmed. PostgreSQL keeps them, and they are copied again.',
        );
    }
  }

  private async minutes(): Promise<void> {
    const days = this.settings.retentionDays.minutes;
    if (days === 0) return;
    const before = new Date(startOf('day', Date.now()) - days * GRANULARITY_MS.day);
    const partitions = await dropMinutes(this.database, before);
    if (partitions.length > 0)
      this.log.info({ days, partitions }, 'Minutes past their retention were dropped.');
  }

  private async cut(round: Round, part: LogPart): Promise<void> {
    const { retentionDays: usual } = this.settings;
    const now = Date.now();
    const times = new KeptTimes(usual, await this.database.query<RetentionRule[]>(ALL_RULES), now);
    const latest = times.latest(part);
    for (const day of await daysOf(this.database, part)) {
      if (day.to.getTime() > latest || round.hasEnded) return;
      const isStopping = (): boolean => round.hasEnded;
      const cut = await cutDay(this.database, { part, day, usual, now, isStopping });
      round.progressed();
      if (cut)
        this.log.info({ part, day: day.name, ...cut }, 'Request logs past their retention were removed.');
    }
  }

  /** After PostgreSQL's own. */
  private async cutInClickHouse(round: Round, clickhouse: ClickHouse, part: LogPart): Promise<void> {
    const { retentionDays: usual } = this.settings;
    const times = new KeptTimes(usual, await this.database.query<RetentionRule[]>(ALL_RULES));
    const latest = times.latest(part);
    if (latest === -Infinity) return;
    const under = underTimes(this.database, usual);
    for (const day of await clickHouseDays(clickhouse, part, latest)) {
      if (day.to.getTime() > latest || round.hasEnded) return;
      const cut = await cutClickHouseDay(clickhouse, under, { part, day });
      round.progressed();
      if (cut)
        this.log.info(
          { part, day: day.name, ...cut },
          'Rows past their retention were removed from ClickHouse.',
        );
    }
  }
}

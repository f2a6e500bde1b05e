import {
  type BeforeApplicationShutdown,
  Inject,
  Injectable,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { Gauge } from 'prom-client';
import { DataSource } from 'typeorm';
import { type ChainAnchor, ChainAnchors, checkedAgainst, lineOf } from '../../admin/audit/chain-anchors.js';
import { IntervalJob } from '../../common/loops/interval-job.js';
import { createLogger } from '../../common/observability/logger.js';
import { SETTINGS } from '../../common/settings/settings.module.js';
import type { Settings } from '../../common/settings/settings.js';

const EVERY_MS = 60_000;
/** A line in the log for each organization whose chain has grown: the log often leaves the machine. */
const LOGGED_EVERY_MS = 60 * 60_000;

const HEADS = 'SELECT organization_id AS "organizationId", seq, hash FROM audit_heads';

const setBack = new Gauge({
  name: 'gatehouse_audit_chains_set_back',
  help: 'Organizations whose audit log lacks a record that this machine has seen.',
  aggregator: 'max',
});

/**
 * Keeps the ends of all audit chains in the data folder, once a minute, and notices a chain that no longer has the record that was its end.
 * The anchor of such a chain stays: it is the evidence.
 */
@Injectable()
export class KeepAnchors implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly anchors: ChainAnchors;
  private readonly logger = createLogger('audit-anchors');
  private readonly loggedSeqs = new Map<string, string>();
  private loggedAt = -Infinity;
  private readonly job = new IntervalJob(() => this.round(), {
    name: 'audit-anchors',
    everyMs: EVERY_MS,
    logger: this.logger,
    failure: 'The audit log could not be compared with the anchors of this machine, or was set back.',
  });

  constructor(
    private readonly database: DataSource,
    @Inject(SETTINGS) { dataDir }: Pick<Settings, 'dataDir'>,
  ) {
    this.anchors = new ChainAnchors(dataDir);
  }

  onApplicationBootstrap(): void {
    this.job.start();
    void this.job.round();
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.job.stop();
  }

  /** Rejects when a chain was set back. */
  async round(): Promise<void> {
    const known = await this.anchors.read();
    const heads = await this.database.query<ChainAnchor[]>(HEADS);
    const broken: string[] = [];
    for (const [organizationId, anchor] of known)
      if (await this.isSetBack(anchor)) broken.push(organizationId);
    const sound = heads.filter(({ organizationId, seq }) => !broken.includes(organizationId) && seq !== '0');
    const next = new Map([...known, ...sound.map((head) => [head.organizationId, head] as const)]);
    if (sound.some((head) => known.get(head.organizationId)?.seq !== head.seq))
      await this.anchors.write(next.values());
    this.log(sound);
    setBack.set(broken.length);
    if (broken.length > 0) throw new Error(sentence(broken, this.anchors.path));
  }

  private async isSetBack(anchor: ChainAnchor): Promise<boolean> {
    const rowsOf = (sql: string, parameters: readonly unknown[]) =>
      this.database.query<Record<string, unknown>[]>(sql, [...parameters]);
    const nothingFound = { records: 0, brokenAt: null, problem: null };
    return (await checkedAgainst(rowsOf, anchor, nothingFound)).problem !== null;
  }

  private log(heads: readonly ChainAnchor[]): void {
    if (performance.now() - this.loggedAt < LOGGED_EVERY_MS) return;
    this.loggedAt = performance.now();
    for (const head of heads) {
      if (this.loggedSeqs.get(head.organizationId) === head.seq) continue;
      this.loggedSeqs.set(head.organizationId, head.seq);
      this.logger.info(lineOf(head), 'The end of an audit log was anchored.');
    }
  }
}

const sentence = (organizations: readonly string[], path: string): string =>
  `The audit log of ${organizations.length} organizations lacks records that ${path} names: ${organizations.slice(0, 5).join(', ')}. ` +
  'Run "gatehouse audit verify"; docs/audit-log.md says what to do after a restored backup.';

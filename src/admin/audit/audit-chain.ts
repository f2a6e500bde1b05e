import { Injectable } from '@nestjs/common';
import type { EntityManager, EntityMetadata } from 'typeorm';
import { isDatabaseAway, isMissingValue } from '../../common/database/database-errors.js';
import type { Ending } from '../../common/database/ending.js';
import { AuditRecord } from '../../common/database/entities/audit-record.entity.js';
import { POSTGRES_TIMEOUTS } from '../../common/net/store-timeouts.js';
import type { PlainQuery } from '../../common/database/plain-queries/plain-find.js';
import { UnitOfWork } from '../../common/database/unit-of-work.js';
import { AppError } from '../../common/errors/app-error.js';
import { blockToRemember } from './audit-blocks.js';
import { AuditSeal, type ChainEnd, chainHash } from './audit-seal.js';
import { written } from './canonical-record.js';
import { Turns } from './turns.js';

export type UnchainedRecord = Omit<AuditRecord, 'seq' | 'hash' | 'seal'>;

/** What adds a record behind an end of its chain, and the end that the chain has then. */
interface Link {
  readonly statements: readonly PlainQuery[];
  readonly end: ChainEnd;
}

type Head = Pick<ChainEnd, 'seq' | 'hash'>;
type Ask = <Rows>(text: string, values: readonly unknown[]) => Promise<Rows>;

const HEAD = 'SELECT seq, hash FROM audit_heads WHERE organization_id = $1 FOR UPDATE';
const FIRST_HEAD =
  "INSERT INTO audit_heads (organization_id, seq, hash) VALUES ($1, 0, '') ON CONFLICT DO NOTHING";
const SAVEPOINT = { text: 'SAVEPOINT before_record', values: [] };
const BACK = 'ROLLBACK TO SAVEPOINT before_record';

/** Of chains whose ends are remembered. */
const REMEMBERED_AT_MOST = 10_000;

/**
 * Adds records at the end of their organizations' chains. Whoever adds one holds the head of its chain until its transaction has ended,
 * so that records of an organization are numbered without gaps, in the order of their commits; and all others wait.
 *
 * So that they wait for one round trip and not for three, a record goes out together with the commit. What it is chained to must be known before:
 * the process remembers the end that it left, and its writers of one organization take turns. Where another process has
 * added a record meanwhile, the database says so, and the head is read under its lock.
 */
@Injectable()
export class AuditChain {
  private readonly ends = new Map<string, ChainEnd>();
  private readonly turns = new Turns(POSTGRES_TIMEOUTS.requests.serverMs);

  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly seal: AuditSeal,
  ) {}

  /** As the last thing of the running unit where that is a caller's, else at once. Whatever goes wrong, nothing of the unit stays. */
  async append(record: UnchainedRecord): Promise<void> {
    if (this.unitOfWork.leaveLastWord((ending) => this.finish(ending, record))) return;
    const { manager } = this.unitOfWork;
    const ask: Ask = (text, values) => manager.query(text, [...values]);
    const { statements } = this.link(await lockHead(ask, record.organizationId), record);
    for (const { text, values } of statements) await manager.query(text, [...values]);
  }

  private async finish(ending: Ending, record: UnchainedRecord): Promise<void> {
    const { organizationId } = record;
    try {
      await this.turns.take(organizationId, async () => {
        const known = this.ends.get(organizationId);
        // Until the commit has succeeded nobody knows where the chain ends.
        this.ends.delete(organizationId);
        this.remember(
          (known && (await this.after(known, ending, record))) ?? (await this.afterHead(ending, record)),
        );
      });
    } catch (cause) {
      // Whether it broke before the commit or behind it cannot be told.
      if (isDatabaseAway(cause)) throw cause;
      throw new AppError('audit_unavailable', {}, { cause });
    }
  }

  /** Null where the chain does not end there any more; then nothing was added. */
  private async after(known: ChainEnd, ending: Ending, record: UnchainedRecord): Promise<ChainEnd | null> {
    const { statements, end } = this.link(known, record);
    try {
      await ending.commitAfter([SAVEPOINT, ...statements]);
      return end;
    } catch (error) {
      if (!isMissingValue(error, 'audit_records', 'seq')) throw error;
      await ending.query(BACK);
      return null;
    }
  }

  private async afterHead(ending: Ending, record: UnchainedRecord): Promise<ChainEnd> {
    const head = await lockHead((text, values) => ending.query(text, values), record.organizationId);
    const { statements, end } = this.link(head, record);
    await ending.commitAfter(statements);
    return end;
  }

  private remember(end: ChainEnd): void {
    if (this.ends.size >= REMEMBERED_AT_MOST) this.ends.clear();
    this.ends.set(end.organizationId, end);
  }

  private link(head: Head, record: UnchainedRecord): Link {
    const { organizationId } = record;
    const seq = String(BigInt(head.seq) + 1n);
    const end = { organizationId, seq, hash: chainHash(head.hash, written({ ...record, seq })) };
    const chained = { ...record, seq, hash: end.hash, seal: this.seal.ofRecord(end) };
    const added = storing(this.unitOfWork.manager, chained, { head, sealOfEnd: this.seal.ofEnd(end) });
    return { statements: [added, ...blockToRemember(organizationId, seq)], end };
  }
}

function storing(
  { dataSource }: EntityManager,
  record: AuditRecord,
  { head, sealOfEnd }: { readonly head: Head; readonly sealOfEnd: Buffer },
): PlainQuery {
  const metadata = dataSource.getMetadata(AuditRecord);
  const values = metadata.columns.map((column): unknown =>
    dataSource.driver.preparePersistentValue(column.getEntityValue(record), column),
  );
  let text = TEXTS.get(metadata);
  if (text === undefined) TEXTS.set(metadata, (text = textOfStoring(metadata)));
  return { text, values: [...values, head.seq, head.hash, sealOfEnd] };
}

const TEXTS = new WeakMap<EntityMetadata, string>();

/**
 * Record and head in one statement. The record takes its number from the head that moved: from one that has another end by now it
 * gets none, and a record without a number is refused.
 */
function textOfStoring({ columns }: EntityMetadata): string {
  const places = columns.map(({ propertyName }, index) =>
    propertyName === 'seq' ? '(SELECT seq FROM moved)' : `$${index + 1}`,
  );
  const placeOf = (name: keyof AuditRecord) =>
    `$${columns.findIndex(({ propertyName }) => propertyName === name) + 1}`;
  const [fromSeq, fromHash, sealed] = [1, 2, 3].map((place) => `$${columns.length + place}`);
  return `
    WITH moved AS (
      UPDATE audit_heads SET seq = ${placeOf('seq')}::bigint, hash = ${placeOf('hash')}, seal = ${sealed}
      WHERE organization_id = ${placeOf('organizationId')} AND seq = ${fromSeq} AND hash = ${fromHash} RETURNING seq
    ) INSERT INTO audit_records (${columns.map(({ databaseName }) => `"${databaseName}"`).join(', ')})
    VALUES (${places.join(', ')})`;
}

async function lockHead(ask: Ask, organizationId: string): Promise<Head> {
  const [known] = await ask<Head[]>(HEAD, [organizationId]);
  if (known) return known;
  await ask(FIRST_HEAD, [organizationId]);
  const [made] = await ask<Head[]>(HEAD, [organizationId]);
  if (!made) throw new Error('The audit chain has no head.');
  return made;
}

import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { SecretBox } from '../../common/crypto/envelope.js';
import { Secret } from '../../common/settings/secret.js';
import { Organization } from '../tenancy/organization.entity.js';
import { UnitOfWork } from '../../database/unit-of-work.js';

/** The owner and name of a key. Two callers' keys of the same name are different. */
export interface IdempotencyKey {
  readonly organizationId: string;
  readonly callerId: string;
  readonly key: string;
}

/** The stored state of a key that was used before. */
export interface Earlier {
  /** SHA-256 of the request that used it first. */
  readonly fingerprint: Buffer;
  readonly answer: unknown;
}

interface IdempotentResponseRow {
  readonly fingerprint: Buffer;
  readonly sealed_answer: Buffer;
}

/** Each use removes a few old ones, which saves a cleanup job. */
const FORGET = `
  DELETE FROM idempotent_answers WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM idempotent_answers WHERE created_at < now() - interval '24 hours'
    ORDER BY created_at LIMIT 10 FOR UPDATE SKIP LOCKED))`;

/** Waits while another transaction holds the same key: it either commits, with its response, or releases the key. */
const CLAIM = `
  INSERT INTO idempotent_answers (organization_id, caller_id, key, fingerprint) VALUES ($1, $2, $3, $4)
  ON CONFLICT DO NOTHING RETURNING key`;

const READ =
  'SELECT fingerprint, sealed_answer FROM idempotent_answers WHERE organization_id = $1 AND caller_id = $2 AND key = $3';

const KEEP =
  'UPDATE idempotent_answers SET sealed_answer = $4 WHERE organization_id = $1 AND caller_id = $2 AND key = $3';

/**
 * Responses to requests that may be repeated, for 24 hours. They belong to the transaction of the change: if it is rolled back, the key is
 * free again. They may contain a new secret, so they are sealed with the organization's key.
 */
@Injectable()
export class IdempotentAnswers {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    @InjectRepository(Organization) private readonly organizations: Repository<Organization>,
    private readonly box: SecretBox,
  ) {}

  /** Claims the key for the running transaction, or returns its stored state. */
  async claim(owner: IdempotencyKey, fingerprint: Buffer): Promise<Earlier | null> {
    const { manager } = this.unitOfWork;
    await manager.query(FORGET);
    const place = [owner.organizationId, owner.callerId, owner.key];
    const claimed = await manager.query<unknown[]>(CLAIM, [...place, fingerprint]);
    if (claimed.length > 0) return null;
    const [row] = await manager.query<IdempotentResponseRow[]>(READ, place);
    if (!row) throw new Error('An idempotency key vanished while it was read.');
    return { fingerprint: row.fingerprint, answer: await this.open(owner, row.sealed_answer) };
  }

  async keep(owner: IdempotencyKey, answer: unknown): Promise<void> {
    const text = new Secret(JSON.stringify(answer ?? null));
    const sealed = this.box.sealText(await this.keyOf(owner), purposeOf(owner), text);
    await this.unitOfWork.manager.query(KEEP, [owner.organizationId, owner.callerId, owner.key, sealed]);
  }

  private async open(owner: IdempotencyKey, sealed: Buffer): Promise<unknown> {
    return JSON.parse(this.box.openText(await this.keyOf(owner), purposeOf(owner), sealed).reveal());
  }

  private async keyOf({ organizationId }: IdempotencyKey) {
    const { wrappedKey } = await this.organizations.findOneByOrFail({ id: organizationId });
    return { organizationId, wrapped: wrappedKey };
  }
}

const purposeOf = ({ organizationId, callerId, key }: IdempotencyKey): string[] => [
  'idempotent answer',
  organizationId,
  callerId,
  key,
];

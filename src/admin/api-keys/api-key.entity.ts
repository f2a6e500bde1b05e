import { Column, DeleteDateColumn, Entity } from 'typeorm';
import type { ApiKeyType } from '../../common/contracts/api-key-type.js';
import type { BudgetRule, RateRule } from '../../common/limits/rules.js';
import { OwnedAtEitherLevel } from '../../database/tenant-owned.entity.js';

/**
 * An API key. Only keyed hashes of its secrets are stored, and at most two: the current one, and after a
 * rotation the one before, until it expires. A revoked key keeps its row, for the names in old logs, but no hash:
 * a query that forgets to check `deletedAt` still finds no caller.
 */
@Entity('api_keys')
export class ApiKey extends OwnedAtEitherLevel {
  @Column({ type: 'text' })
  kind: ApiKeyType;

  @Column({ type: 'uuid', nullable: true })
  userId: string | null;

  /** The key that created this one; null for the first keys and for those created by a user. */
  @Column({ type: 'uuid', nullable: true })
  createdByKeyId: string | null;

  @Column({ type: 'uuid', nullable: true })
  createdByUserId: string | null;

  @Column({ type: 'text' })
  creationMode: 'ui' | 'api' | 'auto';

  @Column({ type: 'text' })
  name: string;

  @Column({ type: 'text', nullable: true })
  description: string | null;

  @Column({ type: 'bytea', nullable: true })
  keyHash: Buffer | null;

  @Column({ type: 'bytea', nullable: true })
  previousKeyHash: Buffer | null;

  /** The hash from before the key was revoked. It authenticates no caller. */
  @Column({ type: 'bytea', nullable: true })
  revokedKeyHash: Buffer | null;

  @Column({ type: 'timestamptz', nullable: true })
  previousKeyExpiresAt: Date | null;

  /** The displayable part of the secret: the part that names its kind, and the last four characters. */
  @Column({ type: 'text' })
  prefix: string;

  @Column({ type: 'text' })
  lastFour: string;

  @Column({ type: 'text', array: true })
  scopes: string[];

  @Column({ type: 'timestamptz', nullable: true })
  expiresAt: Date | null;

  @Column({ type: 'text' })
  status: 'active' | 'exhausted';

  @Column({ type: 'jsonb', nullable: true })
  rateLimits: RateRule[] | null;

  @Column({ type: 'jsonb', nullable: true })
  usageLimits: BudgetRule[] | null;
  /** Config of requests that name none; null to use the workspace's or organization's. */
  @Column({ type: 'uuid', nullable: true })
  defaultConfigId: string | null;

  /** False if requests may not include or name a config. */
  @Column({ type: 'boolean', default: true })
  allowConfigOverride: boolean;

  /** Metadata set on its requests, overriding their own. */
  @Column({ type: 'jsonb', nullable: true })
  defaultMetadata: Readonly<Record<string, string>> | null;

  /** Addresses that are notified about its budgets, besides the fixed ones. */
  @Column({ type: 'text', array: true, nullable: true })
  alertEmails: string[] | null;

  @DeleteDateColumn({ type: 'timestamptz', nullable: true })
  deletedAt: Date | null;
}

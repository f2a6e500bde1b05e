import { Column, Entity, PrimaryColumn } from 'typeorm';

/** Methods that are recorded: changes, and GET for downloading a file of the log. */
export const RECORDED_METHODS = ['POST', 'PUT', 'DELETE', 'PATCH', 'GET'] as const;

/**
 * One administrative action, done or refused. Written once: the table refuses changes. Records of an organization are numbered without gaps
 * and chained by hash, so that edits, removals and moves are detected.
 */
@Entity('audit_records')
export class AuditRecord {
  @PrimaryColumn({ type: 'uuid' })
  id: string;

  /** Position in the organization's chain, from 1. The driver gives 64-bit numbers as text. */
  @Column({ type: 'bigint' })
  seq: string;

  @Column({ type: 'uuid' })
  organizationId: string;

  @Column({ type: 'uuid', nullable: true })
  workspaceId: string | null;

  @Column({ type: 'text' })
  actorKind: string;

  /** The API key, or the user of a signed token; null for a token without a user. */
  @Column({ type: 'uuid', nullable: true })
  actorId: string | null;

  @Column({ type: 'text' })
  actorName: string;

  @Column({ type: 'uuid', nullable: true })
  userId: string | null;

  /** The scope that the action requires, such as `virtual_keys.create`. */
  @Column({ type: 'text' })
  action: string;

  @Column({ type: 'text' })
  targetType: string;

  @Column({ type: 'text', nullable: true })
  targetId: string | null;

  @Column({ type: 'timestamptz' })
  at: Date;

  @Column({ type: 'text' })
  ip: string;

  @Column({ type: 'text' })
  method: string;

  @Column({ type: 'text' })
  path: string;

  /** The query parameters by name, unknown ones masked; null if there were none, and in records older than them. */
  @Column({ type: 'jsonb', nullable: true })
  queryParams: unknown;

  /** Some headers of the request, by lower-case name; null in records older than them. */
  @Column({ type: 'jsonb', nullable: true })
  requestHeaders: unknown;

  /** The request body, secrets masked. */
  @Column({ type: 'jsonb', nullable: true })
  request: unknown;

  /** The target as the API shows it before and after; null without one. */
  @Column({ type: 'jsonb', nullable: true })
  before: unknown;

  @Column({ type: 'jsonb', nullable: true })
  after: unknown;

  @Column({ type: 'text' })
  outcome: AuditOutcome;

  @Column({ type: 'integer' })
  status: number;

  @Column({ type: 'text', nullable: true })
  errorCode: string | null;

  @Column({ type: 'text' })
  requestId: string;

  /** SHA-256 over the previous record's hash and the content of this one. */
  @Column({ type: 'bytea' })
  hash: Buffer;

  /** The service's signature over the hash; null in records older than signatures. */
  @Column({ type: 'bytea', nullable: true })
  seal: Buffer | null;
}

/** Done; not allowed; or attempted and failed. */
export type AuditOutcome = 'success' | 'refused' | 'failed';

import { Column, Entity } from 'typeorm';
import type { ExportCompression, ExportFormat, ExportStatus } from '../../request-log/log-export.js';
import { WorkspaceOwned } from '../../database/tenant-owned.entity.js';

/** An export of the request log of one workspace. Only the background process updates the valid length of its file. */
@Entity('log_exports')
export class LogExport extends WorkspaceOwned {
  /** The key that created it, or last changed or started it. Null for a user with a signed token. */
  @Column({ type: 'uuid', nullable: true })
  apiKeyId: string | null;

  @Column({ type: 'uuid', nullable: true })
  userId: string | null;

  @Column({ type: 'text' })
  description: string;

  /** As sent. */
  @Column({ type: 'jsonb' })
  filters: Readonly<Record<string, unknown>>;

  @Column({ type: 'text', array: true })
  requestedData: string[];

  @Column({ type: 'text' })
  format: ExportFormat;

  @Column({ type: 'text' })
  compression: ExportCompression;

  @Column({ type: 'text' })
  status: ExportStatus;

  /** Why it failed, as text for users. */
  @Column({ type: 'text', nullable: true })
  problem: string | null;

  /** Requests that arrived later are not included. */
  @Column({ type: 'timestamptz', nullable: true })
  untilAt: Date | null;

  @Column({ type: 'timestamptz', nullable: true })
  cursorAt: Date | null;

  @Column({ type: 'bigint' })
  rows: string;

  @Column({ type: 'bigint' })
  bytes: string;

  @Column({ type: 'integer' })
  tries: number;

  /** When its file will be removed. */
  @Column({ type: 'timestamptz', nullable: true })
  expiresAt: Date | null;

  @Column({ type: 'timestamptz', nullable: true })
  fileRemovedAt: Date | null;
}

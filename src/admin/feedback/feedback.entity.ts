import { Column, Entity } from 'typeorm';
import { WorkspaceOwned } from '../../database/tenant-owned.entity.js';

/** A rating of a trace: a value with a weight. Linked to requests by their trace. */
@Entity('feedback')
export class Feedback extends WorkspaceOwned {
  /** Null for a caller with a signed token. */
  @Column({ type: 'uuid', nullable: true })
  apiKeyId: string | null;

  @Column({ type: 'text' })
  traceId: string;

  /** From -10 to 10. */
  @Column({ type: 'smallint' })
  value: number;

  /** From 0 to 1. */
  @Column({ type: 'double precision' })
  weight: number;

  @Column({ type: 'jsonb' })
  metadata: Readonly<Record<string, string>>;
}

import { Column, CreateDateColumn, PrimaryColumn, UpdateDateColumn } from 'typeorm';

/** What the rows of most tables begin and end with: https://typeorm.io/docs/entity/entity-inheritance/ */

/** A row of one organization that is written once, or that keeps no time of its changes. */
export abstract class TenantRecord {
  @PrimaryColumn({ type: 'uuid' })
  id: string;

  @Column({ type: 'uuid' })
  organizationId: string;

  @CreateDateColumn({ type: 'timestamptz' })
  createdAt: Date;
}

/** A thing of one organization. */
export abstract class TenantOwned extends TenantRecord {
  @UpdateDateColumn({ type: 'timestamptz' })
  updatedAt: Date;
}

/** A thing of one workspace. */
export abstract class WorkspaceOwned extends TenantOwned {
  @Column({ type: 'uuid' })
  workspaceId: string;
}

/** A thing of one workspace or of the whole organization. */
export abstract class OwnedAtEitherLevel extends TenantOwned {
  /** Null for one of the organization. */
  @Column({ type: 'uuid', nullable: true })
  workspaceId: string | null;
}

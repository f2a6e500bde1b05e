import { Column, CreateDateColumn, PrimaryColumn, UpdateDateColumn } from 'typeorm';

/** The first and last columns of most tables: https://typeorm.io/docs/entity/entity-inheritance/ */

/** A row of one organization that is written once, or does not record its changes. */
export abstract class TenantRecord {
  @PrimaryColumn({ type: 'uuid' })
  id: string;

  @Column({ type: 'uuid' })
  organizationId: string;

  @CreateDateColumn({ type: 'timestamptz' })
  createdAt: Date;
}

/** A resource of one organization. */
export abstract class TenantOwned extends TenantRecord {
  @UpdateDateColumn({ type: 'timestamptz' })
  updatedAt: Date;
}

/** A resource of one workspace. */
export abstract class WorkspaceOwned extends TenantOwned {
  @Column({ type: 'uuid' })
  workspaceId: string;
}

/** A resource of one workspace or of the whole organization. */
export abstract class OwnedAtEitherLevel extends TenantOwned {
  /** Null for a resource of the organization. */
  @Column({ type: 'uuid', nullable: true })
  workspaceId: string | null;
}

import { Column, Entity } from 'typeorm';
import { WorkspaceOwned } from '../../database/tenant-owned.entity.js';

/** A saved view of the request log of one workspace: filters, range and columns under a name. */
@Entity('log_views')
export class LogView extends WorkspaceOwned {
  /** The user or service key that created it. */
  @Column({ type: 'uuid' })
  ownerId: string;

  @Column({ type: 'text' })
  name: string;

  /** Conditions in the dashboard's syntax: `status:min:400 model:not:gpt-5`. */
  @Column({ type: 'text' })
  filter: string;

  /** `1h`, or two times separated by `..`; empty for the current range. */
  @Column({ type: 'text' })
  range: string;

  /** Column keys in order; empty for the default columns. */
  @Column({ type: 'text', array: true })
  columns: string[];

  /** Visible to every user who may list the logs of the workspace. */
  @Column({ type: 'boolean' })
  isShared: boolean;
}

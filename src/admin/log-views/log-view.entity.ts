import { Column, Entity } from 'typeorm';
import { WorkspaceOwned } from '../../database/tenant-owned.entity.js';

/** A saved view of the request log of one workspace: filters, range and columns under a name. */
@Entity('log_views')
export class LogView extends WorkspaceOwned {
  /** The user, or the service key, that made it. */
  @Column({ type: 'uuid' })
  ownerId: string;

  @Column({ type: 'text' })
  name: string;

  /** Conditions as the dashboard writes them: `status:min:400 model:not:gpt-5`. */
  @Column({ type: 'text' })
  filter: string;

  /** `1h`, or two times with `..` between them; empty for the range that is open. */
  @Column({ type: 'text' })
  range: string;

  /** Keys of columns in their order; empty for the usual ones. */
  @Column({ type: 'text', array: true })
  columns: string[];

  /** Shown to every user who may list the logs of the workspace. */
  @Column({ type: 'boolean' })
  isShared: boolean;
}

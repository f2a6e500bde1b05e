import { Column, Entity, PrimaryColumn } from 'typeorm';

/** Whether one workspace may use an integration, overriding the general setting. */
@Entity('integration_workspaces')
export class IntegrationWorkspace {
  @PrimaryColumn({ type: 'uuid' })
  integrationId: string;

  @PrimaryColumn({ type: 'uuid' })
  workspaceId: string;

  @Column({ type: 'uuid' })
  organizationId: string;

  @Column({ type: 'boolean' })
  isEnabled: boolean;
}

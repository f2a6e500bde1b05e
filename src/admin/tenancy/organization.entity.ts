import { Column, CreateDateColumn, Entity, PrimaryColumn, UpdateDateColumn } from 'typeorm';
import type { OrganizationSettings } from '../../common/contracts/organization-settings.js';

/** A tenant. Its own key, sealed with the master key, seals its virtual keys' credentials. */
@Entity('organizations')
export class Organization {
  @PrimaryColumn({ type: 'uuid' })
  id: string;

  @Column({ type: 'text' })
  name: string;

  @Column({ type: 'bytea' })
  wrappedKey: Buffer;

  /** Differences from `USUAL_SETTINGS`. */
  @Column({ type: 'jsonb' })
  settings: Partial<OrganizationSettings>;

  /** Config of requests that name none; null for the next level's. */
  @Column({ type: 'uuid', nullable: true })
  defaultConfigId: string | null;

  /** URL for budget alerts; null for none. */
  @Column({ type: 'text', nullable: true })
  alertWebhookUrl: string | null;

  /** Signing secret of those calls, sealed for `alertPurpose` of this row. */
  @Column({ type: 'bytea', nullable: true })
  sealedAlertSecret: Buffer | null;

  @CreateDateColumn({ type: 'timestamptz' })
  createdAt: Date;

  @UpdateDateColumn({ type: 'timestamptz' })
  updatedAt: Date;
}

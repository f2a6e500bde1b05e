import { Column, CreateDateColumn, Entity, PrimaryColumn, UpdateDateColumn } from 'typeorm';
import type { OrganizationSettings } from '../../common/contracts/organization-settings.js';

/** A tenant. Its own key, sealed by the master key, seals the credentials of its virtual keys. */
@Entity('organizations')
export class Organization {
  @PrimaryColumn({ type: 'uuid' })
  id: string;

  @Column({ type: 'text' })
  name: string;

  @Column({ type: 'bytea' })
  wrappedKey: Buffer;

  /** What differs from `USUAL_SETTINGS`. */
  @Column({ type: 'jsonb' })
  settings: Partial<OrganizationSettings>;

  /** Config of requests that name none; null for the next level's. */
  @Column({ type: 'uuid', nullable: true })
  defaultConfigId: string | null;

  /** Where reached budgets are reported; null for nowhere. */
  @Column({ type: 'text', nullable: true })
  alertWebhookUrl: string | null;

  /** What those calls are signed with, sealed for `alertPurpose` of this row. */
  @Column({ type: 'bytea', nullable: true })
  sealedAlertSecret: Buffer | null;

  @CreateDateColumn({ type: 'timestamptz' })
  createdAt: Date;

  @UpdateDateColumn({ type: 'timestamptz' })
  updatedAt: Date;
}

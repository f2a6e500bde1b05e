import { Column, CreateDateColumn, Entity, PrimaryColumn } from 'typeorm';
import type { RoutingConfig } from '../../contracts/routing-config.js';

/** One version of a config. Versions are added and never changed. */
@Entity('config_versions')
export class ConfigVersion {
  @PrimaryColumn({ type: 'uuid' })
  id: string;

  @Column({ type: 'uuid' })
  organizationId: string;

  @Column({ type: 'uuid' })
  configId: string;

  /** From 1, without gaps, within the config. */
  @Column({ type: 'integer' })
  number: number;

  /** As `readRoutingConfig` gave it. */
  @Column({ type: 'jsonb' })
  document: RoutingConfig;

  @Column({ type: 'uuid', nullable: true })
  createdBy: string | null;

  @CreateDateColumn({ type: 'timestamptz' })
  createdAt: Date;
}

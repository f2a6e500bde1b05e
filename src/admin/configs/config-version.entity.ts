import { Column, Entity } from 'typeorm';
import type { RoutingConfig } from '../../routing-config/routing-config.js';
import { TenantRecord } from '../../database/tenant-owned.entity.js';

/** One version of a config. Versions are added and never changed. */
@Entity('config_versions')
export class ConfigVersion extends TenantRecord {
  @Column({ type: 'uuid' })
  configId: string;

  /** From 1, without gaps, within the config. */
  @Column({ type: 'integer' })
  number: number;

  /** As returned by `readRoutingConfig`. */
  @Column({ type: 'jsonb' })
  document: RoutingConfig;

  @Column({ type: 'uuid', nullable: true })
  createdBy: string | null;
}

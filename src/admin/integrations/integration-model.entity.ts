import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { Price } from '../../common/contracts/price.js';

/** An integration's settings for one model: whether it may be used, and its price. */
@Entity('integration_models')
export class IntegrationModel {
  @PrimaryColumn({ type: 'uuid' })
  integrationId: string;

  @PrimaryColumn({ type: 'text' })
  slug: string;

  @Column({ type: 'uuid' })
  organizationId: string;

  @Column({ type: 'boolean' })
  isEnabled: boolean;

  /** The provider's catalogue does not have it. */
  @Column({ type: 'boolean' })
  isCustom: boolean;

  @Column({ type: 'boolean' })
  isFinetune: boolean;

  @Column({ type: 'text', nullable: true })
  baseModelSlug: string | null;

  /** Instead of the list price. */
  @Column({ type: 'jsonb', nullable: true })
  price: Price | null;
}

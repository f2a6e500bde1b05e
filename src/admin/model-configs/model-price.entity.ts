import { Column, Entity, PrimaryColumn, UpdateDateColumn } from 'typeorm';
import type { Price } from '../../common/contracts/price.js';

/** An organization's price for a model of a provider, instead of the list price. */
@Entity('model_prices')
export class ModelPrice {
  @PrimaryColumn({ type: 'uuid' })
  organizationId: string;

  @PrimaryColumn({ type: 'text' })
  providerId: string;

  @PrimaryColumn({ type: 'text' })
  model: string;

  @Column({ type: 'jsonb' })
  price: Price;

  @UpdateDateColumn({ type: 'timestamptz' })
  updatedAt: Date;
}

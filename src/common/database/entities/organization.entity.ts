import { Column, CreateDateColumn, Entity, PrimaryColumn } from 'typeorm';

/** A tenant. Its own key, sealed by the master key, seals the credentials of its virtual keys. */
@Entity('organizations')
export class Organization {
  @PrimaryColumn({ type: 'uuid' })
  id: string;

  @Column({ type: 'text' })
  name: string;

  @Column({ type: 'bytea' })
  wrappedKey: Buffer;

  /** Config of requests that name none; null for the next level's. */
  @Column({ type: 'uuid', nullable: true })
  defaultConfigId: string | null;

  @CreateDateColumn({ type: 'timestamptz' })
  createdAt: Date;
}

import { Column, CreateDateColumn, Entity, PrimaryColumn, UpdateDateColumn } from 'typeorm';

/** The signed tokens that an organization accepts, and their keys. */
@Entity('organization_jwt')
export class OrganizationJwt {
  @PrimaryColumn({ type: 'uuid' })
  organizationId: string;

  /** The user who last set the rules; null in settings from before authors were stored. The user may be gone. */
  @Column({ type: 'uuid', nullable: true })
  authorId: string | null;

  /** Copied from the rules, for the index. */
  @Column({ type: 'text', array: true })
  issuers: string[];

  /** A `TokenRules`. */
  @Column({ type: 'jsonb' })
  rules: object;

  /** URL of the published keys; null when they were given. */
  @Column({ type: 'text', nullable: true })
  jwksUri: string | null;

  /** A list of `StoredKey`, given or last fetched. */
  @Column({ type: 'jsonb', nullable: true })
  keys: object[] | null;

  @Column({ type: 'timestamptz', nullable: true })
  fetchedAt: Date | null;

  /** When any process last started a fetch. */
  @Column({ type: 'timestamptz', nullable: true })
  triedAt: Date | null;

  /** Description of the last fetch's error. */
  @Column({ type: 'text', nullable: true })
  problem: string | null;

  @CreateDateColumn({ type: 'timestamptz' })
  createdAt: Date;

  @UpdateDateColumn({ type: 'timestamptz' })
  updatedAt: Date;
}

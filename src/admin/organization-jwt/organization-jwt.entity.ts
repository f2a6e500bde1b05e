import { Column, CreateDateColumn, Entity, PrimaryColumn, UpdateDateColumn } from 'typeorm';

/** Which signed tokens an organization accepts, and the keys that they are signed with. */
@Entity('organization_jwt')
export class OrganizationJwt {
  @PrimaryColumn({ type: 'uuid' })
  organizationId: string;

  /** The same as in the rules, for the index. */
  @Column({ type: 'text', array: true })
  issuers: string[];

  /** A `TokenRules`. */
  @Column({ type: 'jsonb' })
  rules: object;

  /** Where the keys are published; null when they were given. */
  @Column({ type: 'text', nullable: true })
  jwksUri: string | null;

  /** A list of `StoredKey`, given or last fetched. */
  @Column({ type: 'jsonb', nullable: true })
  keys: object[] | null;

  @Column({ type: 'timestamptz', nullable: true })
  fetchedAt: Date | null;

  /** When a fetch was last begun, by any process. */
  @Column({ type: 'timestamptz', nullable: true })
  triedAt: Date | null;

  /** What was wrong with the last fetch, in words. */
  @Column({ type: 'text', nullable: true })
  problem: string | null;

  @CreateDateColumn({ type: 'timestamptz' })
  createdAt: Date;

  @UpdateDateColumn({ type: 'timestamptz' })
  updatedAt: Date;
}

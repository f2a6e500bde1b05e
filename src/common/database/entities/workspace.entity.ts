import { Column, CreateDateColumn, Entity, PrimaryColumn } from 'typeorm';

/** Where keys and virtual keys live. The slug is unique in the organization. */
@Entity('workspaces')
export class Workspace {
  @PrimaryColumn({ type: 'uuid' })
  id: string;

  @Column({ type: 'uuid' })
  organizationId: string;

  @Column({ type: 'text' })
  name: string;

  @Column({ type: 'text' })
  slug: string;

  /** Config of requests that name none; null for the next level's. */
  @Column({ type: 'uuid', nullable: true })
  defaultConfigId: string | null;

  @CreateDateColumn({ type: 'timestamptz' })
  createdAt: Date;
}

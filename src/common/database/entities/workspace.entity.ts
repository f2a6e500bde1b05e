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

  @CreateDateColumn({ type: 'timestamptz' })
  createdAt: Date;
}

import { type KeptVector, type VectorNamespace, VectorStore } from '../../src/gateway/ports.js';

/** A store of vectors in memory that can be away. */
export class MemoryVectorStore extends VectorStore {
  readonly rooms = new Map<string, KeptVector[]>();
  lookups = 0;
  state: 'there' | 'away' = 'there';

  override async newest(room: VectorNamespace, most: number): Promise<readonly KeptVector[]> {
    this.lookups++;
    await this.reached();
    return (this.rooms.get(nameOf(room)) ?? []).slice(0, most);
  }

  override async keep(room: VectorNamespace, kept: KeptVector, most: number): Promise<void> {
    await this.reached();
    const others = (this.rooms.get(nameOf(room)) ?? []).filter(({ key }) => key !== kept.key);
    this.rooms.set(nameOf(room), [kept, ...others].slice(0, most));
  }

  private async reached(): Promise<void> {
    await new Promise(setImmediate);
    if (this.state === 'away') throw new Error('the store is away');
  }
}

const nameOf = ({ organizationId, workspaceId, digest: room }: VectorNamespace): string =>
  `${organizationId}/${workspaceId}/${room}`;

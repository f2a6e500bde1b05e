import { type CachedResponseKey, AnswerStore } from '../../src/gateway/ports.js';

/** A store of answers in memory that can be away, or never answer. */
export class MemoryAnswerStore extends AnswerStore {
  readonly kept = new Map<string, { readonly answer: Buffer; readonly expiresAt: number }>();
  lookups = 0;
  state: 'there' | 'away' | 'silent' = 'there';

  override async find({ organizationId, workspaceId, key }: CachedResponseKey): Promise<Buffer | null> {
    this.lookups++;
    await this.reached();
    return this.kept.get(`${organizationId}/${workspaceId}/${key}`)?.answer ?? null;
  }

  override async keep(place: CachedResponseKey, answer: Buffer, expiresAt: number): Promise<void> {
    await this.reached();
    this.kept.set(`${place.organizationId}/${place.workspaceId}/${place.key}`, { answer, expiresAt });
  }

  private async reached(): Promise<void> {
    await new Promise(setImmediate);
    if (this.state === 'away') throw new Error('the store is away');
    if (this.state === 'silent') await new Promise(() => undefined);
  }
}

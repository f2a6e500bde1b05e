import type { SecretBox } from '../../common/crypto/envelope.js';
import { createLogger } from '../../common/observability/logger.js';
import { reportSparsely } from '../../common/observability/report-sparsely.js';
import { type KeptVector, type VectorNamespace, VectorStore } from '../../gateway/ports.js';

/**
 * Encrypts vectors before they leave the process, because a text can be recovered from its vector (https://arxiv.org/abs/2310.06816). Each
 * is bound to its namespace and its response: moved elsewhere, it does not decrypt, and a vector that does not decrypt counts as absent.
 */
export class SealedVectorStore extends VectorStore {
  private readonly report = reportSparsely(createLogger('cache'));

  constructor(
    private readonly behind: VectorStore,
    private readonly secrets: SecretBox,
  ) {
    super();
  }

  override async newest(namespace: VectorNamespace, most: number): Promise<readonly KeptVector[]> {
    const kept = await this.behind.newest(namespace, most);
    return kept.flatMap((each) => this.opened(namespace, each));
  }

  override keep(
    namespace: VectorNamespace,
    { key, vector, expiresAt }: KeptVector,
    most: number,
  ): Promise<void> {
    const sealed = this.secrets.sealBytes(namespace.organizationId, purposeOf(namespace, key), vector);
    return this.behind.keep(namespace, { key, vector: sealed, expiresAt }, most);
  }

  private opened(namespace: VectorNamespace, { key, vector: sealed, expiresAt }: KeptVector): KeptVector[] {
    try {
      const vector = this.secrets.openBytes(namespace.organizationId, purposeOf(namespace, key), sealed);
      return [{ key, vector, expiresAt }];
    } catch (error) {
      this.report('A cached embedding cannot be decrypted and is ignored.', error);
      return [];
    }
  }
}

function purposeOf({ organizationId, workspaceId, digest }: VectorNamespace, key: string): readonly string[] {
  return ['cached vector', organizationId, workspaceId, digest, key];
}

import type { OnApplicationShutdown } from '@nestjs/common';
import type { SecretBox } from '../../common/crypto/envelope.js';
import { createLogger } from '../../common/observability/logger.js';
import { reportSparsely } from '../../common/observability/report-sparsely.js';
import { type CachedResponseKey, AnswerStore } from '../../gateway/ports.js';

/** The store behind it, which may have a connection to close. */
type Behind = AnswerStore & Partial<OnApplicationShutdown>;

/**
 * Encrypts responses before they leave the process, each bound to its key: moved to another tenant or another request, it does not decrypt.
 * A response that does not decrypt counts as absent.
 */
export class SealedAnswerStore extends AnswerStore implements OnApplicationShutdown {
  private readonly report = reportSparsely(createLogger('cache'));

  constructor(
    private readonly behind: Behind,
    private readonly secrets: SecretBox,
  ) {
    super();
  }

  override async find(place: CachedResponseKey): Promise<Buffer | null> {
    const sealed = await this.behind.find(place);
    return sealed && this.opened(place, sealed);
  }

  override keep(place: CachedResponseKey, answer: Buffer, expiresAt: number): Promise<void> {
    return this.behind.keep(
      place,
      this.secrets.sealBytes(place.organizationId, purposeOf(place), answer),
      expiresAt,
    );
  }

  async onApplicationShutdown(): Promise<void> {
    await this.behind.onApplicationShutdown?.();
  }

  private opened(place: CachedResponseKey, sealed: Buffer): Buffer | null {
    try {
      return this.secrets.openBytes(place.organizationId, purposeOf(place), sealed);
    } catch (error) {
      this.report('A cached response cannot be decrypted and is ignored.', error);
      return null;
    }
  }
}

function purposeOf({ organizationId, workspaceId, key }: CachedResponseKey): readonly string[] {
  return ['cached answer', organizationId, workspaceId, key];
}

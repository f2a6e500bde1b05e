import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import type { Principal } from '../../auth/principal.js';
import { AppError } from '../../common/errors/app-error.js';
import { ApiKey } from './api-key.entity.js';

/**
 * A key with limits of its own, or with a config that its requests cannot leave, must not get around them with another key: it gets the
 * secret of none, and changes the limits, expiry and defaults of none.
 */
@Injectable()
export class KeyBoundsService {
  constructor(@InjectRepository(ApiKey) private readonly apiKeys: Repository<ApiKey>) {}

  /** Refuses with `forbidden` a caller that is such a key. `action`: what it may not do, "create keys". */
  async check({ organizationId, apiKeyId }: Principal, action: string): Promise<void> {
    if (apiKeyId === null) return;
    const caller = await this.apiKeys.findOneBy({ organizationId, id: apiKeyId });
    const bound = caller && boundOf(caller);
    if (bound)
      throw new AppError('forbidden', {
        detail: `a key with ${bound} cannot ${action}, which would not be bound by it`,
      });
  }
}

function boundOf({ usageLimits, rateLimits, allowConfigOverride }: ApiKey): string | null {
  if ((usageLimits ?? []).length > 0) return 'a budget';
  if ((rateLimits ?? []).length > 0) return 'a rate limit';
  return allowConfigOverride ? null : 'a config that requests cannot override';
}

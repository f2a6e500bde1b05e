import { Injectable } from '@nestjs/common';
import { PassportStrategy } from '@nestjs/passport';
import type { FastifyRequest } from 'fastify';
import { presentedKey } from '../identity/credentials.js';
import { IdentityService } from '../identity/identity.service.js';
import type { Principal } from '../principal.js';
import { looksLikeToken } from '../tokens/compact-token.js';
import { CredentialStrategy } from './credential-strategy.js';

/** Callers with a gateway API key. */
@Injectable()
export class ApiKeyStrategy extends PassportStrategy(CredentialStrategy, 'api-key') {
  constructor(private readonly identity: IdentityService) {
    super();
  }

  override async validate({ raw }: FastifyRequest): Promise<Principal | null> {
    const presented = presentedKey(raw.headers);
    return presented === null || looksLikeToken(presented) ? null : this.identity.identify(raw);
  }
}

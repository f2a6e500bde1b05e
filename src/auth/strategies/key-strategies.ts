import { Injectable } from '@nestjs/common';
import { PassportStrategy } from '@nestjs/passport';
import type { FastifyRequest } from 'fastify';
import { presentedKey } from '../identity/credentials.js';
import { IdentityService } from '../identity/identity.service.js';
import { Newcomers } from '../identity/newcomers.js';
import type { Principal } from '../principal.js';
import { looksLikeToken } from '../tokens/compact-token.js';
import { UnknownPerson } from '../tokens/newcomer.js';
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

/** Callers with a signed token. A user who is new to an organization that accepts new users is created first. */
@Injectable()
export class SignedTokenStrategy extends PassportStrategy(CredentialStrategy, 'signed-token') {
  constructor(
    private readonly identity: IdentityService,
    private readonly newcomers: Newcomers,
  ) {
    super();
  }

  override async validate(request: FastifyRequest): Promise<Principal | null> {
    const presented = presentedKey(request.raw.headers);
    if (presented === null || !looksLikeToken(presented)) return null;
    try {
      return await this.identity.identify(request.raw);
    } catch (error) {
      if (!(error instanceof UnknownPerson)) throw error;
      await this.newcomers.welcome(error.newcomer, request);
    }
    return this.identity.identify(request.raw);
  }
}

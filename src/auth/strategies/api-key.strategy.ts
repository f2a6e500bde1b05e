import { Injectable } from '@nestjs/common';
import { PassportStrategy } from '@nestjs/passport';
import type { FastifyRequest } from 'fastify';
import { readCredential } from '../identity/credentials.js';
import { IdentityService } from '../identity/identity.service.js';
import type { Principal } from '../principal.js';
import { CredentialStrategy } from './credential-strategy.js';

/** Callers with a gateway API key. */
@Injectable()
export class ApiKeyStrategy extends PassportStrategy(CredentialStrategy, 'api-key') {
  constructor(private readonly identity: IdentityService) {
    super();
  }

  override async validate({ raw }: FastifyRequest): Promise<Principal | null> {
    const credential = readCredential(raw.headers);
    return credential.secret === null || credential.isToken ? null : this.identity.identify(raw, credential);
  }
}

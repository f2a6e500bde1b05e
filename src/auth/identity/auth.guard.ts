import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyRequest } from 'fastify';
import { OPEN_TO_EVERYBODY } from '../permissions/access.decorators.js';
import { accessOf } from '../permissions/access.js';
import { IdentityService } from './identity.service.js';
import { Newcomers } from './newcomers.js';
import type { Principal } from '../principal.js';
import { UnknownPerson } from '../tokens/newcomer.js';

/** Lets in who can be identified, and remembers who it was. */
@Injectable()
export class AuthGuard implements CanActivate {
  constructor(
    private readonly identity: IdentityService,
    private readonly reflector: Reflector,
    private readonly newcomers: Newcomers,
  ) {}

  async canActivate(context: ExecutionContext): Promise<true> {
    if (this.reflector.get<boolean | undefined>(OPEN_TO_EVERYBODY, context.getHandler())) return true;
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    accessOf(request).caller = await this.identify(request);
    return true;
  }

  /** Whoever is new to an organization that takes newcomers is made known first. */
  private async identify(request: FastifyRequest): Promise<Principal> {
    try {
      return await this.identity.identify(request.raw);
    } catch (error) {
      if (!(error instanceof UnknownPerson)) throw error;
      await this.newcomers.welcome(error.newcomer, request);
    }
    return this.identity.identify(request.raw);
  }
}

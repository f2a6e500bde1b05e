import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyRequest } from 'fastify';
import { OPEN_TO_EVERYBODY } from './access.decorators.js';
import { accessOf } from './access.js';
import { IdentityService } from './identity.service.js';

/** Lets in who can be identified, and remembers who it was. */
@Injectable()
export class AuthGuard implements CanActivate {
  constructor(
    private readonly identity: IdentityService,
    private readonly reflector: Reflector,
  ) {}

  async canActivate(context: ExecutionContext): Promise<true> {
    if (this.reflector.get<boolean | undefined>(OPEN_TO_EVERYBODY, context.getHandler())) return true;
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    accessOf(request).caller = await this.identity.identify(request.raw);
    return true;
  }
}

import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { accessOf } from './access.js';
import { IdentityService } from './identity.service.js';

/** Lets in who can be identified, and remembers who it was. */
@Injectable()
export class AuthGuard implements CanActivate {
  constructor(private readonly identity: IdentityService) {}

  async canActivate(context: ExecutionContext): Promise<true> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    accessOf(request).caller = await this.identity.identify(request.raw);
    return true;
  }
}

import { type CanActivate, type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { SETTINGS } from '../../common/settings/settings.module.js';
import type { Settings } from '../../common/settings/settings.js';
import { checkOrigin } from './check-origin.js';

/** For public handlers that set the session cookie: a page of another origin must not be able to open a session. */
@Injectable()
export class OriginGuard implements CanActivate {
  constructor(@Inject(SETTINGS) private readonly settings: Settings) {}

  canActivate(context: ExecutionContext): true {
    checkOrigin(context.switchToHttp().getRequest<FastifyRequest>(), this.settings.publicUrl);
    return true;
  }
}

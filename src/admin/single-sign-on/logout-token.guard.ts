import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { AppError } from '../../common/errors/app-error.js';

/**
 * Refuses a logout token that is missing, or that a browser sent: providers send it from their servers. A form of a foreign page can post
 * one, too, and is refused by the headers that browsers add.
 */
@Injectable()
export class LogoutTokenGuard implements CanActivate {
  canActivate(context: ExecutionContext): true {
    const { headers, body } = context
      .switchToHttp()
      .getRequest<FastifyRequest<{ Body: { readonly logout_token?: unknown } | null }>>();
    if (headers.origin !== undefined || headers['sec-fetch-site'] !== undefined)
      throw new AppError('logout_token_invalid', { detail: 'a browser sent it, not an identity provider' });
    if (typeof body?.logout_token !== 'string')
      throw new AppError('logout_token_invalid', { detail: 'the field "logout_token" is missing' });
    return true;
  }
}

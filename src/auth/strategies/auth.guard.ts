import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyRequest } from 'fastify';
import passport from 'passport';
import { OPEN_TO_EVERYBODY } from '../permissions/access.decorators.js';
import { accessOf } from '../permissions/access.js';
import type { Principal } from '../principal.js';
import { ApiKeyStrategy } from './api-key.strategy.js';
import { SignedTokenStrategy } from './signed-token.strategy.js';
import { SessionStrategy } from './session.strategy.js';
import { IdentityService } from '../identity/identity.service.js';

type PassportMiddleware = (request: object, response: object, next: (error: unknown) => void) => void;

const STRATEGIES = ['session-cookie', 'api-key', 'signed-token'];

/**
 * Identifies the caller by the first strategy whose credential the request contains. The strategies are registered with this guard's own
 * Passport: the default one belongs to the process, which may host several applications.
 */
@Injectable()
export class AuthGuard implements CanActivate {
  private readonly passport = new passport.Passport();

  constructor(
    private readonly reflector: Reflector,
    private readonly identity: IdentityService,
    session: SessionStrategy,
    apiKey: ApiKeyStrategy,
    signedToken: SignedTokenStrategy,
  ) {
    const strategies = [session, apiKey, signedToken];
    STRATEGIES.forEach((name, index) => this.passport.use(name, strategies[index] as passport.Strategy));
  }

  async canActivate(context: ExecutionContext): Promise<true> {
    if (this.reflector.get<boolean | undefined>(OPEN_TO_EVERYBODY, context.getHandler())) return true;
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    accessOf(request).caller = await this.identify(request);
    return true;
  }

  /** Rejects with the refusal of the strategy, or with `unauthenticated` when the request contains no credential. */
  async identify(request: FastifyRequest): Promise<Principal> {
    const caller = await new Promise<Principal | null>((resolve, reject) => {
      const done: passport.AuthenticateCallback = (error, user) =>
        error ? reject(error as Error) : resolve((user || null) as Principal | null);
      const middleware = this.passport.authenticate(
        STRATEGIES,
        { session: false },
        done,
      ) as PassportMiddleware;
      middleware(request, {}, reject);
    });
    return caller ?? this.identity.refuse(request.raw);
  }
}

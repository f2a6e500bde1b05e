import { Inject, Injectable } from '@nestjs/common';
import { PassportStrategy } from '@nestjs/passport';
import type { FastifyRequest } from 'fastify';
import { AppError } from '../../common/errors/app-error.js';
import { SessionCookie } from '../../common/http/session-cookie.js';
import { SETTINGS } from '../../common/settings/settings.module.js';
import type { Settings } from '../../common/settings/settings.js';
import { readCredential } from '../identity/credentials.js';
import { IdentityService } from '../identity/identity.service.js';
import { accessOf } from '../permissions/access.js';
import { SessionDirectory } from '../ports.js';
import type { Principal } from '../principal.js';
import { checkOrigin } from './check-origin.js';
import { CredentialStrategy } from './credential-strategy.js';

/** The workspace of a session's request: an id or a slug. */
export const WORKSPACE_HEADER = 'x-gateway-workspace';

/**
 * Users with a dashboard session. Only the administration reads the cookie: the data plane never uses this strategy, so a page in a browser
 * cannot call models with it.
 */
@Injectable()
export class SessionStrategy extends PassportStrategy(CredentialStrategy, 'session-cookie') {
  constructor(
    private readonly sessions: SessionDirectory,
    private readonly cookie: SessionCookie,
    private readonly identity: IdentityService,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {
    super();
  }

  override async validate(request: FastifyRequest): Promise<Principal | null> {
    const { headers } = request.raw;
    const secret = this.cookie.read(headers.cookie);
    if (secret === null) return null;
    if (readCredential(headers).secret !== null) throw ambiguous();
    const foreign = foreignOrigin(request, this.settings.publicUrl);
    const workspace = headers[WORKSPACE_HEADER];
    const named = typeof workspace === 'string' && !foreign ? workspace : null;
    const session = await this.sessions.find(secret, named);
    // The audit record of the refusal names the user whose session was misused.
    if (foreign) {
      if (session) Object.assign(accessOf(request), { caller: session.principal, action: 'sessions.use' });
      throw foreign;
    }
    if (!session) {
      this.identity.countFailure(request.raw);
      throw new AppError('session_ended');
    }
    accessOf(request).session = session;
    return session.principal;
  }
}

function foreignOrigin(request: FastifyRequest, publicUrl: string | undefined): AppError | null {
  try {
    checkOrigin(request, publicUrl);
    return null;
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
}

const ambiguous = (): AppError =>
  new AppError('ambiguous_credentials', {
    detail: 'send the API key or signed token, or the session cookie, not both',
  });

import { Injectable } from '@nestjs/common';
import { PassportStrategy } from '@nestjs/passport';
import type { FastifyRequest } from 'fastify';
import { Strategy } from 'passport-jwt';
import { readCredential } from '../identity/credentials.js';
import { IdentityService } from '../identity/identity.service.js';
import { JustInTimeUsers } from '../identity/just-in-time-users.js';
import type { Principal } from '../principal.js';
import { UnknownUserError } from '../tokens/just-in-time-user.js';

/** Verifies the token of a request. */
type Identification = () => Promise<Principal>;
type IdentificationOutcome = PromiseSettledResult<Principal>;

/**
 * What `passport-jwt` calls to verify a token. Its own verifier, jsonwebtoken, knows neither EdDSA nor several issuers with keys of their own,
 * so the verifier of both planes (jose, through the token directory) takes its place. It is set for the process and holds nothing of an
 * application: what passes for the key of a token is the identification of its request. A refusal is part of the outcome, because
 * `passport-jwt` would turn an error into a missing credential.
 */
const verifier = (
  _token: string,
  identify: Identification,
  _options: unknown,
  done: (error: null, outcome: IdentificationOutcome | undefined) => void,
): void => {
  void Promise.allSettled([identify()]).then(([outcome]) => done(null, outcome));
};
Object.assign(Strategy, { JwtVerifier: verifier });

/** Callers with a signed token. A user who is new to an organization that accepts new users is created first. */
@Injectable()
export class SignedTokenStrategy extends PassportStrategy(Strategy, 'signed-token') {
  constructor(
    private readonly identity: IdentityService,
    private readonly users: JustInTimeUsers,
  ) {
    super({
      jwtFromRequest: ({ raw }: FastifyRequest): string | null => {
        const { secret, isToken } = readCredential(raw.headers);
        return isToken ? secret : null;
      },
      secretOrKeyProvider: (
        { raw }: FastifyRequest,
        _token: unknown,
        done: (error: null, identify: Identification) => void,
      ) => done(null, async () => identity.identify(raw)),
      passReqToCallback: true,
    } as never);
  }

  async validate(request: FastifyRequest, identified: IdentificationOutcome): Promise<Principal> {
    if (identified.status === 'fulfilled') return identified.value;
    const refusal: unknown = identified.reason;
    if (!(refusal instanceof UnknownUserError)) throw refusal;
    await this.users.provision(refusal.user, request);
    return this.identity.identify(request.raw);
  }
}

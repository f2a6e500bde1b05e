import { isPromise } from '../../common/maybe-promise.js';
import { request as connectTo } from 'node:http';
import { type KnownKey, TokenDirectory } from '../../auth/ports.js';
import { UnknownUserError } from '../../auth/tokens/just-in-time-user.js';
import { AppError } from '../../common/errors/app-error.js';
import type { Memory, RememberingDirectory } from '../directories/snapshot/memory.js';

const TIMEOUT_MS = 5_000;

/**
 * Tokens in a gateway process. Only the administration creates users, because it records that in the audit log. For a token of a new user,
 * a gateway process sends the token there first and then finds the user.
 */
export class IntroducingTokenDirectory extends TokenDirectory implements RememberingDirectory {
  /** `socketPath`: the socket on which the administration of this instance listens. */
  constructor(
    private readonly tokens: TokenDirectory & RememberingDirectory,
    private readonly socketPath: string,
  ) {
    super();
  }

  get memories(): readonly Memory[] {
    return this.tokens.memories;
  }

  override find(token: string): KnownKey | null | Promise<KnownKey | null> {
    const known = this.tokens.find(token);
    return isPromise(known) ? known.catch((error: unknown) => this.afterwards(error, token)) : known;
  }

  override isOurs(token: string): boolean | Promise<boolean> {
    return this.tokens.isOurs(token);
  }

  private async afterwards(error: unknown, token: string): Promise<KnownKey | null> {
    if (!(error instanceof UnknownUserError)) throw error;
    await this.introduce(token);
    try {
      return await this.tokens.find(token);
    } catch (again) {
      throw again instanceof UnknownUserError ? notTaken() : again;
    }
  }

  /** The response is ignored: the tables show whether the user exists now. */
  private introduce(token: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const asking = connectTo({
        socketPath: this.socketPath,
        path: '/v1/admin/me',
        headers: { host: 'administration', 'x-gateway-api-key': token },
        agent: false,
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      asking.once('error', (cause) => reject(new AppError('auth_unavailable', {}, { cause })));
      asking.once('response', (answer) => {
        answer.resume().once('close', resolve);
      });
      asking.end();
    });
  }
}

const notTaken = (): AppError =>
  new AppError('forbidden', { detail: 'the organization accepts no new users at the moment' });

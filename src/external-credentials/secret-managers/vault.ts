import { readFile } from 'node:fs/promises';
import { Secret } from '../../common/settings/secret.js';
import type { HttpAnswer, HttpCaller } from '../../egress/http-caller.js';
import { credentialId, type Token, TokenCache } from '../tokens/token-cache.js';
import { callManager, type ManagerCall, objectIn, refusedBy } from './manager-call.js';
import {
  authField,
  authSecret,
  type SecretLocation,
  type SecretManager,
  unavailableSecret,
  unusableSecret,
} from './secret-location.js';

/** https://kubernetes.io/docs/tasks/run-application/access-api-from-pod/#directly-accessing-the-rest-api */
export const SERVICE_ACCOUNT_TOKEN = '/var/run/secrets/kubernetes.io/serviceaccount/token';

/** Tokens that do not expire are replaced after a day all the same: https://developer.hashicorp.com/vault/docs/concepts/tokens */
const LONGEST_LEASE_SECONDS = 86_400;

/** A login that gives a token: the path below `auth/`, and the body. */
interface Login {
  readonly path: string;
  readonly body: Readonly<Record<string, string>>;
}

/**
 * HashiCorp Vault and OpenBao: secrets of KV version 2 (https://developer.hashicorp.com/vault/api-docs/secret/kv/kv-v2), with a token, an
 * AppRole (https://developer.hashicorp.com/vault/api-docs/auth/approle) or the service account of the pod
 * (https://developer.hashicorp.com/vault/api-docs/auth/kubernetes).
 */
export class Vault implements SecretManager {
  private readonly tokens = new TokenCache<Secret>();

  constructor(
    private readonly http: Pick<HttpCaller, 'call'>,
    private readonly serviceAccountToken = SERVICE_ACCOUNT_TOKEN,
  ) {}

  async read(location: SecretLocation): Promise<Secret> {
    if (location.auth['vault_auth_type'] === 'token')
      return valueIn(location, await this.get(location, authSecret(location, 'vault_token')));
    const login = await this.loginOf(location);
    const answer = await this.get(location, await this.tokenFor(location, login));
    if (answer.status !== 403) return valueIn(location, answer);
    // The token may have been revoked, or have expired early: a new one decides.
    this.tokens.forget(idOf(location, login));
    return valueIn(location, await this.get(location, await this.tokenFor(location, login)));
  }

  private get(location: SecretLocation, token: Secret): Promise<HttpAnswer> {
    return this.call(location, {
      method: 'GET',
      url: `/v1/${dataPath(location.path)}`,
      headers: ['x-vault-token', token.reveal()],
      body: null,
    });
  }

  private tokenFor(location: SecretLocation, login: Login): Secret | Promise<Secret> {
    return this.tokens.get(idOf(location, login), () => this.signIn(location, login));
  }

  private async signIn(location: SecretLocation, { path, body }: Login): Promise<Token<Secret>> {
    const answer = await this.call(location, {
      method: 'POST',
      url: `/v1/auth/${path}/login`,
      headers: ['content-type', 'application/json'],
      body: JSON.stringify(body),
    });
    if (answer.status !== 200) throw refusedBy(location, answer);
    const auth = (objectIn(location, answer.text)['auth'] ?? {}) as Readonly<Record<string, unknown>>;
    const { client_token: token, lease_duration: seconds } = auth;
    if (typeof token !== 'string' || !/^[!-~]+$/.test(token))
      throw unusableSecret(location, 'the login at the secret manager gave no token');
    const lease = Math.min(Number(seconds) || LONGEST_LEASE_SECONDS, LONGEST_LEASE_SECONDS);
    return { value: new Secret(token), expiresAt: Date.now() + lease * 1_000 };
  }

  private async loginOf(location: SecretLocation): Promise<Login> {
    if (location.auth['vault_auth_type'] === 'approle')
      return {
        path: 'approle',
        body: {
          role_id: authField(location, 'vault_role_id'),
          secret_id: authSecret(location, 'vault_secret_id').reveal(),
        },
      };
    const role = authField(location, 'vault_role');
    const jwt = await readFile(this.serviceAccountToken, 'utf8').catch((error: unknown) => {
      throw unavailableSecret(location, 'this machine has no service account token of Kubernetes', error);
    });
    return { path: 'kubernetes', body: { role, jwt: jwt.trim() } };
  }

  private call(location: SecretLocation, call: ManagerCall): Promise<HttpAnswer> {
    const address = authField(location, 'vault_addr').replace(/\/+$/, '');
    const { vault_namespace: namespace } = location.auth;
    return callManager(this.http, location, {
      ...call,
      url: address + call.url,
      headers: [
        ...call.headers,
        'x-vault-request',
        'true',
        ...(namespace === undefined ? [] : ['x-vault-namespace', namespace]),
      ],
    });
  }
}

/** Another address, role or secret gives another token. A token of Kubernetes is replaced often, and stands for the same account. */
const idOf = ({ organizationId, auth, secrets }: SecretLocation, { path }: Login): string =>
  credentialId(
    path,
    organizationId,
    ...['vault_addr', 'vault_namespace', 'vault_role_id', 'vault_role'].map((name) => auth[name] ?? ''),
    secrets['vault_secret_id']?.reveal() ?? '',
  );

/** `secret/openai` is `secret/data/openai` in the API. A path that has `data` below its mount is that of the API already. */
export function dataPath(path: string): string {
  const [mount = '', ...rest] = path.split('/');
  return [mount, ...(rest.includes('data') && rest.at(-1) !== 'data' ? [] : ['data']), ...rest].join('/');
}

/** The JSON object of the newest version. A deleted version is 404, with its metadata in the body. */
function valueIn(location: SecretLocation, answer: HttpAnswer): Secret {
  if (answer.status !== 200) throw refusedBy(location, answer);
  const { data } = (objectIn(location, answer.text)['data'] ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof data !== 'object' || data === null)
    throw unusableSecret(location, 'the response has no secret of KV version 2');
  return new Secret(JSON.stringify(data));
}

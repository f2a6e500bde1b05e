import { Secret } from '../../common/settings/secret.js';
import type { Egress } from '../../egress/egress.js';
import type { HttpCaller } from '../../egress/http-caller.js';
import { serviceAccountToken } from '../tokens/service-account-token.js';
import { credentialId, TokenCache } from '../tokens/token-cache.js';
import type { WorkloadIdentity } from '../workload-identity/workload-identity.js';
import { callManager, objectIn, refusedBy } from './manager-call.js';
import { authSecret, type SecretLocation, type SecretManager, unusableSecret } from './secret-location.js';

const ENDPOINT = 'https://secretmanager.googleapis.com';

/**
 * Google Secret Manager, by its REST API:
 * https://cloud.google.com/secret-manager/docs/reference/rest/v1/projects.secrets.versions/access
 */
export class GoogleSecretManager implements SecretManager {
  private readonly tokens = new TokenCache<string>();

  constructor(
    private readonly egress: Egress,
    private readonly http: Pick<HttpCaller, 'call'>,
    private readonly identity: WorkloadIdentity,
    private readonly endpoint = ENDPOINT,
  ) {}

  async read(location: SecretLocation): Promise<Secret> {
    const { path } = location;
    const version = path.includes('/versions/') ? path : `${path}/versions/latest`;
    const answer = await callManager(this.http, location, {
      method: 'GET',
      url: `${this.endpoint}/v1/${version}:access`,
      headers: ['authorization', `Bearer ${await this.tokenFor(location)}`],
      body: null,
    });
    if (answer.status !== 200) throw refusedBy(location, answer);
    const { data } = (objectIn(location, answer.text)['payload'] ?? {}) as Readonly<Record<string, unknown>>;
    if (typeof data !== 'string') throw unusableSecret(location, 'the secret has no value');
    return new Secret(Buffer.from(data, 'base64').toString('utf8'));
  }

  private async tokenFor(location: SecretLocation): Promise<string> {
    if (location.auth['gcp_auth_type'] === 'workloadIdentity')
      return this.identity.google(location.organizationId);
    const file = authSecret(location, 'gcp_service_account_json').reveal();
    return this.tokens.get(credentialId(file), () => serviceAccountToken(this.egress, file));
  }
}

import { Secret } from '../../common/settings/secret.js';
import type { Egress } from '../../egress/egress.js';
import type { HttpCaller } from '../../egress/http-caller.js';
import { entraToken } from '../tokens/entra-token.js';
import { credentialId, TokenCache } from '../tokens/token-cache.js';
import type { WorkloadIdentity } from '../workload-identity/workload-identity.js';
import { callManager, objectIn, refusedBy } from './manager-call.js';
import {
  authField,
  authSecret,
  type SecretLocation,
  type SecretManager,
  unusableSecret,
} from './secret-location.js';

const API_VERSION = '7.4';
/** https://learn.microsoft.com/en-us/azure/key-vault/general/authentication-requests-and-responses */
const SCOPE = 'https://vault.azure.net/.default';

/** Azure Key Vault, by its REST API: https://learn.microsoft.com/en-us/rest/api/keyvault/secrets/get-secret/get-secret */
export class AzureKeyVault implements SecretManager {
  private readonly tokens = new TokenCache<string>();

  constructor(
    private readonly egress: Egress,
    private readonly http: Pick<HttpCaller, 'call'>,
    private readonly identity: WorkloadIdentity,
  ) {}

  async read(location: SecretLocation): Promise<Secret> {
    const vault = authField(location, 'azure_vault_url').replace(/\/+$/, '');
    const answer = await callManager(this.http, location, {
      method: 'GET',
      url: `${vault}/secrets/${location.path}?api-version=${API_VERSION}`,
      headers: ['authorization', `Bearer ${await this.tokenFor(location)}`],
      body: null,
    });
    if (answer.status !== 200) throw refusedBy(location, answer);
    const { value } = objectIn(location, answer.text);
    if (typeof value !== 'string') throw unusableSecret(location, 'the secret has no value');
    return new Secret(value);
  }

  private async tokenFor(location: SecretLocation): Promise<string> {
    const { auth, organizationId } = location;
    if (auth['azure_auth_mode'] !== 'entra')
      return this.identity.azure(organizationId, SCOPE, auth['azure_managed_client_id']);
    const application = {
      tenant: authField(location, 'azure_entra_tenant_id'),
      clientId: authField(location, 'azure_entra_client_id'),
      clientSecret: authSecret(location, 'azure_entra_client_secret').reveal(),
      scope: SCOPE,
    };
    const id = credentialId(...Object.values(application));
    return this.tokens.get(id, () => entraToken(this.egress, application));
  }
}

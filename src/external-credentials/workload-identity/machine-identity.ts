import type { defaultProvider } from '@aws-sdk/credential-provider-node';
import { AppError } from '../../common/errors/app-error.js';
import type { ExternalCredentialSettings } from '../../common/settings/external-credential-settings.js';
import type { Egress } from '../../egress/egress.js';
import type { AwsCredentials } from '../tokens/sigv4.js';
import { type Token, TokenCache } from '../tokens/token-cache.js';
import { azureIdentityToken } from './azure-identity.js';
import { WorkloadIdentity } from './workload-identity.js';

const GOOGLE_SCOPE = 'https://www.googleapis.com/auth/cloud-platform';
/** Both packages keep their tokens fresh; this is how long they are not asked. */
const ASKED_AGAIN_MS = 60_000;

/**
 * The identity of the machine by the clouds' own rules. The packages of AWS and Google are loaded at the first use; they read their usual
 * environment variables and files, and call metadata services that the egress keeps from everybody else.
 */
export class MachineIdentity extends WorkloadIdentity {
  private readonly awsKeys = new TokenCache<AwsCredentials>();
  private readonly tokens = new TokenCache<string>();
  private awsProvider: Promise<ReturnType<typeof defaultProvider>> | null = null;
  private googleToken: Promise<() => Promise<string | null | undefined>> | null = null;

  constructor(
    private readonly egress: Egress,
    private readonly settings: ExternalCredentialSettings,
  ) {
    super(settings.identityFor, settings.identityAddresses);
  }

  override aws(organizationId: string): AwsCredentials | Promise<AwsCredentials> {
    this.checkAllowed(organizationId);
    return this.awsKeys.get('aws', () => this.fetchAws());
  }

  override google(organizationId: string): string | Promise<string> {
    this.checkAllowed(organizationId);
    return this.tokens.get('google', () => this.fetchGoogle());
  }

  override azure(organizationId: string, scope: string, clientId?: string): string | Promise<string> {
    this.checkAllowed(organizationId);
    return this.tokens.get(`azure ${clientId ?? ''} ${scope}`, () =>
      azureIdentityToken(this.egress, this.settings.azure, { scope, clientId }),
    );
  }

  /** Environment, web identity (IRSA), shared files, EKS Pod Identity or ECS, and the metadata service of an instance, in this order. */
  private async fetchAws(): Promise<Token<AwsCredentials>> {
    try {
      this.awsProvider ??= import('@aws-sdk/credential-provider-node').then((sdk) => sdk.defaultProvider());
      const { accessKeyId, secretAccessKey, sessionToken, expiration } = await (await this.awsProvider)();
      return {
        value: { accessKeyId, secretAccessKey, sessionToken: sessionToken ?? null },
        expiresAt: expiration?.getTime() ?? Date.now() + ASKED_AGAIN_MS,
      };
    } catch (error) {
      throw noIdentity('AWS', error);
    }
  }

  /** The file of GOOGLE_APPLICATION_CREDENTIALS (workload identity federation included), or the metadata server. */
  private async fetchGoogle(): Promise<Token<string>> {
    try {
      this.googleToken ??= import('google-auth-library').then(({ GoogleAuth }) => {
        // Tokens need no project. Without one, the package would run "gcloud" to find it.
        const auth = new GoogleAuth({ scopes: [GOOGLE_SCOPE], projectId: 'unused' });
        return () => auth.getAccessToken();
      });
      const token = await (await this.googleToken)();
      if (!token) throw new Error('Google gave no token.');
      return { value: token, expiresAt: Date.now() + ASKED_AGAIN_MS };
    } catch (error) {
      throw noIdentity('Google Cloud', error);
    }
  }
}

/** The packages' own messages name files and addresses of the machine: they are the cause, for the log only. */
const noIdentity = (cloud: string, cause: unknown): AppError =>
  new AppError('upstream_error', { detail: `this machine has no usable identity at ${cloud}` }, { cause });

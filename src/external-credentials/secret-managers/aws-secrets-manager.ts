import { Secret } from '../../common/settings/secret.js';
import type { Egress } from '../../egress/egress.js';
import type { AppError } from '../../common/errors/app-error.js';
import type { HttpAnswer, HttpCaller } from '../../egress/http-caller.js';
import { assumeRole } from '../tokens/assumed-role.js';
import { authorizationOf, type AwsCredentials, sha256, timestampOf } from '../tokens/sigv4.js';
import { credentialId, TokenCache } from '../tokens/token-cache.js';
import type { WorkloadIdentity } from '../workload-identity/workload-identity.js';
import { callManager, objectIn, refusedBy } from './manager-call.js';
import {
  authField,
  authSecret,
  type SecretLocation,
  type SecretManager,
  unavailableSecret,
  unusableSecret,
} from './secret-location.js';

const CONTENT_TYPE = 'application/x-amz-json-1.1';
/** https://docs.aws.amazon.com/secretsmanager/latest/apireference/API_GetSecretValue.html */
const TARGET = 'secretsmanager.GetSecretValue';
/** https://docs.aws.amazon.com/general/latest/gr/asm.html */
const endpointOf = (region: string): string =>
  `https://secretsmanager.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`;

/** AWS Secrets Manager: the current version of a secret, with an access key, an assumed role or the role of the machine. */
export class AwsSecretsManager implements SecretManager {
  private readonly roles = new TokenCache<AwsCredentials>();

  constructor(
    private readonly egress: Egress,
    private readonly http: Pick<HttpCaller, 'call'>,
    private readonly identity: WorkloadIdentity,
    private readonly endpoint: (region: string) => string = endpointOf,
  ) {}

  async read(location: SecretLocation): Promise<Secret> {
    const region = authField(location, 'aws_region');
    const url = new URL(this.endpoint(region));
    const body = JSON.stringify({ SecretId: location.path });
    const answer = await callManager(this.http, location, {
      method: 'POST',
      url: `${url.origin}/`,
      headers: signedHeaders(url.host, body, await this.credentialsOf(location, region), region),
      body,
    });
    if (answer.status !== 200) throw failureOf(location, answer);
    const { SecretString: text, SecretBinary: bytes } = objectIn(location, answer.text);
    if (typeof text === 'string') return new Secret(text);
    if (typeof bytes === 'string') return new Secret(Buffer.from(bytes, 'base64').toString('utf8'));
    throw unusableSecret(location, 'the secret has no value');
  }

  private async credentialsOf(location: SecretLocation, region: string): Promise<AwsCredentials> {
    if (location.auth['aws_auth_type'] === 'accessKey')
      return {
        accessKeyId: authField(location, 'aws_access_key_id'),
        secretAccessKey: authSecret(location, 'aws_secret_access_key').reveal(),
        sessionToken: null,
      };
    const own = await this.identity.aws(location.organizationId);
    if (location.auth['aws_auth_type'] === 'serviceRole') return own;
    const arn = authField(location, 'aws_role_arn');
    const externalId = location.auth['aws_external_id'] ?? null;
    const id = credentialId(arn, externalId ?? '', region);
    return this.roles.get(id, () => assumeRole(this.egress, own, { arn, externalId, region }));
  }
}

/** Most errors have the status 400: https://docs.aws.amazon.com/secretsmanager/latest/apireference/CommonErrors.html */
function failureOf(location: SecretLocation, answer: HttpAnswer): AppError {
  const { __type: type = '' } = objectIn(location, answer.text);
  if (/Throttling|ServiceUnavailable|InternalService/.test(String(type)))
    return unavailableSecret(location, 'the secret manager is busy');
  if (String(type).endsWith('ResourceNotFoundException'))
    return refusedBy(location, { ...answer, status: 404 });
  return refusedBy(location, answer);
}

function signedHeaders(host: string, body: string, credentials: AwsCredentials, region: string): string[] {
  const timestamp = timestampOf(Date.now());
  const headers = new Map([
    ['content-type', CONTENT_TYPE],
    ['host', host],
    ['x-amz-date', timestamp],
    ['x-amz-target', TARGET],
  ]);
  if (credentials.sessionToken !== null) headers.set('x-amz-security-token', credentials.sessionToken);
  const authorization = authorizationOf(
    { method: 'POST', path: '/', headers, payloadHash: sha256(body) },
    credentials,
    { region, service: 'secretsmanager', timestamp },
  );
  return [...[...headers].flat(), 'authorization', authorization];
}

import type { Egress } from '../../../egress/egress.js';
import type { WorkloadIdentity } from '../../../external-credentials/workload-identity/workload-identity.js';
import { mapMaybePromise } from '../../../common/maybe-promise.js';
import type { Target } from '../../types/target.js';
import type { WireRequest } from '../wire.js';
import { assumeRole, type Role } from '../../../external-credentials/tokens/assumed-role.js';
import { optionalField, requiredField } from './credential-field.js';
import { type Signer, withBearer, withHeaders } from './signer.js';
import {
  type AwsCredentials,
  authorizationOf,
  type SigningScope,
  sha256,
  timestampOf,
  UNSIGNED_PAYLOAD,
} from '../../../external-credentials/tokens/sigv4.js';
import { credentialId, TokenCache } from '../../../external-credentials/tokens/token-cache.js';

const REGION = /^[a-z]{2,}(-[a-z]+)+-\d{1,2}$/;
const ACCESS_KEY_ID = /^\w{16,128}$/;
const ROLE_ARN = /^arn:aws[a-z-]*:iam::\d{12}:role\/[\w+=,.@/-]{1,576}$/;
const EXTERNAL_ID = /^[\w+=,.@:/-]{2,1224}$/;
const SESSION_TOKEN = /^[!-~]+$/;

/** Service names for signatures that differ from Bedrock's, by the beginning of the host. */
const SERVICES: readonly (readonly [host: RegExp, service: string])[] = [
  [/^runtime\.sagemaker\./, 'sagemaker'],
  // https://github.com/anthropics/anthropic-sdk-typescript/blob/main/packages/aws-sdk/src/client.ts
  [/^aws-external-anthropic\./, 'aws-external-anthropic'],
];
/** The service of `bedrock-runtime`, its private endpoints and proxies in front of it. */
const DEFAULT_SERVICE = 'bedrock';

/** Signed headers besides the host. A proxy may change others on the way. */
const SIGNED_HEADERS: ReadonlySet<string> = new Set(['content-type']);
const SIGNED_PREFIX = 'x-amz-';

/**
 * AWS Signature Version 4. The key is the secret access key of `aws-access-key-id`; without that field, it is one of Bedrock's own API
 * keys, a bearer token (https://docs.aws.amazon.com/bedrock/latest/userguide/api-keys-use.html). With `aws-role-arn`, the request is signed
 * with keys of that role.
 */
export class AwsSigner implements Signer {
  private readonly roles = new TokenCache<AwsCredentials>();

  constructor(
    private readonly egress: Egress,
    private readonly identity: WorkloadIdentity,
  ) {}

  sign(request: WireRequest, target: Target): WireRequest | Promise<WireRequest> {
    const { key, fields, identityFor } = target.credentials;
    if (identityFor !== undefined) return this.signedByMachine(request, target, identityFor);
    if (key === null) return request;
    if (!fields['aws-access-key-id'] && !fields['aws-role-arn']) return withBearer(request, key.reveal());
    const region = requiredField(fields['aws-region'], REGION);
    const credentials = this.credentialsOf(key.reveal(), fields, region);
    return mapMaybePromise(credentials, (one) => signed(request, target, one, region));
  }

  private signedByMachine(
    request: WireRequest,
    target: Target,
    organizationId: string,
  ): WireRequest | Promise<WireRequest> {
    const { fields } = target.credentials;
    const region = requiredField(fields['aws-region'], REGION);
    const own = this.identity.aws(organizationId);
    const credentials = mapMaybePromise(own, (one) => this.inRole(one, fields, region));
    return mapMaybePromise(credentials, (one) => signed(request, target, one, region));
  }

  private credentialsOf(
    secretAccessKey: string,
    fields: Readonly<Record<string, string>>,
    region: string,
  ): AwsCredentials | Promise<AwsCredentials> {
    const accessKeyId = requiredField(fields['aws-access-key-id'], ACCESS_KEY_ID);
    const sessionToken = optionalField(fields['aws-session-token'], SESSION_TOKEN);
    return this.inRole({ accessKeyId, secretAccessKey, sessionToken }, fields, region);
  }

  /** Keys of the role of `aws-role-arn`, or the same keys without one. */
  private inRole(
    own: AwsCredentials,
    fields: Readonly<Record<string, string>>,
    region: string,
  ): AwsCredentials | Promise<AwsCredentials> {
    if (!fields['aws-role-arn']) return own;
    const role: Role = {
      arn: requiredField(fields['aws-role-arn'], ROLE_ARN),
      externalId: optionalField(fields['aws-external-id'], EXTERNAL_ID),
      region,
    };
    const id = credentialId(
      own.accessKeyId,
      own.secretAccessKey,
      own.sessionToken ?? '',
      role.arn,
      role.externalId ?? '',
      region,
    );
    return this.roles.get(id, () => assumeRole(this.egress, own, role));
  }
}

/**
 * A streaming body cannot be hashed, so it is declared unsigned; TLS protects it all the same.
 * https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html. Unverified: whether services other than S3 accept it
 * everywhere.
 */
function signed(
  request: WireRequest,
  { origin }: Target,
  credentials: AwsCredentials,
  region: string,
): WireRequest {
  const { host } = new URL(origin);
  const { body } = request;
  const scope: SigningScope = { region, service: serviceOf(host), timestamp: timestampOf(Date.now()) };
  const payloadHash = body === null || Buffer.isBuffer(body) ? sha256(body ?? '') : UNSIGNED_PAYLOAD;
  const dated = withHeaders(request, [
    'x-amz-date',
    scope.timestamp,
    'x-amz-content-sha256',
    payloadHash,
    ...(credentials.sessionToken === null ? [] : ['x-amz-security-token', credentials.sessionToken]),
  ]);
  const headers = signedHeaders(dated.headers, host);
  const authorization = authorizationOf(
    { method: request.method, path: request.path, headers, payloadHash },
    credentials,
    scope,
  );
  return withHeaders(dated, ['authorization', authorization]);
}

const serviceOf = (host: string): string =>
  SERVICES.find(([pattern]) => pattern.test(host))?.[1] ?? DEFAULT_SERVICE;

/** Headers of the same name are joined with commas. */
function signedHeaders(headers: readonly string[], host: string): ReadonlyMap<string, string> {
  const signable = new Map([['host', host]]);
  for (let index = 0; index < headers.length; index += 2) {
    const name = (headers[index] as string).toLowerCase();
    if (!SIGNED_HEADERS.has(name) && !name.startsWith(SIGNED_PREFIX)) continue;
    const value = (headers[index + 1] as string).trim();
    const before = signable.get(name);
    signable.set(name, before === undefined ? value : `${before},${value}`);
  }
  return signable;
}

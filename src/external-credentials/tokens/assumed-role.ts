import type { Egress } from '../../egress/egress.js';
import { type AwsCredentials, authorizationOf, sha256, timestampOf } from './sigv4.js';
import type { Token } from './token-cache.js';
import { callTokenService, checkedToken, FORM } from './token-service.js';

/** A role that an account assumes, possibly in another account. */
export interface Role {
  readonly arn: string;
  readonly externalId: string | null;
  readonly region: string;
}

/** Appears in the CloudTrail of the role's account. */
const SESSION_NAME = 'gatehouse';
const DURATION_SECONDS = 3_600;

/** Regions of China have a domain of their own: https://docs.aws.amazon.com/general/latest/gr/sts.html */
const hostOf = (region: string): string =>
  `sts.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`;

/** Keys of the role for an hour: https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRole.html */
export async function assumeRole(
  egress: Egress,
  credentials: AwsCredentials,
  role: Role,
): Promise<Token<AwsCredentials>> {
  const host = hostOf(role.region);
  const body = formOf(role);
  const answer = await callTokenService(egress, {
    origin: `https://${host}`,
    path: '/',
    headers: signedHeaders(host, body, credentials, role.region),
    body,
  });
  return {
    value: {
      accessKeyId: checkedToken(textIn(answer, 'AccessKeyId')),
      secretAccessKey: checkedToken(textIn(answer, 'SecretAccessKey')),
      sessionToken: checkedToken(textIn(answer, 'SessionToken')),
    },
    expiresAt: endOf(answer),
  };
}

function formOf({ arn, externalId }: Role): string {
  const form = new URLSearchParams({
    Action: 'AssumeRole',
    Version: '2011-06-15',
    RoleArn: arn,
    RoleSessionName: SESSION_NAME,
    DurationSeconds: String(DURATION_SECONDS),
  });
  if (externalId !== null) form.set('ExternalId', externalId);
  return form.toString();
}

function signedHeaders(host: string, body: string, credentials: AwsCredentials, region: string): string[] {
  const timestamp = timestampOf(Date.now());
  const headers = new Map([
    ['content-type', FORM],
    ['host', host],
    ['x-amz-date', timestamp],
  ]);
  if (credentials.sessionToken !== null) headers.set('x-amz-security-token', credentials.sessionToken);
  const authorization = authorizationOf(
    { method: 'POST', path: '/', headers, payloadHash: sha256(body) },
    credentials,
    { region, service: 'sts', timestamp },
  );
  return [...[...headers].flat(), 'authorization', authorization];
}

/** The text of an element. Keys and tokens contain no characters that XML would escape. */
function textIn(xml: string, element: string): string | null {
  const start = xml.indexOf(`<${element}>`);
  const end = xml.indexOf(`</${element}>`, start);
  return start === -1 || end === -1 ? null : xml.slice(start + element.length + 2, end).trim();
}

function endOf(xml: string): number {
  const end = Date.parse(textIn(xml, 'Expiration') ?? '');
  return Number.isNaN(end) ? Date.now() : end;
}

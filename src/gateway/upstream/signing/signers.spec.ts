import { WorkloadIdentity } from '../../../external-credentials/workload-identity/workload-identity.js';
import { MachineIdentity } from '../../../external-credentials/workload-identity/machine-identity.js';
import { loadSettings } from '../../../common/settings/settings.js';
import { generateKeyPairSync, verify } from 'node:crypto';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Pool } from 'undici';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Secret } from '../../../common/settings/secret.js';
import type { Egress } from '../../../egress/egress.js';
import { AppError } from '../../../common/errors/app-error.js';
import type { SignerId } from '../../../providers/auth-scheme.js';
import type { Provider } from '../../../providers/provider.js';
import type { Target } from '../../types/target.js';
import type { WireRequest } from '../wire.js';
import { Signers } from './signers.js';

interface SignedCall {
  readonly path: string;
  readonly origin: string;
  readonly headers: IncomingMessage['headers'];
  readonly form: URLSearchParams;
}

type SigningTestReply = readonly [status: number, body: string];

let server: Server;
let pool: Pool;
let calls: SignedCall[];
let answer: SigningTestReply;
let signers: Signers;

beforeEach(async () => {
  calls = [];
  const origins: string[] = [];
  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const form = new URLSearchParams(Buffer.concat(chunks).toString());
      calls.push({ path: request.url ?? '', origin: origins.at(-1) ?? '', headers: request.headers, form });
      response.writeHead(answer[0]).end(answer[1]);
    });
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  pool = new Pool(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const egress = {
    pool: (_tenant: string, origin: string) => {
      origins.push(origin);
      return pool;
    },
  } as unknown as Egress;
  signers = new Signers(egress, new MachineIdentity(egress, loadSettings({}).externalCredentials));
});

afterEach(async () => {
  vi.useRealTimers();
  await pool.destroy();
  server.close();
});

const SECRET = 'canary-of-the-secret';

const targetOf = (
  key: string | null,
  fields: Readonly<Record<string, string>> = {},
  origin = 'https://bedrock-runtime.us-east-1.amazonaws.com',
): Target => ({
  provider: {} as Provider,
  origin,
  basePath: '',
  query: '',
  virtualKey: { id: 'id', slug: 'slug' },
  credentials: { key: key === null ? null : new Secret(key), fields },
  isCustomHost: false,
  forwarded: null,
});

const REQUEST: WireRequest = {
  method: 'POST',
  path: '/model/a%3A0/converse',
  headers: [
    'Content-Type',
    'application/json',
    'Authorization',
    'Bearer of-the-client',
    'X-Amz-Date',
    'forged',
    'accept',
    '*/*',
  ],
  body: Buffer.from('{}'),
};

const sign = async (id: SignerId, target: Target, request: WireRequest = REQUEST) =>
  headersOf(await signers.signerFor(id).sign(request, target));

function headersOf({ headers }: WireRequest): Record<string, string> {
  const names = headers.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase());
  expect(new Set(names).size).toBe(names.length);
  return Object.fromEntries(names.map((name, index) => [name, headers[index * 2 + 1] as string]));
}

const failureOf = async (signing: () => Promise<unknown>): Promise<string> => {
  const error = await signing().then(
    () => null,
    (thrown: unknown) => thrown as AppError,
  );
  expect(error).toBeInstanceOf(AppError);
  expect(JSON.stringify([error?.message, error?.details, String(error?.cause)])).not.toContain('canary');
  return error?.code ?? '';
};

describe.each<SignerId>(['aws-sigv4', 'google-service-account', 'azure-entra'])('the signer %s', (id) => {
  it('leaves the credential of a caller without a stored key alone', async () => {
    expect(await signers.signerFor(id).sign(REQUEST, targetOf(null))).toBe(REQUEST);
  });
});

const AWS = { 'aws-access-key-id': 'AKIDEXAMPLEEXAMPLE', 'aws-region': 'us-east-1' };

describe('aws-sigv4', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2025, 0, 2, 3, 4, 5) });
  });

  it('signs host, content type and the headers of AWS, in place of what the client sent', async () => {
    const headers = await sign('aws-sigv4', targetOf(SECRET, AWS));
    expect(headers).toMatchObject({
      accept: '*/*',
      'x-amz-date': '20250102T030405Z',
      'x-amz-content-sha256': '44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a',
    });
    expect(headers.authorization).toMatch(
      /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLEEXAMPLE\/20250102\/us-east-1\/bedrock\/aws4_request, SignedHeaders=content-type;host;x-amz-content-sha256;x-amz-date, Signature=[0-9a-f]{64}$/,
    );
  });

  it('adds and signs the session token of temporary keys', async () => {
    const headers = await sign('aws-sigv4', targetOf(SECRET, { ...AWS, 'aws-session-token': 'token' }));
    expect(headers['x-amz-security-token']).toBe('token');
    expect(headers.authorization).toContain('x-amz-date;x-amz-security-token,');
  });

  it('declares a body that is still on its way unsigned', async () => {
    const pieces = (async function* () {
      yield Buffer.from('{}');
    })();
    const body = Object.assign(pieces, { size: 2 });
    const headers = await sign('aws-sigv4', targetOf(SECRET, AWS), { ...REQUEST, body });
    expect(headers['x-amz-content-sha256']).toBe('UNSIGNED-PAYLOAD');
  });

  it('signs the body that is sent', async () => {
    const one = await sign('aws-sigv4', targetOf(SECRET, AWS));
    const two = await sign('aws-sigv4', targetOf(SECRET, AWS), { ...REQUEST, body: Buffer.from('{ }') });
    expect(one.authorization).not.toBe(two.authorization);
  });

  it.each([
    ['https://runtime.sagemaker.eu-west-1.amazonaws.com', 'sagemaker'],
    ['https://aws-external-anthropic.us-east-1.api.aws', 'aws-external-anthropic'],
    ['https://bedrock-runtime-fips.us-east-1.amazonaws.com', 'bedrock'],
    ['https://vpce-1.bedrock-runtime.us-east-1.vpce.amazonaws.com', 'bedrock'],
  ])('signs %s for the service %s', async (origin, service) => {
    const { authorization } = await sign('aws-sigv4', targetOf(SECRET, AWS, origin));
    expect(authorization).toContain(`/us-east-1/${service}/aws4_request`);
  });

  it("sends one of Bedrock's own API keys as a bearer", async () => {
    const { authorization } = await sign('aws-sigv4', targetOf('ABSKexample', { 'aws-region': 'us-east-1' }));
    expect(authorization).toBe('Bearer ABSKexample');
  });

  it.each<Readonly<Record<string, string>>>([
    { ...AWS, 'aws-region': 'us-east-1.evil.example' },
    { ...AWS, 'aws-region': 'us-east-1\r\nx: y' },
    { 'aws-access-key-id': AWS['aws-access-key-id'] },
    { ...AWS, 'aws-access-key-id': 'AKID EXAMPLE/20' },
    { ...AWS, 'aws-session-token': 'a b' },
    { ...AWS, 'aws-role-arn': 'arn:aws:iam::1:user/x' },
    { 'aws-region': 'us-east-1', 'aws-role-arn': 'arn:aws:iam::123456789012:role/x' },
  ])('refuses an account whose fields are %j', async (fields) => {
    expect(await failureOf(() => sign('aws-sigv4', targetOf(SECRET, fields)))).toBe('credential_unusable');
    expect(calls).toEqual([]);
  });
});

/** From the example of https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRole.html */
const roleAnswer = (
  expiration: string,
) => `<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">
  <AssumeRoleResult>
    <AssumedRoleUser><Arn>arn:aws:sts::123456789012:assumed-role/demo/TestAR</Arn></AssumedRoleUser>
    <Credentials>
      <AccessKeyId>ASIAIOSFODNN7EXAMPLE</AccessKeyId>
      <SecretAccessKey>wJalrXUtnFEMI/K7MDENG/bPxRfiCYzEXAMPLEKEY</SecretAccessKey>
      <SessionToken>AQoDYXdzEPT//////////wEXAMPLE==</SessionToken>
      <Expiration>${expiration}</Expiration>
    </Credentials>
  </AssumeRoleResult>
</AssumeRoleResponse>`;

const ROLE = {
  ...AWS,
  'aws-role-arn': 'arn:aws:iam::123456789012:role/demo',
  'aws-external-id': '123ABC',
};

describe('a role of AWS', () => {
  it('is taken on once, and its keys sign', async () => {
    answer = [200, roleAnswer(new Date(Date.now() + 3_600_000).toISOString())];
    const headers = await sign('aws-sigv4', targetOf(SECRET, ROLE));
    await sign('aws-sigv4', targetOf(SECRET, ROLE));

    expect(headers['x-amz-security-token']).toBe('AQoDYXdzEPT//////////wEXAMPLE==');
    expect(headers.authorization).toContain('Credential=ASIAIOSFODNN7EXAMPLE/');
    expect(calls).toHaveLength(1);
    expect(calls[0]?.origin).toBe('https://sts.us-east-1.amazonaws.com');
    expect(calls[0]?.headers.authorization).toMatch(
      /Credential=AKIDEXAMPLEEXAMPLE\/\d{8}\/us-east-1\/sts\/aws4_request, SignedHeaders=content-type;host;x-amz-date,/,
    );
    expect(Object.fromEntries(calls[0]?.form ?? [])).toEqual({
      Action: 'AssumeRole',
      Version: '2011-06-15',
      RoleArn: ROLE['aws-role-arn'],
      RoleSessionName: 'gatehouse',
      DurationSeconds: '3600',
      ExternalId: '123ABC',
    });
  });

  it('is not shared with whoever has not the same secret', async () => {
    answer = [200, roleAnswer(new Date(Date.now() + 3_600_000).toISOString())];
    await sign('aws-sigv4', targetOf(SECRET, ROLE));
    await sign('aws-sigv4', targetOf('another', ROLE));
    expect(calls).toHaveLength(2);
  });

  it.each<readonly [string, SigningTestReply, string]>([
    ['a refusal', [403, '<ErrorResponse>canary</ErrorResponse>'], 'credential_unusable'],
    ['a failure', [500, 'canary'], 'upstream_error'],
    ['throttling', [429, 'canary'], 'upstream_error'],
    ['a redirection', [302, 'canary'], 'upstream_error'],
    ['another page', [200, '<html>canary</html>'], 'upstream_error'],
    ['an answer without an end', [200, 'canary'.repeat(100_000)], 'upstream_error'],
  ])('that meets %s gives an error without any secret', async (_name, given, code) => {
    answer = given;
    expect(await failureOf(() => sign('aws-sigv4', targetOf(SECRET, ROLE)))).toBe(code);
  });
});

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
const PEM = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
const FILE = {
  type: 'service_account',
  project_id: 'p',
  private_key_id: 'key-1',
  private_key: PEM,
  client_email: 'name@p.iam.gserviceaccount.com',
  token_uri: 'https://evil.example/token',
};

describe('google-service-account', () => {
  it('buys an access token with an assertion that Google can verify', async () => {
    answer = [200, '{"access_token":"ya29.token","expires_in":3599,"token_type":"Bearer"}'];
    const target = targetOf(JSON.stringify(FILE));
    expect((await sign('google-service-account', target)).authorization).toBe('Bearer ya29.token');
    expect((await sign('google-service-account', target)).authorization).toBe('Bearer ya29.token');

    expect(calls).toHaveLength(1);
    const [call] = calls;
    expect([call?.origin, call?.path]).toEqual(['https://oauth2.googleapis.com', '/token']);
    expect(call?.form.get('grant_type')).toBe('urn:ietf:params:oauth:grant-type:jwt-bearer');
    const [header = '', claims = '', signature = ''] = call?.form.get('assertion')?.split('.') ?? [];
    const decoded = (part: string): unknown => JSON.parse(Buffer.from(part, 'base64url').toString());
    expect(decoded(header)).toEqual({ alg: 'RS256', typ: 'JWT', kid: 'key-1' });
    const now = Math.floor(Date.now() / 1_000);
    expect(decoded(claims)).toEqual({
      iss: FILE.client_email,
      scope: 'https://www.googleapis.com/auth/cloud-platform',
      aud: 'https://oauth2.googleapis.com/token',
      iat: expect.closeTo(now, -1),
      exp: expect.closeTo(now + 3_600, -1),
    });
    const signed = Buffer.from(`${header}.${claims}`);
    expect(verify('RSA-SHA256', signed, publicKey, Buffer.from(signature, 'base64url'))).toBe(true);
  });

  it('takes a key that is no JSON for an access token', async () => {
    const headers = await sign('google-service-account', targetOf('ya29.own'));
    expect(headers.authorization).toBe('Bearer ya29.own');
    expect(calls).toEqual([]);
  });

  it.each([
    ['no JSON', '{canary'],
    ['another kind of file', JSON.stringify({ ...FILE, type: 'authorized_user', client_email: 'canary' })],
    ['no private key', JSON.stringify({ ...FILE, private_key: undefined })],
    ['a broken private key', JSON.stringify({ ...FILE, private_key: 'canary' })],
    [
      'a private key that is not RSA',
      JSON.stringify({
        ...FILE,
        private_key: generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }),
      }),
    ],
  ])('refuses a file with %s', async (_name, key) => {
    expect(await failureOf(() => sign('google-service-account', targetOf(key)))).toBe('credential_unusable');
    expect(calls).toEqual([]);
  });

  it.each<readonly [SigningTestReply, string]>([
    [[400, '{"error":"invalid_grant","error_description":"canary"}'], 'credential_unusable'],
    [[200, 'canary'], 'upstream_error'],
    [[200, 'null'], 'upstream_error'],
    [[200, '{"access_token":"canary\\r\\nx: y","expires_in":3600}'], 'upstream_error'],
    [[200, '{"access_token":7}'], 'upstream_error'],
  ])('maps the response %j to the error %s', async (given, code) => {
    answer = given;
    expect(await failureOf(() => sign('google-service-account', targetOf(JSON.stringify(FILE))))).toBe(code);
  });

  it('reports an outage of the service', async () => {
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
    const code = await failureOf(() => sign('google-service-account', targetOf(JSON.stringify(FILE))));
    expect(code).toBe('upstream_error');
  });
});

const ENTRA = {
  'azure-entra-tenant-id': '00000000-0000-0000-0000-000000000001',
  'azure-entra-client-id': '00000000-0000-0000-0000-000000000002',
};

describe('azure-entra', () => {
  it('buys an access token for the application', async () => {
    answer = [200, '{"token_type":"Bearer","expires_in":3599,"access_token":"eyJ0"}'];
    expect((await sign('azure-entra', targetOf(SECRET, ENTRA))).authorization).toBe('Bearer eyJ0');
    expect((await sign('azure-entra', targetOf(SECRET, ENTRA))).authorization).toBe('Bearer eyJ0');
    expect(calls).toHaveLength(1);
    expect([calls[0]?.origin, calls[0]?.path]).toEqual([
      'https://login.microsoftonline.com',
      `/${ENTRA['azure-entra-tenant-id']}/oauth2/v2.0/token`,
    ]);
    expect(Object.fromEntries(calls[0]?.form ?? [])).toEqual({
      grant_type: 'client_credentials',
      client_id: ENTRA['azure-entra-client-id'],
      client_secret: SECRET,
      scope: 'https://cognitiveservices.azure.com/.default',
    });
  });

  it('requests another scope where the account has one', async () => {
    answer = [200, '{"expires_in":"3599","access_token":"eyJ0"}'];
    await sign(
      'azure-entra',
      targetOf(SECRET, { ...ENTRA, 'azure-entra-scope': 'https://ai.azure.com/.default' }),
    );
    expect(calls[0]?.form.get('scope')).toBe('https://ai.azure.com/.default');
  });

  it.each(['..', 'a/../b', 'a/b', 'a?b', 'a%2fb', 'a..b', '', 'a b'])(
    'refuses the tenant %j, which would be another path',
    async (tenant) => {
      const target = targetOf(SECRET, { ...ENTRA, 'azure-entra-tenant-id': tenant });
      expect(await failureOf(() => sign('azure-entra', target))).toBe('credential_unusable');
      expect(calls).toEqual([]);
    },
  );

  it('calls a refused client secret unusable, and does not retry at once', async () => {
    answer = [401, '{"error":"invalid_client","error_description":"canary"}'];
    const signing = () => sign('azure-entra', targetOf(SECRET, ENTRA));
    expect([await failureOf(signing), await failureOf(signing)]).toEqual([
      'credential_unusable',
      'credential_unusable',
    ]);
    expect(calls).toHaveLength(1);
  });
});

/** A machine with an identity at every cloud, for one organization. */
class AllowedMachine extends WorkloadIdentity {
  constructor() {
    super(new Set(['allowed']));
  }
  override aws(organizationId: string) {
    this.checkAllowed(organizationId);
    return { accessKeyId: 'ASIAMACHINE4711XXXXX', secretAccessKey: 'canary', sessionToken: 'session-1' };
  }
  override google(organizationId: string) {
    this.checkAllowed(organizationId);
    return Promise.resolve('ya29.machine');
  }
  override azure(organizationId: string, scope: string, clientId = 'own') {
    this.checkAllowed(organizationId);
    return `eyJ.${clientId}.${scope.length}`;
  }
}

describe('the identity of the machine', () => {
  const machine = (id: SignerId, fields: Readonly<Record<string, string>> = {}, identityFor = 'allowed') => {
    const target = targetOf('workload identity', fields);
    const signing = new Signers({} as Egress, new AllowedMachine()).signerFor(id);
    return signing.sign(REQUEST, { ...target, credentials: { ...target.credentials, identityFor } });
  };

  it('signs for AWS with the keys of its role, and their session', async () => {
    const headers = headersOf(await machine('aws-sigv4', { 'aws-region': 'eu-central-1' }));
    expect(headers.authorization).toMatch(
      /^AWS4-HMAC-SHA256 Credential=ASIAMACHINE4711XXXXX\/\d{8}\/eu-central-1\/bedrock\/aws4_request, /,
    );
    expect(headers['x-amz-security-token']).toBe('session-1');
  });

  it.each([
    ['google-service-account', {}, 'Bearer ya29.machine'],
    ['azure-entra', {}, 'Bearer eyJ.own.44'],
    ['azure-entra', { 'azure-managed-client-id': 'c-1', 'azure-entra-scope': 'x' }, 'Bearer eyJ.c-1.1'],
  ] as const)('sends %s its own token with %j, in place of any other', async (id, fields, authorization) => {
    expect(headersOf(await machine(id, fields))).toMatchObject({ authorization });
  });

  it.each(['aws-sigv4', 'google-service-account', 'azure-entra'] as const)(
    'is refused to an organization without permission: %s',
    (id) => {
      expect(() => machine(id, { 'aws-region': 'eu-central-1' }, 'another')).toThrow(
        'must not use the identity of the machine',
      );
    },
  );
});

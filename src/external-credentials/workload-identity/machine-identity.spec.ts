import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { ruleFor } from '../../common/net/egress-allow.js';
import type { AzureIdentitySettings } from '../../common/settings/external-credential-settings.js';
import { Secret } from '../../common/settings/secret.js';
import { loadSettings } from '../../common/settings/settings.js';
import { Egress } from '../../egress/egress.js';
import { MachineIdentity } from './machine-identity.js';

const OURS = '0199a0e4-6f0c-7b31-9c3f-2f4f9a1e6d10';

interface IdentityTestRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

type IdentityTestReply = readonly [status: number, body: object | string];

/** Metadata services on loopback, with the exchanges that the vendors document. */
describe('the identity of the machine', () => {
  let server: Server;
  let egress: Egress;
  let origin: string;
  let folder: string;
  let seen: IdentityTestRequest[];
  let replies: Readonly<Record<string, IdentityTestReply>>;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'identity-'));
    server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const path = request.url ?? '';
        seen.push({ path, headers: request.headers, body: Buffer.concat(chunks).toString() });
        const found = Object.entries(replies).find(([prefix]) => path.startsWith(prefix));
        const [status, body] = found?.[1] ?? [404, 'not found'];
        const text = typeof body === 'string' ? body : JSON.stringify(body);
        response
          .writeHead(status, {
            'metadata-flavor': 'Google',
            'content-type': typeof body === 'string' ? 'text/plain' : 'application/json',
          })
          .end(text);
      });
    });
    await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    egress = new Egress({ allow: ruleFor(new URL(origin)).rules, timeouts: { connectMs: 1_000 } });
  });
  beforeEach(() => {
    seen = [];
    replies = {};
  });
  afterEach(() => vi.unstubAllEnvs());
  afterAll(async () => {
    await egress.close();
    server.close();
    rmSync(folder, { recursive: true });
  });

  const identity = (azure: AzureIdentitySettings = {}) => {
    const settings = loadSettings({ GATEHOUSE_WORKLOAD_IDENTITY_ORGANIZATIONS: OURS }).externalCredentials;
    return new MachineIdentity(egress, { ...settings, azure });
  };

  it('is for allowed organizations only, by default for none', () => {
    const none = new MachineIdentity(egress, loadSettings({}).externalCredentials);
    for (const [machine, organization] of [
      [identity(), 'another'],
      [none, OURS],
    ] as const)
      for (const use of [
        () => machine.aws(organization),
        () => machine.google(organization),
        () => machine.azure(organization, 'scope'),
      ])
        expect(use).toThrow('must not use the identity of the machine');
    const all = loadSettings({ GATEHOUSE_WORKLOAD_IDENTITY_ORGANIZATIONS: '*' }).externalCredentials;
    expect(new MachineIdentity(egress, all).isAllowed('any')).toBe(true);
    expect(() => loadSettings({ GATEHOUSE_WORKLOAD_IDENTITY_ORGANIZATIONS: 'our-team' })).toThrow(
      'ids of organizations',
    );
  });

  it('is sent to no address but those that the operator names, by default to none', () => {
    const named = loadSettings({
      GATEHOUSE_WORKLOAD_IDENTITY_ADDRESSES: 'https://vault.example.com:8200, https://two.example.com',
    }).externalCredentials;
    const machine = new MachineIdentity(egress, named);
    machine.checkAddress('https://vault.example.com:8200/prefix');
    machine.checkAddress('https://TWO.example.com:443');
    for (const other of [
      'https://vault.example.com',
      'http://vault.example.com:8200',
      'https://evil.example',
    ])
      expect(() => machine.checkAddress(other)).toThrow('must not be sent');
    expect(() => identity().checkAddress('https://vault.example.com:8200')).toThrow('must not be sent');
    for (const wrong of [
      'vault.example.com',
      'https://vault.example.com/v1',
      'https://a:b@vault.example.com',
    ])
      expect(() => loadSettings({ GATEHOUSE_WORKLOAD_IDENTITY_ADDRESSES: wrong })).toThrow(
        'addresses such as',
      );
  });

  const withoutAws = () => {
    for (const name of [
      'AWS_ACCESS_KEY_ID',
      'AWS_SECRET_ACCESS_KEY',
      'AWS_PROFILE',
      'AWS_WEB_IDENTITY_TOKEN_FILE',
    ])
      vi.stubEnv(name, undefined);
    vi.stubEnv('AWS_CONFIG_FILE', join(folder, 'none'));
    vi.stubEnv('AWS_SHARED_CREDENTIALS_FILE', join(folder, 'none'));
    vi.stubEnv('AWS_CONTAINER_CREDENTIALS_FULL_URI', undefined);
  };

  // https://docs.aws.amazon.com/eks/latest/userguide/pod-id-how-it-works.html
  it('at AWS comes from EKS Pod Identity, with the token of the pod, and is fetched once', async () => {
    withoutAws();
    const file = join(folder, 'pod-token');
    writeFileSync(file, 'pod-token-1');
    vi.stubEnv('AWS_CONTAINER_CREDENTIALS_FULL_URI', `${origin}/v1/credentials`);
    vi.stubEnv('AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE', file);
    replies = {
      '/v1/credentials': [
        200,
        {
          AccessKeyId: 'ASIAPOD',
          SecretAccessKey: 'canary',
          Token: 'session',
          AccountId: '123456789012',
          Expiration: new Date(Date.now() + 3_600_000).toISOString(),
        },
      ],
    };
    const machine = identity();
    expect(await machine.aws(OURS)).toEqual({
      accessKeyId: 'ASIAPOD',
      secretAccessKey: 'canary',
      sessionToken: 'session',
    });
    expect(seen).toMatchObject([{ headers: { authorization: 'pod-token-1' } }]);
    expect(machine.aws(OURS)).not.toBeInstanceOf(Promise);
  });

  // https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instancedata-data-retrieval.html
  it('at AWS comes from the metadata service of an instance, by its session-oriented version', async () => {
    withoutAws();
    vi.stubEnv('AWS_EC2_METADATA_SERVICE_ENDPOINT', origin);
    const role = '/latest/meta-data/iam/security-credentials/';
    replies = {
      '/latest/api/token': [200, 'metadata-token'],
      [`${role}gateway`]: [
        200,
        {
          Code: 'Success',
          AccessKeyId: 'ASIAINSTANCE',
          SecretAccessKey: 'canary',
          Token: 'session',
          Expiration: new Date(Date.now() + 3_600_000).toISOString(),
        },
      ],
      [role]: [200, 'gateway'],
    };
    expect(await identity().aws(OURS)).toMatchObject({
      accessKeyId: 'ASIAINSTANCE',
      sessionToken: 'session',
    });
    expect(seen.at(-1)?.headers).toMatchObject({ 'x-aws-ec2-metadata-token': 'metadata-token' });
  });

  // https://docs.cloud.google.com/compute/docs/access/authenticate-workloads#applications
  it('at Google comes from the metadata server', async () => {
    vi.stubEnv('GOOGLE_APPLICATION_CREDENTIALS', undefined);
    vi.stubEnv('HOME', folder);
    vi.stubEnv('GCE_METADATA_HOST', new URL(origin).host);
    vi.stubEnv('METADATA_SERVER_DETECTION', 'assume-present');
    replies = {
      '/computeMetadata/v1/instance/service-accounts/default/token': [
        200,
        { access_token: 'ya29.canary', expires_in: 3_599, token_type: 'Bearer' },
      ],
      '/computeMetadata/v1/': [200, 'x'],
    };
    expect(await identity().google(OURS)).toBe('ya29.canary');
    expect(seen.find(({ path }) => path.includes('/token'))?.headers).toMatchObject({
      'metadata-flavor': 'Google',
    });
  });

  // https://learn.microsoft.com/en-us/entra/identity/managed-identities-azure-resources/how-to-use-vm-token
  it('at Azure comes from the metadata service of a machine', async () => {
    replies = {
      '/metadata/identity': [200, { access_token: 'eyJ.canary', expires_in: '3599', token_type: 'Bearer' }],
    };
    const machine = identity({ metadataUrl: `${origin}/metadata/identity/oauth2/token` });
    expect(await machine.azure(OURS, 'https://vault.azure.net/.default', 'c-1')).toBe('eyJ.canary');
    expect(seen).toMatchObject([
      {
        path: '/metadata/identity/oauth2/token?api-version=2018-02-01&resource=https%3A%2F%2Fvault.azure.net&client_id=c-1',
        headers: { metadata: 'true' },
      },
    ]);
    replies = {
      '/metadata/identity': [400, { error: 'invalid_request', error_description: 'Identity not found' }],
    };
    await expect(machine.azure(OURS, 'another')).rejects.toMatchObject({ code: 'credential_unusable' });
  });

  // https://learn.microsoft.com/en-us/azure/app-service/overview-managed-identity#rest-endpoint-reference
  it('at Azure comes from App Service, whose tokens have a moment of expiry', async () => {
    const expires_on = String(Math.floor(Date.now() / 1_000) + 3_600);
    replies = { '/msi/token': [200, { access_token: 'eyJ.canary', expires_on, token_type: 'Bearer' }] };
    const machine = identity({ endpoint: `${origin}/msi/token`, header: new Secret('password') });
    expect(await machine.azure(OURS, 'https://cognitiveservices.azure.com/.default')).toBe('eyJ.canary');
    expect(seen).toMatchObject([{ headers: { 'x-identity-header': 'password' } }]);
    expect(machine.azure(OURS, 'https://cognitiveservices.azure.com/.default')).toBe('eyJ.canary');
  });

  // https://learn.microsoft.com/en-us/entra/identity-platform/v2-oauth2-client-creds-grant-flow#third-case-access-token-request-with-a-federated-credential
  it('at Azure comes from a federated token, which is read again each time', async () => {
    const file = join(folder, 'federated');
    writeFileSync(file, 'jwt-1\n');
    replies = { '/tenant-1/oauth2/v2.0/token': [200, { access_token: 'eyJ.canary', expires_in: 3_599 }] };
    const machine = identity({
      federatedTokenFile: file,
      tenantId: 'tenant-1',
      clientId: 'client-1',
      authorityHost: origin,
    });
    expect(await machine.azure(OURS, 'scope-1')).toBe('eyJ.canary');
    writeFileSync(file, 'jwt-2\n');
    await machine.azure(OURS, 'scope-2');
    const forms = seen.map(({ body }) => Object.fromEntries(new URLSearchParams(body)));
    expect(forms).toMatchObject([
      { client_assertion: 'jwt-1', client_id: 'client-1', scope: 'scope-1' },
      { client_assertion: 'jwt-2', scope: 'scope-2' },
    ]);
  });
});

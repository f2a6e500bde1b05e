import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ruleFor } from '../../common/net/egress-allow.js';
import { Secret } from '../../common/settings/secret.js';
import { Egress } from '../../egress/egress.js';
import { HttpCaller } from '../../egress/http-caller.js';
import { WorkloadIdentity } from '../workload-identity/workload-identity.js';
import { AwsSecretsManager } from './aws-secrets-manager.js';
import { AzureKeyVault } from './azure-key-vault.js';
import { GoogleSecretManager } from './google-secret-manager.js';
import { SecretManagers } from './secret-managers.js';
import type { SecretLocation } from './secret-location.js';

/** The machine's identity with fixed tokens, as if the operator allowed it to one organization. */
class FixedIdentity extends WorkloadIdentity {
  constructor(addresses: readonly string[] = []) {
    super(new Set(['allowed']), new Set(addresses));
  }
  override aws(organizationId: string) {
    this.checkAllowed(organizationId);
    return {
      accessKeyId: 'ASIAMACHINE4711XXXXX',
      secretAccessKey: 'canary-machine',
      sessionToken: 'session-1',
    };
  }
  override google(organizationId: string) {
    this.checkAllowed(organizationId);
    return 'google-token';
  }
  override azure(organizationId: string, scope: string, clientId?: string) {
    this.checkAllowed(organizationId);
    return `azure-token ${scope} ${clientId ?? ''}`.trim().replaceAll(' ', '|');
  }
}

interface SecretManagerRequest {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: NodeJS.Dict<string | string[]>;
  readonly body: string;
}

describe('secret managers of the clouds', () => {
  let server: Server;
  let egress: Egress;
  let origin: string;
  let seen: SecretManagerRequest[];
  let reply: { status: number; body: object };

  beforeAll(async () => {
    server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const { method, url, headers } = request;
        seen.push({ method, url, headers, body: Buffer.concat(chunks).toString() });
        response.writeHead(reply.status).end(JSON.stringify(reply.body));
      });
    });
    await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    egress = new Egress({ allow: ruleFor(new URL(origin)).rules, timeouts: { connectMs: 1_000 } });
  });
  beforeEach(() => {
    seen = [];
  });
  afterAll(async () => {
    await egress.close();
    server.close();
  });

  const identity = new FixedIdentity();
  const location = (more: Partial<SecretLocation>): SecretLocation => ({
    reference: 'a',
    organizationId: 'allowed',
    manager: 'aws_sm',
    auth: {},
    secrets: {},
    path: 'prod/openai',
    ...more,
  });

  // https://docs.aws.amazon.com/secretsmanager/latest/apireference/API_GetSecretValue.html#API_GetSecretValue_Examples
  it('AWS: the current version is read with a signed request', async () => {
    reply = { status: 200, body: { ARN: 'arn', Name: 'prod/openai', SecretString: '{"api_key":"sk-1"}' } };
    const manager = new AwsSecretsManager(egress, new HttpCaller(egress), identity, () => origin);
    const auth = {
      aws_auth_type: 'accessKey',
      aws_access_key_id: 'AKIAIOSFODNN7EXAMPLE',
      aws_region: 'eu-central-1',
    };
    const secrets = { aws_secret_access_key: new Secret('canary') };
    expect((await manager.read(location({ auth, secrets }))).reveal()).toBe('{"api_key":"sk-1"}');
    expect(seen[0]).toMatchObject({
      method: 'POST',
      url: '/',
      headers: {
        'x-amz-target': 'secretsmanager.GetSecretValue',
        'content-type': 'application/x-amz-json-1.1',
      },
      body: '{"SecretId":"prod/openai"}',
    });
    expect(seen[0]?.headers.authorization).toMatch(
      /^AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE\/\d{8}\/eu-central-1\/secretsmanager\/aws4_request, SignedHeaders=[a-z0-9;-]*x-amz-target, Signature=/,
    );

    const machine = { aws_auth_type: 'serviceRole', aws_region: 'eu-central-1' };
    await manager.read(location({ auth: machine }));
    expect(seen[1]?.headers).toMatchObject({ 'x-amz-security-token': 'session-1' });

    reply = { status: 400, body: { __type: 'AccessDeniedException', Message: 'canary' } };
    await expect(manager.read(location({ auth: machine }))).rejects.toMatchObject({
      code: 'secret_unusable',
    });
    reply = { status: 400, body: { __type: 'ResourceNotFoundException' } };
    await expect(manager.read(location({ auth: machine }))).rejects.toThrow('has no such secret');
    reply = { status: 400, body: { __type: 'ThrottlingException' } };
    await expect(manager.read(location({ auth: machine }))).rejects.toMatchObject({
      code: 'secret_unavailable',
    });
    reply = { status: 500, body: {} };
    await expect(manager.read(location({ auth: machine }))).rejects.toMatchObject({
      code: 'secret_unavailable',
    });
  });

  // https://cloud.google.com/secret-manager/docs/reference/rest/v1/projects.secrets.versions/access
  it('Google: the newest version is read with an access token, and its payload is decoded', async () => {
    reply = { status: 200, body: { name: 'x', payload: { data: Buffer.from('sk-1').toString('base64') } } };
    const manager = new GoogleSecretManager(egress, new HttpCaller(egress), identity, origin);
    const google = location({
      auth: { gcp_auth_type: 'workloadIdentity' },
      path: 'projects/p/secrets/openai',
    });
    expect((await manager.read(google)).reveal()).toBe('sk-1');
    await manager.read({ ...google, path: 'projects/p/secrets/openai/versions/3' });
    expect(seen.map(({ url }) => url)).toEqual([
      '/v1/projects/p/secrets/openai/versions/latest:access',
      '/v1/projects/p/secrets/openai/versions/3:access',
    ]);
    expect(seen[0]?.headers).toMatchObject({ authorization: 'Bearer google-token' });
  });

  // https://learn.microsoft.com/en-us/rest/api/keyvault/secrets/get-secret/get-secret#examples
  it('Azure: a secret is read with a token for its vault', async () => {
    reply = {
      status: 200,
      body: { value: 'sk-1', id: 'https://v.vault.azure.net/secrets/openai/1', attributes: {} },
    };
    const manager = new AzureKeyVault(egress, new HttpCaller(egress), identity);
    const auth = { azure_auth_mode: 'managed', azure_managed_client_id: 'c-1', azure_vault_url: origin };
    expect((await manager.read(location({ auth, path: 'openai' }))).reveal()).toBe('sk-1');
    expect(seen[0]).toMatchObject({
      url: '/secrets/openai?api-version=7.4',
      headers: { authorization: 'Bearer azure-token|https://vault.azure.net/.default|c-1' },
    });
    reply = { status: 404, body: { error: { code: 'SecretNotFound' } } };
    await expect(manager.read(location({ auth, path: 'openai' }))).rejects.toThrow('has no such secret');
  });

  it('the identity of the machine is refused to an organization that the operator does not allow', async () => {
    const managers = new SecretManagers(egress, identity, null);
    const modes = [
      { manager: 'aws_sm', auth: { aws_auth_type: 'serviceRole', aws_region: 'eu-central-1' } },
      { manager: 'aws_sm', auth: { aws_auth_type: 'assumedRole', aws_region: 'eu-central-1' } },
      { manager: 'gcp_sm', auth: { gcp_auth_type: 'workloadIdentity' } },
      { manager: 'azure_kv', auth: { azure_auth_mode: 'managed', azure_vault_url: origin } },
      { manager: 'azure_kv', auth: { azure_auth_mode: 'default', azure_vault_url: origin } },
      { manager: 'hashicorp_vault', auth: { vault_auth_type: 'kubernetes', vault_addr: origin } },
    ] as const;
    for (const mode of modes)
      await expect(managers.read(location({ ...mode, organizationId: 'other' }))).rejects.toMatchObject({
        code: 'workload_identity_refused',
      });
    expect(seen).toEqual([]);
  });

  it('the identity of the machine is sent to no address that a tenant chose', async () => {
    const managers = new SecretManagers(egress, identity, null);
    const lookalikes = ['https://x.vault.azure.net.evil.example', 'https://evil.example/x.vault.azure.net'];
    const modes = [
      ...[origin, 'http://x.vault.azure.net', ...lookalikes].map((azure_vault_url) => ({
        manager: 'azure_kv' as const,
        auth: { azure_auth_mode: 'managed', azure_vault_url },
      })),
      { manager: 'azure_kv', auth: { azure_auth_mode: 'default', azure_vault_url: origin } },
      {
        manager: 'hashicorp_vault',
        auth: { vault_auth_type: 'kubernetes', vault_addr: origin, vault_role: 'gatehouse' },
      },
    ] as const;
    seen = [];
    for (const mode of modes)
      await expect(managers.read(location({ ...mode, path: 'a/b' }))).rejects.toMatchObject({
        code: 'workload_identity_address_refused',
      });
    expect(seen).toEqual([]);

    reply = { status: 200, body: { value: 'sk-1' } };
    const named = new SecretManagers(egress, new FixedIdentity([origin]), null);
    const auth = { azure_auth_mode: 'managed', azure_vault_url: origin };
    expect((await named.read(location({ manager: 'azure_kv', auth, path: 'openai' }))).reveal()).toBe('sk-1');
  });

  it('files are refused where the operator names no folder, and blocked addresses are not called', async () => {
    const managers = new SecretManagers(egress, identity, null);
    await expect(managers.read(location({ manager: 'file' }))).rejects.toThrow('GATEHOUSE_SECRETS_DIR');
    const blocked = { vault_auth_type: 'token', vault_addr: 'http://169.254.169.254' };
    await expect(
      managers.read(
        location({
          manager: 'hashicorp_vault',
          auth: blocked,
          secrets: { vault_token: new Secret('canary') },
          path: 'secret/a',
        }),
      ),
    ).rejects.toThrow('is not allowed');
  });
});

import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** How it fails: no response at all, sealed, or refusing every token. */
type VaultFault = 'down' | 'sealed' | 'denied';

const ROOT_TOKEN = 'hvs.canary-root-token';

/**
 * The documented API of Vault and OpenBao, as far as the gateway uses it: secrets of KV version 2, and logins by AppRole and Kubernetes with
 * tokens that expire. https://developer.hashicorp.com/vault/api-docs/secret/kv/kv-v2#read-secret-version,
 * https://developer.hashicorp.com/vault/api-docs/auth/approle#login-with-approle,
 * https://developer.hashicorp.com/vault/api-docs/auth/kubernetes#login
 */
export class VaultServer {
  readonly rootToken = ROOT_TOKEN;
  readonly role = { role_id: 'role-4711', secret_id: 'canary-secret-id' };
  readonly jwt = 'canary.jwt.of-the-pod';
  /** Calls since the start: `login`, or `read <path>`. */
  readonly calls: string[] = [];
  fault: VaultFault | null = null;
  leaseSeconds = 3_600;
  private readonly secrets = new Map<string, object>();
  private readonly tokens = new Map<string, number>([[ROOT_TOKEN, Infinity]]);
  private readonly server: Server;

  private constructor() {
    this.server = createServer((request, response) => void this.answer(request, response));
  }

  static async start(): Promise<VaultServer> {
    const vault = new VaultServer();
    await new Promise<void>((ready) => vault.server.listen(0, '127.0.0.1', ready));
    return vault;
  }

  get address(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** `path` is that of the API: `secret/data/openai`. */
  put(path: string, data: object): void {
    this.secrets.set(path, data);
  }

  delete(path: string): void {
    this.secrets.delete(path);
  }

  revokeTokens(): void {
    for (const token of this.tokens.keys()) if (token !== ROOT_TOKEN) this.tokens.delete(token);
  }

  close(): Promise<void> {
    this.server.closeAllConnections();
    return new Promise((closed) => this.server.close(() => closed()));
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await textOf(request);
    const [, , ...segments] = (request.url ?? '').split('/');
    const path = segments.join('/');
    this.calls.push(path.startsWith('auth/') ? 'login' : `read ${path}`);
    if (this.fault === 'down') return void request.socket.destroy();
    if (this.fault === 'sealed') return send(response, 503, { errors: ['Vault is sealed'] });
    if (path === 'auth/approle/login') return this.login(response, sameAs(this.role, JSON.parse(body)));
    if (path === 'auth/kubernetes/login')
      return this.login(response, (JSON.parse(body) as { jwt?: unknown }).jwt === this.jwt);
    this.read(response, path, String(request.headers['x-vault-token']));
  }

  private login(response: ServerResponse, isValid: boolean): void {
    if (!isValid) return send(response, 400, { errors: ['invalid role or secret ID'] });
    const token = `hvs.canary-${randomUUID()}`;
    this.tokens.set(token, Date.now() + this.leaseSeconds * 1_000);
    send(response, 200, {
      auth: {
        client_token: token,
        lease_duration: this.leaseSeconds,
        renewable: true,
        policies: ['default'],
      },
    });
  }

  private read(response: ServerResponse, path: string, token: string): void {
    if (this.fault === 'denied' || (this.tokens.get(token) ?? 0) <= Date.now())
      return send(response, 403, { errors: ['permission denied', `token ${token}`] });
    const data = this.secrets.get(path);
    if (!data) return send(response, 404, { errors: [] });
    send(response, 200, { data: { data, metadata: { version: 1, destroyed: false } } });
  }
}

const sameAs = (expected: object, given: object): boolean =>
  JSON.stringify(expected) === JSON.stringify(given);

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

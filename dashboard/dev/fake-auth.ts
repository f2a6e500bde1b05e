import type { IncomingMessage, ServerResponse } from 'node:http';
import type { SignedIn } from '../src/api/auth';

const COOKIE = 'fake-session=1';

/** Accepts any password but "wrong". For development and browser tests only; not part of the build. */
export class FakeAuth {
  constructor(
    private readonly base: URL,
    readonly adminKey: string,
  ) {}

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readBody(request);
    switch (`${request.method} ${request.url?.split('?')[0]}`) {
      case 'GET /v1/auth/session':
        if (!request.headers.cookie?.includes(COOKIE))
          return send(response, 401, refusal('unauthorized', 'Nobody is signed in.'));
        return send(response, 200, await this.session());
      case 'POST /v1/auth/sign-in':
        if (request.headers['x-gateway-csrf'] !== '1')
          return send(response, 403, refusal('csrf', 'The header x-gateway-csrf is missing.'));
        if (body.password === 'wrong')
          return send(response, 401, refusal('invalid_credentials', 'The e-mail or the password is wrong.'));
        return send(response, 200, {}, `${COOKIE}; HttpOnly; SameSite=Lax; Path=/`);
      case 'POST /v1/auth/set-up':
        if (body.token !== 'set-up-token')
          return send(response, 401, refusal('invalid_token', 'The set-up link was used or has ended.'));
        return send(response, 200, {}, `${COOKIE}; HttpOnly; SameSite=Lax; Path=/`);
      case 'POST /v1/auth/sign-out':
        return send(response, 200, {}, 'fake-session=; Max-Age=0; Path=/');
      default:
        return send(response, 404, refusal('not_found', 'There is no such operation.'));
    }
  }

  private async session(): Promise<SignedIn> {
    const [me, organisation, workspaces] = await Promise.all([
      this.read<{ scopes: string[] }>('/v1/admin/me'),
      this.read<{ id: string; name: string }>('/v1/admin/organisation'),
      this.read<{ data: { id: string; slug: string; name: string }[] }>('/v1/admin/workspaces'),
    ]);
    // An admin key may not call models, but an owner may in each workspace.
    const scopes = [...me.scopes, 'completions.write', 'logs.write'];
    return {
      user: {
        id: '00000000-0000-7000-8000-000000000001',
        email: 'admin@acme.example',
        first_name: 'Ada',
        last_name: 'Admin',
        role: 'owner',
      },
      organisation: { id: organisation.id, name: organisation.name },
      workspaces: workspaces.data.map(({ id, slug, name }) => ({ id, slug, name, role: 'admin' })),
      scopes_by_role: { admin: scopes },
      scopes: me.scopes,
    };
  }

  private async read<Data>(path: string): Promise<Data> {
    const answer = await fetch(new URL(path, this.base), { headers: { 'x-gateway-api-key': this.adminKey } });
    return (await answer.json()) as Data;
  }
}

const refusal = (code: string, message: string): object => ({
  error: { code, message, type: 'fake', param: null, request_id: null },
});

async function readBody(request: IncomingMessage): Promise<Record<string, unknown>> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString();
  return text === '' ? {} : (JSON.parse(text) as Record<string, unknown>);
}

function send(response: ServerResponse, status: number, body: object, cookie?: string): void {
  response.writeHead(status, { 'content-type': 'application/json', ...(cookie && { 'set-cookie': cookie }) });
  response.end(JSON.stringify(body));
}

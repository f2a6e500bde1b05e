import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** What the first start wrote, as far as these tests read it. */
export interface Bootstrap {
  readonly setup_url: string;
  readonly admin_api_key: string;
  readonly workspace_api_key: string;
  readonly workspace_slug: string;
  readonly workspace_id: string;
}

export const readBootstrap = (folder: string): Bootstrap =>
  JSON.parse(readFileSync(join(folder, 'bootstrap.json'), 'utf8')) as Bootstrap;

export type Role = 'owner' | 'admin' | 'manager' | 'member';

export const PASSWORD = 'seven-lanterns-in-quiet-harbour';
export const emailOf = (role: Role): string => `${role}@acme.example`;

/** As a page of the dashboard sends it. */
const OWN = {
  'sec-fetch-site': 'same-origin',
  'x-gateway-csrf': '1',
  'content-type': 'application/json',
} as const;

export interface Cookie {
  readonly name: string;
  readonly value: string;
}

/** A request of the dashboard, with the cookie of a session or without. */
export const request = (
  base: URL,
  [method, path]: readonly [string, string],
  body?: object,
  cookie?: Cookie,
): Promise<Response> =>
  fetch(new URL(path, base), {
    method,
    headers: { ...OWN, ...(cookie && { cookie: `${cookie.name}=${cookie.value}` }) },
    ...(body && { body: JSON.stringify(body) }),
  });

async function sessionOf(answer: Response): Promise<Cookie> {
  const [pair = ''] = (answer.headers.get('set-cookie') ?? '').split(';');
  const at = pair.indexOf('=');
  if (at < 0) throw new Error(`Signing in failed with ${answer.status}: ${await answer.text()}`);
  return { name: pair.slice(0, at), value: pair.slice(at + 1) };
}

const trySignIn = (base: URL, role: Role): Promise<Response> =>
  request(base, ['POST', '/v1/auth/sign-in'], { email: emailOf(role), password: PASSWORD });

/** The owner by the set-up link of the first start, everyone else by an invite of the owner. */
async function introduce(base: URL, bootstrap: Bootstrap, role: Role): Promise<void> {
  if (role === 'owner') {
    const token = new URL(bootstrap.setup_url).hash.slice(1);
    const given = { token, email: emailOf(role), name: 'Olga Owner', password: PASSWORD };
    await sessionOf(await request(base, ['POST', '/v1/auth/set-up'], given));
    return;
  }
  const owner = await signedIn(base, bootstrap, 'owner');
  const invited = {
    email: emailOf(role),
    role: role === 'admin' ? 'admin' : 'member',
    workspaces: role === 'admin' ? [] : [{ id: bootstrap.workspace_slug, role }],
  };
  const invite = await request(base, ['POST', '/v1/admin/users/invites'], invited, owner);
  const { invite_link } = (await invite.json()) as { invite_link: string };
  const token = new URL(invite_link).hash.slice(1);
  const person = { token, first_name: 'Pat', last_name: role, password: PASSWORD };
  const accepted = await request(base, ['POST', '/v1/admin/invites/accept'], person);
  if (!accepted.ok) throw new Error(`The invite was not accepted: ${await accepted.text()}`);
}

/** A new session of the person with this role. Files of tests share the service, so the person may be there already. */
export async function signedIn(base: URL, bootstrap: Bootstrap, role: Role): Promise<Cookie> {
  const first = await trySignIn(base, role);
  if (first.ok) return sessionOf(first);
  await introduce(base, bootstrap, role);
  return sessionOf(await trySignIn(base, role));
}

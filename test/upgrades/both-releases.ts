import { expect } from 'vitest';
import { Administration } from '../support/administration.js';
import { type Answer, jsonOf } from '../support/http-client.js';
import type { Service } from '../support/service.js';
import { eventually } from '../support/waiting.js';
import { OWNER } from './fleet.js';

/** How soon a change reaches every process, milliseconds. */
const CHANGE_MS = 20_000;
const OWN_ORIGIN = { 'sec-fetch-site': 'same-origin', 'x-gateway-csrf': '1' };

const chat = (service: Service, key: string, headers: Readonly<Record<string, string>>): Promise<Answer> =>
  service.client.call({
    method: 'POST',
    path: '/v1/chat/completions',
    headers: { 'x-gateway-api-key': key, ...headers },
    body: {
      model: 'gpt-4o-mini',
      max_tokens: 1,
      user: 'changes/0',
      messages: [{ role: 'user', content: 'Hello' }],
    },
  });

const cookieOf = ({ rawHeaders }: Answer): string =>
  rawHeaders.find(([name]) => name.toLowerCase() === 'set-cookie')?.[1].split(';')[0] ?? '';

/** An instance serves requests before its administration has started. */
export async function untilAdministered(service: Service): Promise<void> {
  const administration = new Administration(service);
  await eventually(async () => (await administration.call('GET', '/v1/admin/me')).status === 200, {
    withinMs: 90_000,
    everyMs: 250,
    what: 'the administration',
  });
}

/** What the administration of one release writes is what the processes of another one use. */
export async function expectChangesToReach(from: Service, to: Service, virtualKey: string): Promise<void> {
  const administration = new Administration(from);
  const { id, key } = await administration.createKey('of one release', ['completions.write']);
  expect((await chat(to, key, { 'x-gateway-virtual-key': virtualKey })).status).toBe(200);

  const config = { virtual_key: virtualKey, retry: { attempts: 1 } };
  const created = await administration.ask('POST', '/v1/configs', {
    name: 'of one release',
    config,
    workspace_id: from.bootstrap.workspace_id,
  });
  const slug = (created.data as { slug: string }).slug;
  expect((await chat(to, key, { 'x-gateway-config': slug })).status).toBe(200);

  await administration.deleteKey(id);
  await eventually(
    async () => (await chat(to, key, { 'x-gateway-virtual-key': virtualKey })).status === 401,
    {
      withinMs: CHANGE_MS,
      what: 'the key to be refused by the other release',
    },
  );
}

/** A user who signs in to one release is signed in to the other, and a sign-out there ends it here. */
export async function expectSessionsToBeShared(from: Service, to: Service): Promise<void> {
  const signIn = await from.client.call({
    method: 'POST',
    path: '/v1/auth/sign-in',
    headers: OWN_ORIGIN,
    body: OWNER,
  });
  expect(signIn.status, signIn.body.toString()).toBe(200);
  const cookie = cookieOf(signIn);
  const session = (service: Service) =>
    service.client.call({ path: '/v1/auth/session', headers: { cookie } });
  for (const service of [from, to])
    expect(jsonOf(await session(service))).toMatchObject({ user: { role: 'owner' } });

  const signOut = await to.client.call({
    method: 'POST',
    path: '/v1/auth/sign-out',
    headers: { cookie, ...OWN_ORIGIN },
  });
  expect(signOut.status).toBe(200);
  await eventually(async () => (await session(from)).status === 401, {
    withinMs: CHANGE_MS,
    what: 'the end of the session at the other release',
  });
}

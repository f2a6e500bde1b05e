import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AdminApp, type Answer } from '../../support/admin-app.js';
import { aUserWithPassword, Browser } from '../../support/browser.js';
import { CHANGES, type Change } from './authority.table.js';

let app: AdminApp;
let account: { id: string; email: string; password: string };
beforeAll(async () => {
  app = await AdminApp.start();
  account = await aUserWithPassword(app);
  await app.dataSource.query("UPDATE users SET role = 'owner' WHERE id = $1", [account.id]);
});
afterAll(() => app.close());

/** A new session of the owner, because some operations end theirs, whose last authentication is this old. */
async function owner(minutesAgo: number): Promise<Browser> {
  const browser = new Browser(app);
  expect((await browser.signIn(account.email, account.password)).status).toBe(200);
  const { session } = await browser.me();
  await app.dataSource.query(
    "UPDATE sessions SET authenticated_at = now() - $2 * interval '1 minute' WHERE id = $1",
    [session.id, minutesAgo],
  );
  return browser;
}

async function send(browser: Browser, { operation }: Change, body?: object): Promise<Answer> {
  const [method = '', path = ''] = operation.split(' ');
  const url = path.replace(/\{\w+\}/g, () => randomUUID());
  return browser.call(method, url, body === undefined ? {} : { body });
}

const REFUSED = { status: 403, body: { error: { code: 'step_up_required' } } };
const codeOf = ({ body }: Answer): unknown => body?.error?.code;

const ofKind = (kind: 'always' | 'fields' | 'never') =>
  CHANGES.filter(({ stepUp }) => kindOf(stepUp) === kind).map((change) => ({
    ...change,
    title: change.operation,
  }));
const kindOf = (stepUp: Change['stepUp']): 'always' | 'fields' | 'never' =>
  stepUp === 'always' ? 'always' : 'not' in stepUp ? 'never' : 'fields';

describe('a session without a recent authentication', () => {
  it.each(ofKind('always'))('is refused until it steps up: $title', async (change) => {
    expect(await send(await owner(11), change)).toMatchObject(REFUSED);
    if (!change.operation.startsWith('GET'))
      expect((await app.audited()).at(-1)).toMatchObject({
        outcome: 'refused',
        error_code: 'step_up_required',
      });
    expect(codeOf(await send(await owner(9), change))).not.toBe('step_up_required');
  });

  it.each(ofKind('fields'))(
    'is refused when the body has one of the listed fields: $title',
    async (change) => {
      const [stale, fresh] = [await owner(11), await owner(9)];
      for (const field of change.stepUp as readonly string[]) {
        expect(await send(stale, change, { [field]: null }), field).toMatchObject(REFUSED);
        expect(codeOf(await send(fresh, change, { [field]: null })), field).not.toBe('step_up_required');
      }
      expect(codeOf(await send(stale, change, {}))).not.toBe('step_up_required');
    },
  );

  it.each(ofKind('never'))('may do without: $title', async (change) => {
    expect(codeOf(await send(await owner(11), change))).not.toBe('step_up_required');
  });
});

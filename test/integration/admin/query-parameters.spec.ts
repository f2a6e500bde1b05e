import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildAdministrationApi } from '../../../src/admin/openapi/document.js';
import { aUserWithPassword, Browser } from '../../support/browser.js';
import { AdminApp, type Answer } from '../../support/admin-app.js';

interface Parameter {
  readonly in: string;
  readonly name: string;
}

interface Reference {
  readonly $ref: string;
}

interface Operation {
  readonly method: string;
  readonly path: string;
  readonly parameters: readonly string[];
}

let app: AdminApp;
let workspaceKey: string;
let session: Browser;
let operations: readonly Operation[];

beforeAll(async () => {
  app = await AdminApp.start();
  workspaceKey = (await app.workspaceKey()).key;
  const { email, password } = await aUserWithPassword(app, { role: 'admin' });
  session = new Browser(app);
  await session.signIn(email, password);
  const { paths, components } = buildAdministrationApi(app.app, { withDeprecated: true });
  const shared = components?.parameters as Readonly<Record<string, Parameter>>;
  operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods as Record<string, { parameters?: (Parameter | Reference)[] }>).map(
      ([method, { parameters = [] }]) => ({
        method: method.toUpperCase(),
        path,
        parameters: parameters
          .map((each) => ('$ref' in each ? shared[each.$ref.split('/').at(-1) ?? ''] : each))
          .filter((each) => each?.in === 'query')
          .map((each) => each?.name ?? ''),
      }),
    ),
  );
});
afterAll(() => app.close());

/** A path of the operation; what it names does not exist. */
const addressOf = ({ path }: Operation): string =>
  path
    .replace('{provider}/{model}', 'openai/gpt-4o')
    .replace('{groupBy}', 'model')
    .replace('{field}', 'model')
    .replaceAll(/\{\w+\}/g, () => randomUUID());

/** As the caller that the operation is for: no scope of one kind of key opens all operations, and some are for sessions. */
async function call(operation: Operation, query: string): Promise<Answer> {
  const ask = (key: string) => app.call(operation.method, `${addressOf(operation)}?${query}`, { key });
  const answer = await ask(app.first.admin_api_key);
  if (answer.status !== 403) return answer;
  const asWorkspace = await ask(workspaceKey);
  return asWorkspace.status === 403
    ? session.call(operation.method, `${addressOf(operation)}?${query}`)
    : asWorkspace;
}

/** A browser comes here on its way to an identity provider and back: what is wrong is told on the page to which it is redirected. */
const REDIRECTS: ReadonlySet<string> = new Set([
  '/v1/auth/single-sign-on/callback/{provider}',
  '/v1/auth/single-sign-on/start',
]);

describe('a query parameter that an operation does not document', () => {
  it.each(['GET', 'POST', 'PUT', 'DELETE'])('is refused and named by every %s operation', async (method) => {
    const of = operations.filter((each) => each.method === method && !REDIRECTS.has(each.path));
    expect(of.length).toBeGreaterThan(15);
    const wrong: string[] = [];
    for (const operation of of) {
      const { status, text } = await call(operation, 'surely_unknown=1');
      if (status !== 400 || !text.includes('There is no parameter \\"surely_unknown\\"'))
        wrong.push(`${method} ${operation.path}: ${status} ${text.slice(0, 200)}`);
    }
    expect(wrong).toEqual([]);
  });

  it('is refused only after the key and its scope are checked', async () => {
    const url = '/v1/admin/users?surely_unknown=1';
    expect((await app.call('GET', url, { key: 'unknown' })).status).toBe(401);
    expect((await app.call('GET', url, { key: workspaceKey })).status).toBe(403);
  });

  it('names what the operation accepts instead', async () => {
    const { body } = await app.call('GET', '/v1/configs?workspace=ws-default');
    expect(body.error.message).toBe(
      'There is no parameter "workspace" here (did you mean "workspace_id"?). This operation accepts: ' +
        'currentPage, current_page, pageSize, page_size, workspace_id.',
    );
  });

  it('does not turn a misspelled dry run into a change', async () => {
    const body = { name: 'never-saved', config: { provider: 'openai' } };
    const answer = await app.call('POST', '/v1/configs?dryrun=true', { body });
    expect(answer.status).toBe(400);
    expect((await app.call('GET', '/v1/configs')).text).not.toContain('never-saved');
  });
});

describe('a query parameter that an operation documents', () => {
  it('is never refused as unknown', async () => {
    const wrong: string[] = [];
    // The stream of requests would not end, and the graphs share their parameters.
    const oneOfEach = new Map(
      operations
        .filter(({ path }) => path !== '/v1/logs/stream')
        .map((each) => [each.parameters.join(), each]),
    );
    for (const operation of oneOfEach.values())
      for (const name of operation.parameters) {
        const { text } = await call(operation, `${encodeURIComponent(name)}=1`);
        if (text.includes('There is no parameter')) wrong.push(`${operation.path} ${name}`);
      }
    expect(operations.flatMap(({ parameters }) => parameters).length).toBeGreaterThan(100);
    expect(wrong).toEqual([]);
  });
});

/** What version 3.1 of the npm package portkey-ai can put into a query, by its published types. */
const SENT_BY_THE_SDK: readonly (readonly [path: string, query: string])[] = [
  ['/v1/admin/users', 'pageSize=10&currentPage=0&email=a%40example.com&role=admin'],
  ['/v1/admin/users/invites', 'pageSize=10&currentPage=0&email=a%40example.com&role=admin&status=pending'],
  ['/v1/admin/workspaces', 'page_size=10&current_page=0&name=a&exact_name=a'],
  ['/v1/admin/workspaces/{ws}/users', 'workspaceId={ws}&page_size=10&current_page=0&role=manager'],
  ['/v1/api-keys', 'page_size=10&current_page=0&workspace_id={ws}'],
  ['/v1/virtual-keys', 'workspace_id={ws}'],
  ['/v1/configs', 'workspace_id={ws}'],
  ['/v1/logs/exports', 'workspace_id={ws}'],
  ['/v1/integrations', 'workspace_id={ws}&current_page=0&page_size=10&type=all'],
  ['/v1/providers', 'current_page=0&page_size=10&workspace_id={ws}'],
  ['/v1/guardrails', 'workspace_id={ws}&organisation_id={org}&page_size=10&current_page=0'],
  ['/v1/analytics/graphs/requests', '{range}&page_size=10&virtual_keys=a'],
  ['/v1/analytics/groups/model', '{range}&columns=cost&include_total=true&current_page=0&page_size=10'],
];

describe('a list that the compatible SDK reads', () => {
  it.each(SENT_BY_THE_SDK)('%s takes %s', async (path, query) => {
    const filled = (text: string): string =>
      text
        .replaceAll('{ws}', app.first.workspace_id)
        .replaceAll('{org}', app.first.organisation_id)
        .replace(
          '{range}',
          'time_of_generation_min=2030-01-01T00:00:00Z&time_of_generation_max=2030-01-02T00:00:00Z',
        );
    const answer = await app.call('GET', `${filled(path)}?${filled(query)}`);
    expect(answer.status, answer.text).toBe(200);
  });

  it.each([
    ['/v1/guardrails', `organisation_id=${randomUUID()}`, 404],
    ['/v1/admin/workspaces/{ws}/users', `workspaceId=${randomUUID()}`, 400],
  ])('%s refuses %s, which names something else', async (path, query, status) => {
    const url = `${path.replace('{ws}', app.first.workspace_id)}?${query}`;
    expect((await app.call('GET', url)).status).toBe(status);
  });
});

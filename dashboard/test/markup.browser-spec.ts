import { createServer, type Server } from 'node:http';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { listenOnOneOf } from '../../test/support/upstreams/listen.js';
import { openStage, type Stage } from './stage';
import { PASSWORD, request } from './team';

/** Runs as a script wherever a text is taken for markup, and leaves an element behind even where the policy stops it. */
const MARKUP = `"'><img class="planted" src="x" onerror="globalThis.planted=1"><script>globalThis.planted=1</script>`;
const LINK = 'javascript:globalThis.planted=1';

let stage: Stage;
let upstream: Server;
let port: number;
let answer = { type: '', body: '', status: 200 };
beforeAll(async () => {
  stage = await openStage();
  upstream = createServer((received, response) => {
    received.resume();
    received.on('end', () =>
      response.writeHead(answer.status, { 'content-type': answer.type }).end(answer.body),
    );
  });
  port = await listenOnOneOf(upstream, stage.egressPorts);
});
afterEach(() => stage.clear());
afterAll(async () => {
  await stage.close();
  upstream.close();
});

const call = async (method: string, path: string, body?: object): Promise<Record<string, string>> => {
  const answered = await request(stage.base, [method, path], body, stage.cookieOf('owner'));
  const text = await answered.text();
  if (!answered.ok) throw new Error(`${method} ${path}: ${answered.status} ${text}`);
  return text === '' ? {} : (JSON.parse(text) as Record<string, string>);
};

/** The page shows the text itself; nothing of it became an element, ran, or was stopped by the policy. */
async function expectText(page: Page, problems: readonly string[], isShown = true): Promise<void> {
  if (isShown) await page.getByText('class="planted"').first().waitFor();
  await page.waitForLoadState('networkidle');
  expect(await page.locator('.planted, [href^="javascript:"], [src^="javascript:"]').count()).toBe(0);
  expect(await page.evaluate(() => 'planted' in globalThis)).toBe(false);
  expect(problems).toEqual([]);
}

describe('markup in a name', () => {
  const config = 'pc-markup';
  const undo: (() => Promise<unknown>)[] = [];
  beforeAll(async () => {
    const workspace_id = stage.bootstrap.workspace_slug;
    const shared = { name: MARKUP, workspace_id };
    const { name: organisation = '' } = await call('GET', '/v1/admin/organisation');
    await call('PUT', '/v1/admin/organisation', { name: MARKUP });
    const workspace = await call('GET', `/v1/admin/workspaces/${workspace_id}`);
    await call('PUT', `/v1/admin/workspaces/${workspace_id}`, { name: MARKUP, description: MARKUP });
    undo.push(
      () => call('PUT', '/v1/admin/organisation', { name: organisation }),
      () => call('PUT', `/v1/admin/workspaces/${workspace_id}`, { name: workspace.name, description: '' }),
    );
    const key = await call('POST', '/v1/api-keys/workspace/service', {
      ...shared,
      description: MARKUP,
      scopes: ['completions.write'],
      usage_limits: [{ credit_limit: 5 }],
    });
    await call('POST', '/v1/virtual-keys', {
      ...shared,
      slug: 'markup',
      note: MARKUP,
      provider: 'openai',
      key: 'unused',
      usage_limits: [{ credit_limit: 5 }],
    });
    await call('POST', '/v1/configs', {
      ...shared,
      slug: config,
      config: {
        strategy: {
          mode: 'conditional',
          conditions: [{ query: { 'metadata.plan': { $eq: MARKUP } }, then: MARKUP }],
          default: MARKUP,
        },
        targets: [{ name: MARKUP, virtual_key: 'markup', override_params: { model: MARKUP } }],
      },
    });
    await call('POST', '/v1/logs/views', { ...shared, filter: 'status:min:400', is_shared: true });
    const provider = await call('POST', '/v1/admin/organisation/identity-providers', {
      ...{
        name: MARKUP,
        issuer: 'https://id.acme.example',
        client_id: MARKUP,
        client_secret: 'a-secret-of-theirs',
      },
      domains: ['markup.example'],
    });
    undo.push(
      () => call('DELETE', `/v1/admin/organisation/identity-providers/${provider.id}`),
      () => call('DELETE', `/v1/virtual-keys/markup`),
      () => call('DELETE', `/v1/configs/${config}`),
      () => call('DELETE', `/v1/api-keys/${key.id}`),
    );
    const { invite_link = '' } = await call('POST', '/v1/admin/users/invites', {
      email: `markup-${Date.now()}@acme.example`,
      role: 'member',
      workspaces: [{ id: workspace_id, role: 'member' }],
    });
    const token = new URL(invite_link).hash.slice(1);
    await call('POST', '/v1/admin/invites/accept', {
      ...{ token, first_name: MARKUP, last_name: MARKUP, password: PASSWORD },
    });
  });
  afterAll(async () => {
    for (const step of undo.reverse()) await step();
  });

  it.each([
    '/ui/w/:w/overview',
    '/ui/w/:w/logs',
    '/ui/w/:w/api-keys',
    '/ui/w/:w/api-keys?create=on',
    '/ui/w/:w/virtual-keys',
    '/ui/w/:w/limits',
    '/ui/w/:w/configs',
    '/ui/w/:w/configs/:config',
    '/ui/w/:w/configs/:config?tab=versions',
    '/ui/w/:w/members',
    '/ui/w/:w/audit-log',
    '/ui/org/people',
    '/ui/org/sign-in',
  ])('is shown as text at %s', async (path) => {
    const { page, problems } = await stage.start(path.replace(':config', config));
    await expectText(page, problems);
  });

  it('is shown as text in the menu of saved views', async () => {
    const { page, problems } = await stage.start('/ui/w/:w/logs');
    await page.getByRole('button', { name: 'Saved views' }).click();
    await expectText(page, problems);
  });

  it('is shown as text on the sign-in page', async () => {
    const { page, problems } = await stage.start('/ui/sign-in', { as: null });
    await page.getByLabel('E-mail').fill('somebody@markup.example');
    await expectText(page, problems);
  });
});

const TABS = ['messages', 'raw', 'route', 'cost', 'guardrails', 'feedback', 'trace'] as const;
const said = (message: object, more: object = {}): string =>
  JSON.stringify({
    id: MARKUP,
    object: 'chat.completion',
    model: MARKUP,
    choices: [{ index: 0, message, ...more }],
  });

describe.each([
  ['a text', 'application/json', said({ role: 'assistant', content: MARKUP })],
  [
    'reasoning and a tool call',
    'application/json',
    said({
      role: MARKUP,
      reasoning_content: MARKUP,
      refusal: MARKUP,
      tool_calls: [{ id: MARKUP, type: 'function', function: { name: MARKUP, arguments: MARKUP } }],
    }),
  ],
  [
    'an image',
    'application/json',
    said({ role: 'assistant', images: [{ image_url: { url: LINK } }], content: MARKUP }),
  ],
  ['a page', 'text/html', `<!doctype html>${MARKUP}`],
  [
    'a drawing',
    'image/svg+xml',
    `<svg xmlns="http://www.w3.org/2000/svg" onload="globalThis.planted=1">${MARKUP}</svg>`,
  ],
  [
    'a stream',
    'text/event-stream',
    `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: MARKUP } }] })}\n\ndata: [DONE]\n\n`,
  ],
  [
    'an error',
    'application/json',
    JSON.stringify({ error: { message: MARKUP, code: MARKUP, type: MARKUP } }),
  ],
])('a body with %s', (name, type, body) => {
  it('that is markup is shown as text in every tab', async () => {
    answer = { type, body, status: name === 'an error' ? 400 : 200 };
    const sent = await fetch(new URL('/v1/chat/completions', stage.base), {
      method: 'POST',
      headers: {
        'x-gateway-api-key': stage.bootstrap.workspace_api_key,
        'x-gateway-provider': 'openai',
        'x-gateway-custom-host': `http://127.0.0.1:${port}/v1`,
        'x-gateway-metadata': JSON.stringify({ _user: MARKUP, plan: MARKUP }),
        'x-gateway-trace-id': '<img class="planted" src="x">',
        authorization: 'Bearer unused',
        'content-type': 'application/json',
      },
      body: JSON.stringify({
        model: MARKUP,
        user: MARKUP,
        messages: [
          { role: 'system', name: MARKUP, content: MARKUP },
          {
            role: 'user',
            content: [
              { type: 'text', text: MARKUP },
              { type: 'image_url', image_url: { url: LINK } },
            ],
          },
          { role: 'tool', tool_call_id: MARKUP, content: MARKUP },
        ],
        tools: [
          {
            type: 'function',
            function: { name: MARKUP, description: MARKUP, parameters: { [MARKUP]: MARKUP } },
          },
        ],
      }),
    });
    await sent.arrayBuffer();
    // A request that the gateway refuses has no bodies, and its tabs would show nothing.
    expect(sent.status).toBe(answer.status);
    const id = sent.headers.get('x-gateway-request-id') ?? '';
    await expect
      .poll(
        async () =>
          (await request(stage.base, ['GET', `/v1/logs/${id}`], undefined, stage.cookieOf('owner'))).status,
      )
      .toBe(200);

    const { page, problems } = await stage.start(null);
    for (const tab of TABS) {
      await page.goto(`${stage.origin}/ui/w/${stage.bootstrap.workspace_slug}/logs/${id}?tab=${tab}`);
      await page.getByRole('tabpanel').waitFor();
      await expectText(page, problems, tab === 'messages' || tab === 'raw');
    }
  });
});

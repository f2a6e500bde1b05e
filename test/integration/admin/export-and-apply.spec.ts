import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type AdministrationClient,
  AdministrationRefusal,
} from '../../../src/cli/config-as-code/administration-client.js';
import { make } from '../../../src/cli/config-as-code/apply-command.js';
import { exportDocument } from '../../../src/cli/config-as-code/export-command.js';
import { planChanges } from '../../../src/cli/config-as-code/plan-changes.js';
import { readDocument } from '../../../src/cli/config-as-code/read-document.js';
import { AdminApp } from '../../support/admin-app.js';
import { Started } from '../../support/started.js';

const started = new Started();
let rich: AdminApp;
let empty: AdminApp;

beforeAll(async () => {
  rich = started.add(await AdminApp.start(), (it) => it.close());
  empty = started.add(await AdminApp.start(), (it) => it.close());
});
afterAll(() => started.end());

/** The client of the commands, over the administration of a test. */
function clientOf(app: AdminApp): AdministrationClient {
  const client: Pick<AdministrationClient, 'send' | 'all'> = {
    send: async (method, path, body, ifMatch) => {
      const headers = ifMatch === undefined ? {} : { headers: { 'if-match': ifMatch } };
      const answer = await app.call(method, path, { body, ...headers });
      if (answer.status >= 400) throw new AdministrationRefusal(answer.status, answer.text);
      return answer.body;
    },
    all: async (path) =>
      (await app.call('GET', `${path}${path.includes('?') ? '&' : '?'}page_size=100`)).body.data,
  };
  return client as AdministrationClient;
}

async function apply(app: AdminApp, text: string): Promise<number> {
  const read = readDocument(text, 'file.yaml');
  const changes = await planChanges(clientOf(app), read, async () => 'a secret of the environment');
  await make(clientOf(app), changes, () => undefined);
  return changes.length;
}

async function ask(method: string, path: string, body: object): Promise<void> {
  const { status, text } = await rich.call(method, path, { body });
  expect([path, status, text]).toEqual([path, 200, text]);
}

const CHECKS = [{ id: 'default.contains', parameters: { operator: 'none', words: ['Apollo'] } }];
const POLICY = {
  workspace_id: 'ws-default',
  conditions: [{ key: 'model', value: 'gpt-4o' }],
  group_by: [{ key: 'api_key' }],
};
const TOKENS = {
  issuers: ['https://id.example.com/'],
  audiences: ['gatehouse'],
  jwks_uri: 'https://id.example.com/keys',
  max_lifetime_seconds: 600,
};

/** One of everything that `apply` makes. */
async function enrich(): Promise<void> {
  const { organisation_id } = rich.first;
  await ask('POST', '/v1/admin/workspaces', { name: 'Research', description: 'Experiments' });
  await ask('POST', '/v1/guardrails', {
    slug: 'no-names',
    name: 'No names',
    checks: CHECKS,
    organisation_id,
  });
  await ask('POST', '/v1/guardrails', {
    slug: 'in-default',
    name: 'In one workspace',
    checks: CHECKS,
    actions: { deny: true },
    workspace_id: 'ws-default',
  });
  await ask('PUT', '/v1/admin/organisation', { input_guardrails: ['no-names'], log_retention_days: 20 });
  await ask('POST', '/v1/integrations', {
    slug: 'company',
    name: 'Company',
    description: 'Of all',
    ai_provider_id: 'openai',
    key: 'sk-of-the-company',
  });
  await ask('PUT', '/v1/integrations/company/workspaces', { global_workspace_access: { enabled: true } });
  await ask('POST', '/v1/providers', {
    slug: 'company-default',
    name: 'Ours',
    integration_id: 'company',
    workspace_id: 'ws-default',
  });
  await ask('PUT', '/v1/model-configs/pricing/openai/gpt-4o%2Fours', {
    pay_as_you_go: { request_token: { price: 0.0001 }, response_token: { price: 0.0002 } },
  });
  await ask('POST', '/v1/policies/usage-limits', {
    ...POLICY,
    name: 'Budget',
    credit_limit: 5,
    type: 'cost',
  });
  await ask('POST', '/v1/policies/rate-limits', {
    ...POLICY,
    name: 'Rate',
    type: 'requests',
    unit: 'rpm',
    value: 60,
  });
  await ask('POST', '/v1/audit-logs/destinations', {
    name: 'Archive',
    url: 'https://audit.example.com/in',
    secret: 'whsec_0123456789abcdef0123456789abcdef',
    enabled: false,
  });
  await ask('POST', '/v1/virtual-keys', {
    slug: 'openai-prod',
    name: 'OpenAI',
    provider: 'openai',
    key: 'sk-of-openai',
    workspace_id: 'ws-default',
  });
  await ask('POST', '/v1/configs', {
    slug: 'pc-main',
    name: 'Main',
    workspace_id: 'ws-default',
    config: { virtual_key: 'openai-prod', input_guardrails: ['in-default'] },
  });
  await ask('PUT', '/v1/admin/organisation/jwt', TOKENS);
  await ask('POST', '/v1/admin/users/invites', {
    email: 'ada@example.com',
    role: 'member',
    workspaces: [{ id: 'ws-default', role: 'manager' }],
  });
}

/** API keys are shown to whom they are made for, so the file describes only those that are there. */
const withoutApiKeys = (text: string): string => text.replace(/^api_keys:\n(?:[ -].*\n?)*/m, '');

describe('gatehouse export', () => {
  it('of an organization that has everything makes another one equal to it, and holds no secret', async () => {
    await enrich();
    const { text, notice } = await exportDocument(clientOf(rich));
    const file = withoutApiKeys(text);
    expect(await apply(empty, file)).toBeGreaterThan(10);
    expect(withoutApiKeys((await exportDocument(clientOf(empty))).text)).toBe(file);
    for (const section of ['guardrails', 'integrations', 'providers', 'model_prices', 'usage_policies'])
      expect(file).toMatch(new RegExp(`^${section}:`, 'm'));
    for (const section of ['users', 'rate_policies', 'audit_destinations', 'signed_tokens'])
      expect(file).toMatch(new RegExp(`^${section}:`, 'm'));
    expect(text).not.toMatch(/sk-of|whsec/);
    expect(notice).toMatch(/^# Not in this file:/);
  });

  it('of an organization applies to that organization without a change', async () => {
    expect(await apply(rich, (await exportDocument(clientOf(rich))).text)).toBe(0);
  });
});

describe('gatehouse apply', () => {
  it('changes what differs in each section, the signed tokens under the condition of what it compared', async () => {
    const { text } = await exportDocument(clientOf(rich));
    const changed = text
      .replace('credit_limit: 5', 'credit_limit: 7')
      .replace('value: 60', 'value: 90')
      .replace('name: No names', 'name: No names at all')
      .replace('max_lifetime_seconds: 600', 'max_lifetime_seconds: 900');
    expect(await apply(rich, changed)).toBe(4);
    expect((await exportDocument(clientOf(rich))).text).toBe(changed);
  });

  it('refuses what cannot change and what has a mask for a secret, and changes nothing', async () => {
    const text = [
      'integrations: [{ slug: company, name: Company, provider: anthropic }]',
      'guardrails: [{ slug: hook, name: Hook, workspace: ws-default, checks: [{ parameters: { token: "***" } }] }]',
    ].join('\n');
    await expect(apply(rich, text)).rejects.toThrow(
      /file\.yaml:1: integrations\[0\]\.provider cannot change/,
    );
    await expect(apply(rich, text)).rejects.toThrow(/file\.yaml:2: guardrails\[0\]\.checks has "\*\*\*"/);
  });
});

describe('a second set-up of signed tokens', () => {
  const path = '/v1/admin/organisation/jwt';
  const other = { ...TOKENS, issuers: ['https://other.example.com/'] };

  it('is refused without If-Match, with what it would replace and the tag to send', async () => {
    const { status, body } = await rich.call('PUT', path, { body: other });
    const { headers } = await rich.call('GET', path);
    expect([status, body.error.code]).toEqual([428, 'precondition_required']);
    expect(body.error.message).toContain('tokens of https://id.example.com/ for gatehouse');
    expect(body.error.message).toContain(String(headers['etag']));
  });

  it('replaces the first with its tag, and is refused with another', async () => {
    const etag = String((await rich.call('GET', path)).headers['etag']);
    const wrong = await rich.call('PUT', path, { body: other, headers: { 'if-match': '"other"' } });
    expect([wrong.status, wrong.body.error.code]).toEqual([412, 'precondition_failed']);
    const right = await rich.call('PUT', path, { body: other, headers: { 'if-match': etag } });
    expect([right.status, right.body.issuers]).toEqual([200, other.issuers]);
  });

  it('that equals the first needs no condition', async () => {
    expect((await rich.call('PUT', path, { body: other })).status).toBe(200);
  });
});

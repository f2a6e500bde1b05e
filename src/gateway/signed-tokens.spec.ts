import { afterEach, describe, expect, it } from 'vitest';
import { aCaller, aGateway, type GatewayWishes, type TestGateway } from '../../test/support/gateway.js';
import { mintApiKey } from '../common/crypto/api-key-format.js';

const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const jwt = (claims: object): string => `${part({ alg: 'RS256' })}.${part(claims)}.c2lnbmF0dXJl`;
const OURS = jwt({ organisation_id: 'ours' });
const THEIRS = jwt({ aud: 'https://cognitiveservices.azure.com' });
const caller = aCaller({ kind: 'workspace_token', apiKeyId: null });
const tokens = {
  find: (token: string) => (token === OURS ? { principal: caller, expiresAt: null } : null),
  isOurs: (token: string) => token === OURS,
};
const NO_KEY = { 'x-gateway-api-key': '' };

let gateway: TestGateway;
const given = async (wishes: GatewayWishes = {}): Promise<TestGateway> =>
  (gateway = await aGateway({ tokens, caller, answers: [{ chunks: ['{}'] }], ...wishes }));
afterEach(() => gateway.close());

/** The upstream headers, as one text. */
const sent = (calls: TestGateway['calls']): string => (calls[0]?.headers ?? []).join('\n');

describe('a signed token on the data plane', () => {
  it('authenticates like a key, and the record names no key', async () => {
    const { request, calls, logged } = await given();

    const answer = await request('/v1/files', {
      headers: { 'x-gateway-api-key': OURS, 'x-gateway-virtual-key': 'openai-prod' },
    });

    expect(answer.status).toBe(200);
    expect(sent(calls)).not.toContain(OURS);
    expect(await logged()).toMatchObject({ api_key_id: null, workspace_id: caller.workspaceId });
    expect(JSON.stringify(await logged())).not.toContain(OURS);
  });

  it.each(['anthropic', 'google', 'openai'])('is never sent to %s in place of its key', async (provider) => {
    const { request, calls } = await given();

    await request('/v1/files', {
      headers: {
        'x-gateway-api-key': OURS,
        'x-gateway-provider': provider,
        'x-other': OURS,
        'x-api-key': OURS,
      },
    });

    expect(sent(calls)).not.toContain(OURS);
  });

  it("leaves a provider's own token to the provider, beside a key and beside a token", async () => {
    for (const key of [undefined, OURS]) {
      const { request, calls } = await given();
      const own: Record<string, string> = key === undefined ? {} : { 'x-gateway-api-key': key };
      const answer = await request('/v1/files', {
        headers: { ...own, 'x-gateway-provider': 'openai', authorization: `Bearer ${THEIRS}` },
      });

      expect(answer.status).toBe(200);
      expect(sent(calls)).toContain(`Bearer ${THEIRS}`);
      await gateway.close();
    }
    await given();
  });

  it('together with a key is refused as ambiguous', async () => {
    const { request, key, calls } = await given();
    const another = mintApiKey('ws').reveal();
    const both: Record<string, string>[] = [
      { 'x-gateway-api-key': key, authorization: `Bearer ${OURS}` },
      { 'x-gateway-api-key': OURS, authorization: `Bearer ${key}` },
      { 'x-gateway-api-key': OURS, 'x-api-key': another },
      { 'x-gateway-api-key': key, 'x-portkey-api-key': OURS },
    ];
    for (const headers of both) {
      const answer = await request('/v1/files', { headers: { ...headers, 'x-gateway-provider': 'openai' } });
      expect(answer.status).toBe(400);
      expect(await answer.json()).toMatchObject({ error: { code: 'ambiguous_credentials' } });
    }
    expect(calls).toHaveLength(0);
  });

  it('that is not trusted gets the response of an unknown key', async () => {
    const { request } = await given();
    const body = async (credential: string) => {
      const answer = await request('/v1/files', { headers: { ...NO_KEY, 'x-gateway-api-key': credential } });
      const { error } = (await answer.json()) as { error: { request_id: string } };
      return { status: answer.status, error: { ...error, request_id: '' } };
    };

    expect(await body(THEIRS)).toEqual(await body('nonsense'));
  });

  it('of a user who reaches every workspace calls no model', async () => {
    const everywhere = aCaller({ kind: 'person', apiKeyId: null, workspaceId: null });
    const { chat, calls } = await given({ caller: everywhere });

    const answer = await chat({ model: 'gpt-4o-mini', messages: [] });

    expect(answer.status).toBe(403);
    expect(await answer.text()).toContain('the token must name one');
    expect(calls).toHaveLength(0);
  });
});

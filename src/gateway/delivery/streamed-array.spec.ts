import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { aCaller, aGateway, type GatewayWishes, type TestGateway } from '../../../test/support/gateway.js';
import { aBudget } from '../../../test/support/limits.js';
import { JsonObjects } from '../framing/index.js';

const part = (text: string) => ({ candidates: [{ content: { parts: [{ text }] } }] });
const usageMetadata = { promptTokenCount: 100, candidatesTokenCount: 10 };
const FIRST = `[${JSON.stringify(part('a "}]" b'))}\n`;
const LAST = `,\r\n${JSON.stringify({ ...part('end'), usageMetadata })}\n]`;
const JSON_TYPE = { 'content-type': 'application/json; charset=UTF-8' };
const BODY = { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] };

let gateway: TestGateway;
const given = async (wishes: GatewayWishes): Promise<TestGateway> =>
  (gateway = await aGateway({ virtualKeys: { gemini: 'google', other: 'google' }, ...wishes }));
afterEach(() => gateway.close());

const ask = (
  headers: Readonly<Record<string, string>> = { 'x-gateway-virtual-key': 'gemini' },
): Promise<Response> =>
  gateway.request('/v1/v1beta/models/gpt-4o-mini:streamGenerateContent', {
    method: 'POST',
    headers: { ...JSON_TYPE, ...headers },
    body: JSON.stringify(BODY),
  });

describe('a stream that is a JSON array', () => {
  it('is metered as it passes, and reaches the client byte for byte', async () => {
    const { logs } = await given({
      answers: [{ headers: JSON_TYPE, chunks: [FIRST, LAST.slice(0, 9), LAST.slice(9), '\n'] }],
    });

    expect(await (await ask()).text()).toBe(`${FIRST}${LAST}\n`);

    expect(logs[0]?.record).toMatchObject({
      streamed: true,
      ending: 'completed',
      usage: { input_tokens: 100, output_tokens: 10 },
      usage_source: 'provider',
      cost_nano_usd: 100 * 150 + 10 * 600,
    });
    expect(logs[0]?.record.first_token_ms).not.toBeNull();
  });

  it('gives its first element before the last has come', async () => {
    const { logs } = await given({
      answers: [{ headers: JSON_TYPE, chunks: [FIRST], isEndless: true, until: () => true }],
    });
    const reader = (await ask()).body?.getReader();

    const { value } = (await reader?.read()) ?? {};

    expect([Buffer.from(value ?? []).toString(), logs.length]).toEqual([FIRST, 0]);
    await reader?.cancel();
    await expect
      .poll(() => logs[0]?.record)
      .toMatchObject({ ending: 'client_aborted', countable: { output: 'a "}]" b' } });
  });

  it('is metered in gzip, too', async () => {
    const headers = { ...JSON_TYPE, 'content-encoding': 'gzip' };
    const { logs } = await given({ answers: [{ headers, chunks: [gzipSync(FIRST + LAST)] }] });

    expect(await (await ask()).text()).toBe(FIRST + LAST);

    expect(logs[0]?.record).toMatchObject({ usage: { input_tokens: 100, output_tokens: 10 } });
  });

  it('spends its budget', async () => {
    const limits = { limits: [aBudget(400 + 65_536, { type: 'tokens' })], policies: [] };
    await given({
      caller: aCaller({ limits }),
      settings: { GATEHOUSE_OUTPUT_TOKENS_CEILING: '65000' },
      answers: [{ headers: JSON_TYPE, chunks: [FIRST, LAST] }],
    });
    const statuses: number[] = [];
    for (let turn = 0; turn < 10; turn++) {
      const answer = await ask();
      await answer.arrayBuffer();
      statuses.push(answer.status);
    }

    expect(statuses).toContain(402);
    expect(statuses.filter((status) => status === 200).length).toBeGreaterThan(4);
  });

  it('that begins with an error is a failure: a fallback moves on, and nothing is charged', async () => {
    const error = '[{\n"error": {"code": 500, "message": "no", "status": "INTERNAL"}\n}\n]';
    const { logs, calls } = await given({
      answers: [
        { headers: JSON_TYPE, chunks: [error] },
        { headers: JSON_TYPE, chunks: [FIRST, LAST] },
      ],
    });
    const targets = [{ virtual_key: 'gemini' }, { virtual_key: 'other' }];
    const config = JSON.stringify({ strategy: { mode: 'fallback' }, targets });

    const answer = await ask({ 'x-gateway-config': config });

    expect(await answer.text()).toBe(FIRST + LAST);
    expect(calls).toHaveLength(2);
    expect(logs[0]?.record.attempts).toMatchObject([{ usage: null }, { usage: { output_tokens: 10 } }]);
  });

  it('that ends with an error is distinguished from one that ends well', async () => {
    const { logs } = await given({
      answers: [{ headers: JSON_TYPE, chunks: [FIRST, ',{"error":{"code":500}}]'] }],
    });

    await (await ask()).text();

    expect(logs[0]?.record).toMatchObject({ ending: 'upstream_truncated', error_code: 'upstream_error' });
  });
});

describe('JsonObjects', () => {
  it('finds the same objects however the array is cut', () => {
    const values = [part('a "}]" b \\ {'), { a: { b: [{ c: 'ü' }] } }, {}];
    const whole = Buffer.from(JSON.stringify(values, null, 1));
    for (let size = 1; size < whole.length; size++) {
      const found: unknown[] = [];
      const objects = new JsonObjects((json) => found.push(JSON.parse(json)));
      for (let at = 0; at < whole.length; at += size) {
        expect(objects.hasEnded).toBe(false);
        objects.feed(whole.subarray(at, at + size));
      }
      expect([found, objects.hasEnded]).toEqual([values, true]);
    }
  });
});

describe("a refusal of Google's stream", () => {
  const GOOGLES = { error: { code: 429, message: 'Quota exceeded', status: 'RESOURCE_EXHAUSTED' } };

  it.each(
    [400, 401, 429, 500, 503].flatMap((status) => [
      { status, query: '?alt=sse', body: JSON.stringify(GOOGLES) },
      { status, query: '', body: JSON.stringify([GOOGLES]) },
    ]),
  )('is logged as a complete response with its status: $status $query', async ({ status, query, body }) => {
    const { logs, request } = await given({ answers: [{ status, headers: JSON_TYPE, chunks: [body] }] });

    const answer = await request(`/v1/v1beta/models/gpt-4o-mini:streamGenerateContent${query}`, {
      method: 'POST',
      headers: { ...JSON_TYPE, 'x-gateway-virtual-key': 'gemini' },
      body: JSON.stringify(BODY),
    });

    expect([answer.status, await answer.text()]).toEqual([status, body]);
    expect(logs[0]?.record).toMatchObject({
      ending: 'completed',
      status,
      error_code: null,
      error_source: 'provider',
      first_token_ms: null,
    });
  });
});

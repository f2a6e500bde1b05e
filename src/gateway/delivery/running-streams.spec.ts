import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { aGateway, type TestGateway } from '../../../test/support/gateway.js';
import { AppError } from '../../common/errors/app-error.js';

const CHECKED_MS = 5_000;
const ASKED = { model: 'gpt-4o-mini', stream: true, messages: [{ role: 'user', content: 'Hi' }] };
const EVENT_STREAM = { 'content-type': 'text/event-stream' };
const OPENAI = `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: 'Hel' } }] })}\n\n`;
const GOOGLE = `data: ${JSON.stringify({ candidates: [{ content: { parts: [{ text: 'Hel' }] } }] })}\n\n`;
const ANTHROPIC =
  'event: message_start\ndata: {"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"c","content":[],"usage":{"input_tokens":3,"output_tokens":1}}}\n\n' +
  'event: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}\n\n' +
  'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hel"}}\n\n';

describe('a running stream of a key that was revoked', () => {
  let gateway: TestGateway;
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  });
  afterEach(async () => {
    vi.useRealTimers();
    await gateway.close();
  });

  const begin = async (chunk: string, path: string, slug: string) => {
    gateway = await aGateway({
      virtualKeys: { claude: 'anthropic', goo: 'google' },
      answers: [{ headers: EVENT_STREAM, chunks: [chunk], isEndless: true }],
    });
    const answer = await gateway.request(path, {
      method: 'POST',
      body: JSON.stringify({ ...ASKED, max_tokens: 9, contents: [{ parts: [{ text: 'Hi' }] }] }),
      headers: { 'content-type': 'application/json', 'x-gateway-virtual-key': slug },
    });
    const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
    if (!reader) throw new Error('There is no body.');
    return { reader, first: (await reader.read()).value ?? '' };
  };
  const rest = async (reader: ReadableStreamDefaultReader<string>) => {
    let text = '';
    for (let part = await reader.read(); !part.done; part = await reader.read()) text += part.value;
    return text;
  };
  const revoked = (outcome?: Error) => {
    gateway.revoke(outcome);
    vi.advanceTimersByTime(CHECKED_MS);
  };

  it.each([
    [
      'as it came',
      OPENAI,
      '/v1/chat/completions',
      'openai-prod',
      /^data: \{"error":\{[^\n]*"unauthenticated"/,
    ],
    [
      'as it came, in another dialect',
      ANTHROPIC,
      '/v1/messages',
      'claude',
      /^event: error\ndata: \{"type":"error"/,
    ],
    [
      "as it came, in Google's dialect",
      GOOGLE,
      '/v1beta/models/gemini-3.1-pro-preview:streamGenerateContent?alt=sse',
      'goo',
      /^data: \{"error":\{"code":401,"message":"[^"]+","status":"UNAUTHENTICATED","details":\[\{[^\n]*"code":"unauthenticated"/,
    ],
    ['translated', ANTHROPIC, '/v1/chat/completions', 'claude', /data: \{"error":\{[^\n]*"unauthenticated"/],
  ])('%s: ends with an error in its dialect, and the log says why', async (_, chunk, path, slug, words) => {
    const { reader, first } = await begin(chunk, path, slug);
    expect(first).toContain('Hel');

    revoked();

    expect(await rest(reader)).toMatch(words);
    const record = await gateway.logged();
    expect(record).toMatchObject({
      ending: 'refused',
      error_code: 'unauthenticated',
      error_source: 'gateway',
    });
    expect(gateway.cancelled).toHaveLength(1);
    expect(gateway.logs).toHaveLength(1);
  });

  it('breaks off in the middle of an event, which nothing can follow', async () => {
    const { reader } = await begin(ANTHROPIC.slice(0, -8), '/v1/messages', 'claude');

    revoked();

    await expect(rest(reader)).rejects.toThrow();
    expect(await gateway.logged()).toMatchObject({ ending: 'refused', error_code: 'unauthenticated' });
  });

  it('continues while the state of the key is unknown', async () => {
    const { reader } = await begin(OPENAI, '/v1/chat/completions', 'openai-prod');

    revoked(new AppError('auth_unavailable'));
    expect(gateway.logs).toHaveLength(0);

    revoked();
    expect(await rest(reader)).toContain('unauthenticated');
  });
});

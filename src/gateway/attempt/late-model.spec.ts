import { afterEach, describe, expect, it } from 'vitest';
import { aCaller, aGateway, type SentRequest, type TestGateway } from '../../../test/support/gateway.js';
import type { Wire, WireHandler } from '../upstream/wire.js';

const LONG = 'x'.repeat(1_000_000);

/** A provider that reads the whole request, then answers. */
const wire = ({ body }: SentRequest): Wire => ({
  dispatch: (_, handler) => void answerAfter(body as AsyncIterable<Buffer>, handler),
});

async function answerAfter(body: AsyncIterable<Buffer>, handler: WireHandler): Promise<void> {
  handler.onConnect(() => undefined);
  try {
    for await (const chunk of body) if (chunk.length === 0) break;
    handler.onHeaders(200, ['content-type', 'application/json'], () => undefined, '');
    handler.onData(Buffer.from('{"text":"hello"}'));
    handler.onComplete();
  } catch (error) {
    handler.onError(error as Error);
  }
}

let gateway: TestGateway;
afterEach(() => gateway.close());

/** A transcription whose model follows the file. */
function transcription(model: string) {
  const file = `--b\r\ncontent-disposition: form-data; name="file"; filename="a.wav"\r\n\r\n${LONG}\r\n`;
  const field = `--b\r\ncontent-disposition: form-data; name="model"\r\n\r\n${model}\r\n--b--\r\n`;
  return gateway.request('/v1/audio/transcriptions', {
    method: 'POST',
    headers: { 'x-gateway-virtual-key': 'openai-prod', 'content-type': 'multipart/form-data; boundary=b' },
    body: file + field,
  });
}

describe('a model that a form names after its file', () => {
  it('is recorded', async () => {
    gateway = await aGateway({ wire });

    expect((await transcription('whisper-1')).status).toBe(200);
    expect(gateway.logs[0]?.record.model).toBe('whisper-1');
  });

  it('is refused if it names a virtual key', async () => {
    gateway = await aGateway({ wire });

    const response = await transcription('@prod/whisper-1');

    expect(response.status).toBe(400);
    expect(await response.text()).toContain('must come before the file');
  });

  it('is refused if the policy of the organization does not allow it', async () => {
    const policy = { keepsBodies: true, needsLog: false, providers: null, models: new Set(['gpt-4o']) };
    gateway = await aGateway({ wire, caller: aCaller({ policy }) });

    expect((await transcription('whisper-1')).status).toBe(403);
  });
});

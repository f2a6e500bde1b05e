import { describe, expect, it } from 'vitest';
import { decodedResponse, bytesOf } from './shared-answers.js';
import { isCacheable } from './cacheable.js';
import { ANSWER_BYTES_MAX, type RecordedAnswer, Recording } from './recording.js';

const JSON_HEAD = ['content-type', 'application/json'];
const STREAM_HEAD = ['content-type', 'text/event-stream; charset=utf-8'];

interface RecordingResult {
  readonly recording: Recording;
  readonly kept: RecordedAnswer[];
  readonly dropped: () => number;
}
function begun(headers = JSON_HEAD, status = 200): RecordingResult {
  const kept: RecordedAnswer[] = [];
  let dropped = 0;
  const recording = new Recording({ keep: (answer) => void kept.push(answer), drop: () => (dropped += 1) });
  recording.begin(status, headers);
  return { recording, kept, dropped: () => dropped };
}
const turn = (): Promise<void> => new Promise(setImmediate);

/** The recorded part of a response that was complete and approved. */
async function keptOf(
  chunks: readonly string[],
  headers: string[] = JSON_HEAD,
): Promise<RecordedAnswer | undefined> {
  const { recording, kept } = begun(headers);
  for (const chunk of chunks) recording.add(Buffer.from(chunk));
  recording.over(false);
  recording.approve();
  await turn();
  return kept[0];
}

describe('a recording', () => {
  it('keeps the pieces as they came, whichever of the two ends comes first', async () => {
    const kept = await keptOf(['{"id":', '1}']);
    expect(kept?.chunks.map(String)).toEqual(['{"id":', '1}']);
    const other = begun();
    other.recording.add(Buffer.from('{}'));
    other.recording.approve();
    await turn();
    expect(other.kept).toHaveLength(0);
    other.recording.over(false);
    await turn();
    expect(other.kept).toHaveLength(1);
  });

  it.each([
    ['a status other than 200', () => begun(JSON_HEAD, 201)],
    ['an answer that is packed', () => begun([...JSON_HEAD, 'content-encoding', 'gzip'])],
  ])('drops %s', async (_, start) => {
    const { recording, kept, dropped } = start();
    recording.add(Buffer.from('{}'));
    recording.over(false);
    recording.approve();
    await turn();
    expect([kept.length, dropped()]).toEqual([0, 1]);
  });

  it('drops a response that was cut off, not delivered as a success, or too large, and reports it once', async () => {
    const cut = begun();
    cut.recording.approve();
    cut.recording.over(true);
    cut.recording.drop();
    const denied = begun();
    denied.recording.add(Buffer.from('{}'));
    denied.recording.over(false);
    denied.recording.drop();
    const large = begun();
    large.recording.add(Buffer.alloc(ANSWER_BYTES_MAX, '1'));
    large.recording.add(Buffer.from('1'));
    large.recording.over(false);
    large.recording.approve();
    await turn();
    for (const { kept, dropped } of [cut, denied, large]) expect([kept.length, dropped()]).toEqual([0, 1]);
  });

  it('leaves out headers of one exchange only', async () => {
    const head = [
      ...JSON_HEAD,
      'Set-Cookie',
      's=1',
      'Date',
      'now',
      'x-ratelimit-remaining-tokens',
      '9',
      'openai-version',
      '1',
    ];
    expect((await keptOf(['{}'], head))?.headers).toEqual([...JSON_HEAD, 'openai-version', '1']);
  });

  it.each([
    ['a failure inside a 200', ['{"error":{"message":"overloaded"}}'], JSON_HEAD],
    ['JSON that is not whole', ['{"id":'], JSON_HEAD],
    ['a stream without its last word', ['data: {"choices":[]}\n\n'], STREAM_HEAD],
    [
      'a stream with a failure in it',
      ['data: {"error":{"message":"x"}}\n\n', 'data: [DONE]\n\n'],
      STREAM_HEAD,
    ],
    ['a stream with an event of failure', ['event: error\ndata: {}\n\ndata: [DONE]\n\n'], STREAM_HEAD],
    ['a kind that nobody can judge', ['sound'], ['content-type', 'audio/mpeg']],
  ])('drops %s', async (_, chunks, headers) => {
    expect(await keptOf(chunks, headers)).toBeUndefined();
  });

  it.each([
    [
      'chat',
      ['data: {"choices":[{"delta":{"content":"what is \\"error\\": null?"}}]}\n\n', 'data: [DONE]\n\n'],
    ],
    ['messages', ['event: message_stop\ndata: {"type":"message_stop"}\n\n']],
    [
      'responses',
      ['event: response.completed\ndata: {"type":"response.completed","response":{"error":null}}\n\n'],
    ],
    ['Gemini', ['data: {"candidates":[{"finishReason":"STOP"}]}\r\n\r\n']],
  ])('keeps a stream of %s that says that it is whole', async (_, chunks) => {
    expect(await keptOf(chunks, STREAM_HEAD)).toBeDefined();
  });
});

describe('a stored response as bytes', () => {
  it('comes back as it was, and not when bytes are missing', () => {
    const chunks = ['data: {"a":"ż"}\n\n', 'data: [DONE]\n\n'].map((text) => Buffer.from(text));
    const answer = { headers: STREAM_HEAD, chunks, storedAt: 1, expiresAt: 2 };
    const bytes = bytesOf(answer);
    expect(decodedResponse(bytes)).toEqual(answer);
    expect(() => decodedResponse(bytes.subarray(0, -1))).toThrow();
    expect(() => decodedResponse(Buffer.from('no'))).toThrow();
  });
});

describe('what may be kept', () => {
  it.each([
    ['chat-completions', {}, true],
    ['chat-completions', { store: true }, false],
    ['responses', {}, true],
    ['responses', { previous_response_id: 'r' }, true],
    ['responses', { background: true }, false],
    ['responses', { conversation: 'c' }, false],
    ['responses', { tools: [{ type: 'function' }, { type: 'mcp' }] }, false],
    ['messages', { mcp_servers: [{}] }, false],
    ['messages', { tools: [{ name: 'f' }] }, true],
    ['embeddings', {}, true],
    ['image-generations', {}, false],
    ['transcriptions', {}, false],
    ['batches', {}, false],
  ] as const)('%s with %o: %s', (endpoint, body, may) => {
    expect(isCacheable(endpoint, body)).toBe(may);
  });
});

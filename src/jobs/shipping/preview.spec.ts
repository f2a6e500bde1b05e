import { brotliCompressSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { previewOf } from './preview.js';

const facts = (content_type: string | null = 'application/json', content_encoding: string | null = null) => ({
  bytes: 1,
  truncated: false,
  content_type,
  content_encoding,
});
const json = (value: unknown) => Buffer.from(JSON.stringify(value));

describe('a preview', () => {
  it('of a request is its last message, as it is read', () => {
    const messages = [
      { role: 'system', content: 'Be short.' },
      { role: 'user', content: [{ type: 'text', text: 'Say "é"\n now' }] },
    ];
    expect(previewOf('request', facts(), json({ messages, model: 'm' }))).toBe('Say "é"\n now');
    expect(previewOf('request', facts(), json({ input: 'embed me', model: 'm' }))).toBe('embed me');
  });

  it('of a response is its beginning, and of a stream its joined pieces', () => {
    const answer = { choices: [{ message: { content: 'One' } }, { message: { content: 'Two' } }] };
    expect(previewOf('response', facts(), json(answer))).toBe('One');
    expect(previewOf('response', facts('application/json', 'gzip'), gzipSync(json(answer)))).toBe('One');
    expect(previewOf('response', facts('application/json', 'br'), brotliCompressSync(json(answer)))).toBe(
      'One',
    );
    const stream = ['Hel', 'lo ', '\\u0041'].map((content) => `data: {"delta":{"content":"${content}"}}\n\n`);
    expect(previewOf('response', facts('text/event-stream'), Buffer.from(stream.join('')))).toBe('Hello A');
  });

  it('has 200 characters at most, and cuts no escape in two', () => {
    const long = json({ content: '\n'.repeat(5_000) });
    expect(previewOf('request', facts(), long)).toBe('\n'.repeat(200));
    expect(previewOf('response', facts('text/plain'), Buffer.from('x'.repeat(5_000)))).toBe('x'.repeat(200));
  });

  it('is none of what is no text, or cannot be read', () => {
    expect(previewOf('response', facts('audio/wav'), Buffer.from('RIFF'))).toBeNull();
    expect(previewOf('response', facts('application/json', 'gzip'), Buffer.from('no gzip'))).toBeNull();
    expect(previewOf('response', facts('application/json', 'zstd'), Buffer.from('x'))).toBeNull();
  });
});

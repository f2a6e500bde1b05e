import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { findEndpointRow } from '../../providers/endpoints/index.js';
import { BodyCapture } from '../recording/capture.js';
import { modelOf, trailOf } from '../types/attempt-trail.js';
import type { ReadRequest } from '../types/content.js';
import { readRequest } from './read-request.js';

const field = (name: string, value: string): string =>
  `--b\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
const file = (content: string): string =>
  `--b\r\ncontent-disposition: form-data; name="file"; filename="a.wav"\r\n\r\n${content}\r\n`;
const END = '--b--\r\n';

interface FormTestInput {
  readonly read: ReadRequest;
}

const read = (...parts: readonly string[]): Promise<FormTestInput> => readAs(false, parts);

async function readAs(isKept: boolean, parts: readonly string[]): Promise<FormTestInput> {
  const bytes = Buffer.from(parts.join(''));
  const chunks: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += 50) chunks.push(bytes.subarray(at, at + 50));
  const headers = {
    'content-type': 'multipart/form-data; boundary=b',
    'content-length': String(bytes.length),
  };
  const request = Object.assign(Readable.from(chunks, { objectMode: false }), {
    method: 'POST',
    headers,
    rawHeaders: [],
  });
  const message = request as unknown as IncomingMessage;
  const path = { path: '/audio/transcriptions', query: '', isProxied: false };
  const endpoint = findEndpointRow('POST', path.path);
  const received = { request: message, path, endpoint, capture: new BodyCapture(false) };
  return { read: await readRequest(received, { limitBytes: 1_000_000, keepsBody: isKept }) };
}

async function sent({ read: { body } }: FormTestInput): Promise<string> {
  if (!body || Buffer.isBuffer(body)) return body?.toString() ?? '';
  const chunks: Buffer[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

const LONG = 'x'.repeat(1_000);
/** Longer than the head that is held until the model is known. */
const BEYOND_HEAD = 'x'.repeat(300_000);

describe('a form', () => {
  it('names its model before the file, and passes as it was', async () => {
    const parts = [field('model', 'whisper-1'), field('stream', 'true'), file(LONG), END];
    const form = await read(...parts);
    expect(trailOf(form.read)).toMatchObject({ model: 'whisper-1', isStreamed: true });
    expect(form.read).toMatchObject({ modelSlug: null, isRepeatable: false });
    expect(await sent(form)).toBe(parts.join(''));
  });

  it('names its target in the model, which is then written without it', async () => {
    const form = await read(field('user', 'u'), field('model', '@prod/whisper-1'), file(LONG), END);
    expect(form.read.modelSlug).toBe('prod');
    expect(form.read.model).toBe('whisper-1');
    expect(await sent(form)).toBe(
      [field('user', 'u'), field('model', 'whisper-1'), file(LONG), END].join(''),
    );
  });

  it('reports its length, also when its model was rewritten', async () => {
    const parts = [field('model', '@prod/whisper-1'), file(LONG), END];
    const {
      read: { body },
    } = await read(...parts);
    expect(body).toMatchObject({ size: parts.join('').length - '@prod/'.length });
  });

  it('names its target in a model after a short file, however the network cuts the form', async () => {
    const parts = [file(LONG), field('model', '@prod/whisper-1'), END];
    const sentOn = [file(LONG), field('model', 'whisper-1'), END].join('');
    for (const chunks of [parts, [parts.join('')], Array.from(parts.join(''))]) {
      const form = await read(...chunks);
      expect(form.read).toMatchObject({ modelSlug: 'prod', model: 'whisper-1' });
      expect(await sent(form)).toBe(sentOn);
    }
  });

  it('is known later where the model follows a long file', async () => {
    const parts = [file(BEYOND_HEAD), field('model', 'whisper-1'), END];
    const form = await read(...parts);
    expect(modelOf(trailOf(form.read))).toBeNull();
    expect(await sent(form)).toBe(parts.join(''));
    expect(modelOf(trailOf(form.read))).toBe('whisper-1');
  });

  it('is refused with two models, wherever the second one is', async () => {
    await expect(read(field('model', 'a'), field('model', 'b'), END)).rejects.toThrow('only once');
    const form = await read(field('model', 'a'), file(LONG), field('model', 'b'), END);
    await expect(sent(form)).rejects.toThrow('only once');
  });

  it('can be sent again where it is kept, wherever its model is', async () => {
    const parts = [file(LONG), field('model', 'whisper-1'), END];
    const form = await readAs(true, parts);
    expect(form.read).toMatchObject({ model: 'whisper-1', isRepeatable: true });
    expect(await sent(form)).toBe(parts.join(''));
  });

  it('can be sent again where it has no file', async () => {
    const form = await read(field('model', '@prod/dall-e-2'), END);
    expect(form.read).toMatchObject({ modelSlug: 'prod', isRepeatable: true });
    expect(await sent(form)).toBe(field('model', 'dall-e-2') + END);
  });
});

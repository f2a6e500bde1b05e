import { afterEach, describe, expect, it } from 'vitest';
import { aGateway, type GatewayWishes, type TestGateway } from '../../../test/support/gateway.js';
import type { Json } from '../../providers/endpoint.js';

let gateway: TestGateway;
const given = async (wishes: GatewayWishes = {}): Promise<TestGateway> =>
  (gateway = await aGateway({
    virtualKeys: { claude: 'anthropic', jobs: 'mistral-ai', rest: 'cohere' },
    ...wishes,
  }));
afterEach(() => gateway.close());

const output = (slug: string, path = '/v1/batches/batch_1/output'): Promise<Response> =>
  gateway.request(path, { headers: { 'x-gateway-virtual-key': slug } });

describe('the output of a batch', () => {
  it.each([
    ['openai-prod', '/v1/batches/batch_1', { output_file_id: 'file-9' }, '/v1/files/file-9/content'],
    [
      'openai-prod',
      '/v1/batches/batch_1',
      { output_file_id: null, error_file_id: 'file-8' },
      '/v1/files/file-8/content',
    ],
    ['jobs', '/v1/batch/jobs/batch_1', { output_file: 'f7' }, '/v1/files/f7/content'],
    [
      'claude',
      '/v1/messages/batches/batch_1',
      { results_url: 'https://elsewhere.example/x' },
      '/v1/messages/batches/batch_1/results',
    ],
  ])('of %s reads the batch first', async (slug, batch, said: Json, path) => {
    const { calls } = await given();
    await output(slug);

    expect(calls).toHaveLength(1);
    expect(calls[0]).toMatchObject({ path: batch, method: 'GET' });
    expect(calls[0]?.next?.(said)).toBe(path);
  });

  it.each([
    { status: 'in_progress', output_file_id: null },
    { status: 'failed' },
    { status: 'completed', output_file_id: '../../keys' },
    { status: 'completed', output_file_id: '..' },
  ])('is refused while there is none: %s', async (batch) => {
    const { calls } = await given();
    await output('openai-prod');

    expect(() => calls[0]?.next?.(batch)).toThrow(batch.status);
  });

  it('goes to the provider when the batch is unknown here, and when requests pass untranslated', async () => {
    const { calls } = await given();
    await output('rest');
    await output('openai-prod', '/v1/proxy/batches/batch_1/output');

    expect(calls.map(({ path, next }) => [path, next])).toEqual([
      ['/batches/batch_1/output', undefined],
      ['/v1/batches/batch_1/output', undefined],
    ]);
  });
});

import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { mediaUsage } from '../../providers/endpoints/media.js';
import { ocrUsage } from '../../providers/endpoints/ocr.js';
import type { UsageReader } from '../../providers/endpoint.js';
import type { Usage } from '../../common/contracts/request-log.js';
import { meterAnswer } from './metering.js';

const LARGE = 'A'.repeat(9 * 1024 * 1024);
const USAGE = { input_tokens: 50, output_tokens: 4160, total_tokens: 4210 };
const READ = { input_tokens: 50, output_tokens: 4160 };

/** What the meter reads of an answer that comes in pieces of 64 KiB. */
async function metered(answer: Buffer, encoding: string | null = null, reader: UsageReader = mediaUsage) {
  const meter = meterAnswer(reader, encoding);
  if (!meter) throw new Error('not read');
  for (let at = 0; at < answer.length; at += 65_536) meter.feed(answer.subarray(at, at + 65_536));
  return new Promise<Usage | null>((resolve) => {
    meter.end(() => resolve(meter.reading.usage));
  });
}
const json = (answer: object): Buffer => Buffer.from(JSON.stringify(answer));

describe('an answer that is too long to be read whole', () => {
  it('tells its usage at its end', async () => {
    const pictures = json({ created: 1, data: [{ b64_json: LARGE }], usage: USAGE, size: '1024x1024' });

    expect(await metered(pictures)).toEqual(READ);
    expect(await metered(gzipSync(pictures), 'gzip')).toEqual(READ);
    expect(
      await metered(json({ pages: [{ image: LARGE }], usage_info: { pages_processed: 3 } }), null, ocrUsage),
    ).toEqual({ input_tokens: 0, output_tokens: 0, document_pages: 3 });
  });

  it('is not believed where a text says so', async () => {
    const lie = JSON.stringify({ usage: { input_tokens: 1, output_tokens: 1 } });

    expect(await metered(json({ data: [{ b64_json: LARGE }], usage: USAGE, note: lie }))).toEqual(READ);
    expect(await metered(json({ data: [{ b64_json: LARGE }], note: lie }))).toBeNull();
  });

  it('tells nothing where its end does not', async () => {
    expect(await metered(json({ usage: USAGE, data: [{ b64_json: LARGE }] }))).toBeNull();
    expect(await metered(Buffer.from(LARGE))).toBeNull();
  });
});

it('an answer that is short is read wherever its usage stands', async () => {
  expect(await metered(json({ usage: USAGE, data: [{ b64_json: 'AAAA' }] }))).toEqual(READ);
});

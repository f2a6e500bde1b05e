import { describe, expect, it } from 'vitest';
import { endpoints } from '../endpoints/index.js';
import { findProvider } from '../catalog/registry.js';
import { MediaFile } from '../translation.js';
import { audioDurationMs } from './audio-duration.js';
import { chargeOf } from './index.js';
import { imagesCharge, speechCharge, transcriptsCharge } from './media.js';
import { chargeRows } from './table.js';
import { googleBounds, interactionsCharge, moderationsCharge, textCharge } from './text.js';

const requests = endpoints.flatMap(({ operations }) => operations);
const facts = { bodyBytes: 100, outputCeiling: 4_096 };

describe('the charging table', () => {
  it.each(requests.filter(({ method }) => method === 'POST').map(({ path }) => path))(
    'says how POST %s is charged',
    (path) => {
      const listed = chargeRows.filter(({ operations }) => operations.some((one) => one.path === path));
      expect(listed).toHaveLength(1);
    },
  );

  it.each(requests.filter(({ method }) => method !== 'POST'))(
    'charges nothing for $method $path',
    (operation) => {
      expect(chargeOf(operation.method, operation.path, 'openai')).toBe('nothing');
    },
  );

  it('has each request once', () => {
    const paths = chargeRows.flatMap(({ operations }) => operations.map(({ path }) => path));
    expect(new Set(paths).size).toBe(paths.length);
  });

  it('measures every endpoint whose responses report usage', () => {
    const unmeasured = endpoints
      .filter(({ usage }) => usage)
      .flatMap(({ operations }) => operations)
      .filter(({ method, path }) => method === 'POST' && chargeOf(method, path, 'any') === 'unmeasured');
    expect(unmeasured).toEqual([]);
  });

  it('names providers that exist where a request is free', () => {
    for (const id of moderationsCharge.freeAt ?? []) expect(findProvider(id).id).toBe(id);
  });
});

describe('the output of a request', () => {
  const bounds = { most: ['max_completion_tokens', 'max_tokens'], times: ['n', 'best_of'] };
  it.each([
    ['is the ceiling where nothing bounds it', {}, 4_096],
    ['is what bounds it', { max_tokens: 10 }, 10],
    ['is the larger of two bounds', { max_completion_tokens: 1, max_tokens: 10 }, 10],
    ['is read in text, as some providers read it', { max_tokens: '10', n: '3' }, 30],
    ['is rounded up', { max_tokens: 9.5 }, 10],
    ['counts what is drafted and thrown away', { max_tokens: 10, n: 1, best_of: 4 }, 40],
    ['counts each prompt', { max_tokens: 10, prompt: ['a', 'b'] }, 20],
    ['counts a prompt of tokens once', { max_tokens: 10, prompt: [1, 2, 3] }, 10],
    ['is not bounded by options of another format', { generationConfig: { max_tokens: 9 } }, 4_096],
    ['is the ceiling where the bound is none', { max_tokens: -1 }, 4_096],
  ])('%s', (_, body, expected) => {
    expect(textCharge(bounds).most({ ...facts, body })).toEqual([
      { input_tokens: 100, output_tokens: expected },
    ]);
  });
});

describe('the output of a request in a format of Google', () => {
  const config = (options: object) => ({ model: 'a', generationConfig: options });
  it.each([
    [
      'is found in both spellings of the options',
      { ...config({}), generation_config: { maxOutputTokens: 9 } },
      9,
    ],
    ['is the larger of two spellings', config({ max_output_tokens: 1, maxOutputTokens: 9 }), 9],
    [
      'is the larger of both options',
      { ...config({ maxOutputTokens: 9 }), generation_config: { max_output_tokens: 1 } },
      9,
    ],
    ['is the ceiling where only the body has a bound', { max_output_tokens: 9 }, 4_096],
    ['counts each candidate', config({ maxOutputTokens: 9, candidateCount: 2 }), 18],
  ])('%s', (_, body, expected) => {
    const usage = [{ input_tokens: 100, output_tokens: expected }];
    expect(interactionsCharge.most({ ...facts, body })).toEqual(usage);
    expect(textCharge(googleBounds).most({ ...facts, body })).toEqual(usage);
  });
});

describe('media', () => {
  it('has more tokens for a larger image, partial images and images to edit', () => {
    const body = { n: 2, size: '2048x3072', partial_images: 3, images: ['a', 'b'] };
    const [, tokens] = imagesCharge.most({ ...facts, body }) ?? [];
    expect(tokens).toMatchObject({ output_tokens: 2 * (4 * 6_240 + 300), image_input_tokens: 16_000 });
  });

  it('takes the largest number of images that either field of a form requests', () => {
    expect(imagesCharge.most({ ...facts, body: { n: ['1', '10'] } })?.[0]).toMatchObject({ image_count: 10 });
  });

  it('has more speech at a lower speed', () => {
    const spoken = (speed: number) =>
      speechCharge.most({ ...facts, body: { input: 'abcd', speed } })?.[1]?.audio_output_ms ?? 0;
    expect(spoken(0.5)).toBe(2 * spoken(1));
  });

  it('takes sound of an unknown format, and a body without a file, by its size', () => {
    const file = new MediaFile('audio/x', Buffer.alloc(500));
    expect(transcriptsCharge.most({ ...facts, body: { file } })?.[0]).toMatchObject({
      audio_input_ms: 1_000,
    });
    expect(transcriptsCharge.most({ ...facts, body: {} })?.[0]).toMatchObject({ audio_input_ms: 200 });
  });
});

const u32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};
const box = (type: string, ...content: readonly Buffer[]): Buffer => {
  const body = Buffer.concat(content);
  return Buffer.concat([u32(body.length + 8), Buffer.from(type), body]);
};
const ebml = (id: string, ...content: readonly Buffer[]): Buffer => {
  const body = Buffer.concat(content);
  return Buffer.concat([Buffer.from(id, 'hex'), Buffer.from([0x10, 0, 0, body.length]), body]);
};
const repeated = (times: number, frame: readonly number[], size: number): Buffer => {
  const one = Buffer.alloc(size);
  Buffer.from(frame).copy(one);
  return Buffer.concat(Array<Buffer>(times).fill(one));
};

function wave(seconds: number): Buffer {
  const head = Buffer.from('RIFF    WAVEfmt ');
  const format = Buffer.alloc(28);
  format.writeUInt32LE(16);
  format.writeUInt16LE(1, 4);
  format.writeUInt16LE(2, 6);
  format.writeUInt32LE(44_100, 8);
  format.writeUInt32LE(1, 12);
  format.writeUInt16LE(16, 18);
  format.write('data', 20);
  return Buffer.concat([head, format, Buffer.alloc(seconds * 44_100 * 4)]);
}
function ogg(head: string, rate: number, samples: number): Buffer {
  const page = (granule: number, body: Buffer): Buffer => {
    const start = Buffer.alloc(28);
    start.write('OggS');
    start.writeBigUInt64LE(BigInt(granule), 6);
    return Buffer.concat([start, body]);
  };
  const vorbis = Buffer.alloc(30);
  vorbis.write(head, 'latin1');
  vorbis.writeUInt32LE(rate, 12);
  return Buffer.concat([page(0, vorbis), page(samples, Buffer.alloc(99))]);
}
function flac(samples: number): Buffer {
  const bytes = Buffer.alloc(60);
  bytes.write('fLaC');
  bytes.writeUIntBE((44_100 << 4) >>> 0, 18, 3);
  bytes.writeUInt32BE(samples, 22);
  return bytes;
}
const movie = box('moov', box('mvhd', Buffer.alloc(12), u32(600), u32(1_800), Buffer.alloc(80)));
const timed = (ticks: number): Buffer => ebml('1f43b675', ebml('e7', u32(ticks)));
const webm = (...elements: readonly Buffer[]): Buffer =>
  Buffer.concat([ebml('1a45dfa3', Buffer.from('head')), ebml('18538067', ...elements)]);
const duration = Buffer.alloc(8);
duration.writeDoubleBE(2_500);

describe('the length of sound', () => {
  it.each([
    ['wav, by its samples and not by the rate of bytes that it claims', wave(3), 3_000, 2],
    ['mp3, by its frames', repeated(100, [0xff, 0xfb, 0x90, 0x00], 417), 100 * (1_152 / 44.1), 1],
    [
      'mp3 behind a tag',
      Buffer.concat([
        Buffer.from('ID3\x04\0\0\0\0\x01\0'),
        Buffer.alloc(128),
        repeated(50, [0xff, 0xfb, 0x90, 0x00], 417),
      ]),
      50 * (1_152 / 44.1),
      1,
    ],
    ['mp3 of half the rate', repeated(80, [0xff, 0xf3, 0x80, 0x00], 208), 80 * (576 / 22.05), 1],
    ['flac', flac(88_200), 2_000, 1],
    ['opus', ogg('OpusHead', 0, 96_000), 2_000, 1],
    ['vorbis', ogg('\x01vorbis', 44_100, 88_200), 2_000, 1],
    [
      'mp4, its movie behind its data',
      Buffer.concat([box('ftyp', Buffer.alloc(8)), box('mdat', Buffer.alloc(99)), movie]),
      3_000,
      1,
    ],
    [
      'webm',
      webm(ebml('1549a966', ebml('2ad7b1', Buffer.from([0x0f, 0x42, 0x40])), ebml('4489', duration))),
      2_500,
      1,
    ],
    ['webm as browsers record it, by its last cluster', webm(timed(0), timed(9_000)), 9_000 + 32_767, 1],
  ])('is known of %s', (_, file, ms, tolerance) => {
    expect(Math.abs((audioDurationMs(file) ?? 0) - ms)).toBeLessThanOrEqual(tolerance);
  });

  it.each([
    ['text', Buffer.from('no sound at all')],
    ['nothing', Buffer.alloc(0)],
    [
      'compressed wav',
      Buffer.concat([Buffer.from('RIFF    WAVEfmt '), Buffer.from([16, 0, 0, 0, 2, 0]), Buffer.alloc(99)]),
    ],
    [
      'mp4 whose length is in its fragments',
      Buffer.concat([box('ftyp'), box('moov', box('mvhd', Buffer.alloc(99)))]),
    ],
  ])('is not known of %s', (_, file) => {
    expect(audioDurationMs(file)).toBeNull();
  });

  it('is a length or null for damaged files, and found in time', () => {
    const seed = Date.now() % 100_000;
    let state = seed;
    const random = (below: number): number => (state = (state * 1_103_515_245 + 12_345) % 2 ** 31) % below;
    const files = [
      wave(1),
      flac(9),
      ogg('OpusHead', 0, 9),
      movie,
      webm(timed(9)),
      repeated(9, [0xff, 0xfb, 0x90, 0x00], 417),
    ];
    for (let turn = 0; turn < 3_000; turn++) {
      const file = Buffer.from(files[random(files.length)] as Buffer).subarray(0, 4_000);
      for (let hits = random(6); hits >= 0; hits--) file[random(64)] = random(256);
      const found = audioDurationMs(file.subarray(0, random(file.length + 1)));
      expect(found === null || found > 0, `seed ${seed}, turn ${turn}`).toBe(true);
    }
  });
});

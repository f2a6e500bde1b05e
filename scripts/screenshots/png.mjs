/** Reduces a screenshot to 256 colours, which suffice for text and lines, apart from the edges of letters. https://www.w3.org/TR/png-3/ */
import { crc32, deflateSync, inflateSync } from 'node:zlib';

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const MOST_COLOURS = 256;
const MOST_DISTINCT = 160;
const DISTINCT = 18 ** 2;
const CHANNELS = { 2: 3, 6: 4 };

/** Accepts Chromium's output: 8 bits per channel, not interlaced, opaque. */
export function toPalette(png) {
  const { width, height, pixels } = decode(png);
  const counts = new Map();
  for (const colour of pixels) counts.set(colour, (counts.get(colour) ?? 0) + 1);
  const palette = paletteOf([...counts].sort(([, one], [, other]) => other - one).map(([colour]) => colour));
  const indexOf = new Map(palette.map((colour, index) => [colour, index]));
  for (const colour of counts.keys()) if (!indexOf.has(colour)) indexOf.set(colour, nearest(colour, palette));
  const rows = Buffer.alloc(height * (width + 1));
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) rows[y * (width + 1) + x + 1] = indexOf.get(pixels[y * width + x]);
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 3, 0, 0, 0], 8);
  const colours = Buffer.from(palette.flatMap((colour) => [colour >> 16, (colour >> 8) & 255, colour & 255]));
  const parts = [
    chunk('IHDR', header),
    chunk('PLTE', colours),
    chunk('IDAT', deflateSync(rows, { level: 9 })),
  ];
  return Buffer.concat([SIGNATURE, ...parts, chunk('IEND', Buffer.alloc(0))]);
}

/** First colours that are far apart, so that a small mark keeps its own colour; then the most frequent ones. */
function paletteOf(colours) {
  const palette = [];
  for (const colour of colours)
    if (palette.length < MOST_DISTINCT && palette.every((other) => distance(colour, other) > DISTINCT))
      palette.push(colour);
  const chosen = new Set(palette);
  const others = colours.filter((colour) => !chosen.has(colour));
  return [...palette, ...others.slice(0, MOST_COLOURS - palette.length)];
}

function nearest(colour, palette) {
  let [best, least] = [0, Infinity];
  for (const [index, other] of palette.entries()) {
    const away = distance(colour, other);
    if (away < least) [best, least] = [index, away];
  }
  return best;
}

/** The squared distance. */
const distance = (one, other) =>
  ((one >> 16) - (other >> 16)) ** 2 +
  (((one >> 8) & 255) - ((other >> 8) & 255)) ** 2 +
  ((one & 255) - (other & 255)) ** 2;

function chunk(type, data) {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const around = Buffer.alloc(8);
  around.writeUInt32BE(data.length, 0);
  around.writeUInt32BE(crc32(body), 4);
  return Buffer.concat([around.subarray(0, 4), body, around.subarray(4)]);
}

/** The colours as numbers, row by row. */
function decode(png) {
  const data = [];
  let header = Buffer.alloc(0);
  for (let at = SIGNATURE.length; at < png.length;) {
    const length = png.readUInt32BE(at);
    const type = png.toString('latin1', at + 4, at + 8);
    const content = png.subarray(at + 8, at + 8 + length);
    if (type === 'IHDR') header = content;
    if (type === 'IDAT') data.push(content);
    at += length + 12;
  }
  const [width, height, channels] = [header.readUInt32BE(0), header.readUInt32BE(4), CHANNELS[header[9]]];
  if (header[8] !== 8 || !channels || header[12] !== 0) throw new Error('This kind of PNG is not read.');
  const bytes = unfilter(inflateSync(Buffer.concat(data)), width * channels, channels);
  const pixels = new Uint32Array(width * height);
  for (let at = 0; at < pixels.length; at++)
    pixels[at] = (bytes[at * channels] << 16) | (bytes[at * channels + 1] << 8) | bytes[at * channels + 2];
  return { width, height, pixels };
}

/** https://www.w3.org/TR/png-3/#9Filters */
function unfilter(raw, stride, channels) {
  const lines = raw.length / (stride + 1);
  const out = Buffer.alloc(lines * stride);
  for (let line = 0; line < lines; line++) {
    const filter = raw[line * (stride + 1)];
    for (let x = 0; x < stride; x++) {
      const at = line * stride + x;
      const left = x >= channels ? out[at - channels] : 0;
      const above = line > 0 ? out[at - stride] : 0;
      const corner = x >= channels && line > 0 ? out[at - stride - channels] : 0;
      out[at] = raw[line * (stride + 1) + 1 + x] + predicted(filter, left, above, corner);
    }
  }
  return out;
}

function predicted(filter, left, above, corner) {
  if (filter === 0) return 0;
  if (filter === 1) return left;
  if (filter === 2) return above;
  if (filter === 3) return (left + above) >> 1;
  const estimate = left + above - corner;
  const [a, b, c] = [left, above, corner].map((each) => Math.abs(estimate - each));
  if (a <= b && a <= c) return left;
  return b <= c ? above : corner;
}

import { matroskaMs } from './audio-matroska.js';
import { mp3Ms } from './audio-mp3.js';

/**
 * The duration of an audio file by its container, in milliseconds; null for an unknown format and for a damaged file. The file's size is
 * preferred to a header's claim. Never throws.
 */
export function audioDurationMs(file: Uint8Array): number | null {
  const bytes = Buffer.from(file.buffer, file.byteOffset, file.byteLength);
  for (const { isIts, ms } of FORMATS) if (isIts(bytes)) return sound(attempted(ms, bytes));
  return null;
}

interface AudioFormat {
  readonly isIts: (bytes: Buffer) => boolean;
  readonly ms: (bytes: Buffer) => number | null;
}

const has = (bytes: Buffer, text: string, at = 0): boolean =>
  bytes.toString('latin1', at, at + text.length) === text;

const FORMATS: readonly AudioFormat[] = [
  { isIts: (bytes) => has(bytes, 'RIFF') && has(bytes, 'WAVE', 8), ms: waveMs },
  { isIts: (bytes) => has(bytes, 'fLaC'), ms: flacMs },
  { isIts: (bytes) => has(bytes, 'OggS'), ms: oggMs },
  { isIts: (bytes) => has(bytes, 'ftyp', 4), ms: mp4Ms },
  { isIts: (bytes) => bytes.length > 4 && bytes.readUInt32BE(0) === 0x1a45dfa3, ms: matroskaMs },
  { isIts: (bytes) => has(bytes, 'ID3') || isFrame(bytes), ms: mp3Ms },
];

const isFrame = (bytes: Buffer): boolean =>
  bytes.length > 4 && bytes[0] === 0xff && ((bytes[1] as number) & 0xe0) === 0xe0;

/** In a damaged file, a missing field is past the end of the bytes. */
function attempted(read: (bytes: Buffer) => number | null, bytes: Buffer): number | null {
  try {
    return read(bytes);
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

const MS_MAX = 7 * 86_400_000;
const sound = (ms: number | null): number | null =>
  ms !== null && Number.isFinite(ms) && ms > 0 && ms <= MS_MAX ? Math.ceil(ms) : null;

const PCM: ReadonlySet<number> = new Set([1, 3, 0xfffe]);

/**
 * Uncompressed audio only: everything after the format chunk counts, whatever length the header claims.
 * https://www.mmsp.ece.mcgill.ca/Documents/AudioFormats/WAVE/WAVE.html
 */
function waveMs(bytes: Buffer): number | null {
  for (
    let at = 12;
    at + 8 <= bytes.length;
    at += 8 + bytes.readUInt32LE(at + 4) + (bytes.readUInt32LE(at + 4) % 2)
  ) {
    if (!has(bytes, 'fmt ', at)) continue;
    const isPcm = PCM.has(bytes.readUInt16LE(at + 8));
    const frameBytes = (bytes.readUInt16LE(at + 10) * bytes.readUInt16LE(at + 22)) / 8;
    const rate = bytes.readUInt32LE(at + 12);
    return isPcm ? ((bytes.length - at) * 1_000) / (frameBytes * rate) : null;
  }
  return null;
}

/** The first block has the total of samples and their rate. https://www.rfc-editor.org/rfc/rfc9639#section-8.2 */
function flacMs(bytes: Buffer): number | null {
  const rate = bytes.readUIntBE(18, 3) >>> 4;
  const samples = ((bytes[21] as number) & 0x0f) * 2 ** 32 + bytes.readUInt32BE(22);
  return (samples * 1_000) / rate;
}

/** Opus counts 48,000 samples a second, whatever the source's rate was. https://www.rfc-editor.org/rfc/rfc7845#section-4 */
const OPUS_RATE = 48_000;

/** The last page has the number of samples. https://www.rfc-editor.org/rfc/rfc3533#section-6 */
function oggMs(bytes: Buffer): number | null {
  const vorbis = bytes.subarray(0, 256).indexOf('\x01vorbis', 0, 'latin1');
  const isOpus = bytes.subarray(0, 256).includes('OpusHead', 0, 'latin1');
  if (vorbis < 0 && !isOpus) return null;
  const rate = isOpus ? OPUS_RATE : bytes.readUInt32LE(vorbis + 12);
  const last = bytes.lastIndexOf('OggS', undefined, 'latin1');
  return (Number(bytes.readBigUInt64LE(last + 6)) * 1_000) / rate;
}

const DEPTH_MAX = 2;

/** The movie header. https://developer.apple.com/documentation/quicktime-file-format/movie_header_atom */
function mp4Ms(bytes: Buffer, from = 0, to = bytes.length, depth = 0): number | null {
  for (let at = from; at + 8 <= to;) {
    const [head, size] = boxSize(bytes, at, to);
    if (has(bytes, 'mvhd', at + 4)) return movieMs(bytes, at + head);
    if (has(bytes, 'moov', at + 4) && depth < DEPTH_MAX) return mp4Ms(bytes, at + head, at + size, depth + 1);
    if (size < head) return null;
    at += size;
  }
  return null;
}

/** A size of 1 means 64 bits after the type; 0 means up to the end. */
function boxSize(bytes: Buffer, at: number, to: number): readonly [head: number, size: number] {
  const size = bytes.readUInt32BE(at);
  if (size === 1) return [16, Number(bytes.readBigUInt64BE(at + 8))];
  return [8, size === 0 ? to - at : size];
}

function movieMs(bytes: Buffer, at: number): number | null {
  const isLong = bytes[at] === 1;
  const scale = bytes.readUInt32BE(at + (isLong ? 20 : 12));
  const duration = isLong ? Number(bytes.readBigUInt64BE(at + 24)) : bytes.readUInt32BE(at + 16);
  return (duration * 1_000) / scale;
}

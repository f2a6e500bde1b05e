/** Kilobits a second by index: https://www.mp3-tech.org/programmer/frame_header.html */
const BITRATES: Readonly<Record<string, readonly number[]>> = {
  '1/1': [0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448],
  '1/2': [0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384],
  '1/3': [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  '2/1': [0, 32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256],
  '2/2': [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
};
const RATES = [44_100, 48_000, 32_000] as const;
/** How often the rate is halved, by the bits of the version; 1 is reserved. */
const HALVINGS = [2, -1, 1, 0] as const;
const ID3_BYTES = 10;
/** Maximum bytes between frames, such as tags. A file with more is not read further. */
const OTHER_BYTES_MAX = 64 * 1024;

interface Mp3Frame {
  readonly bytes: number;
  readonly ms: number;
}

/**
 * MPEG audio has no length: its frames are summed up, as a decoder does. A header inside the first frame may claim another length, and is
 * ignored. Null if no two frames are adjacent, and for a file that is mostly something else.
 */
export function mp3Ms(bytes: Buffer): number | null {
  let at = bytes.toString('latin1', 0, 3) === 'ID3' ? ID3_BYTES + syncSafe(bytes, 6) : 0;
  let ms = 0;
  let frames = 0;
  let others = 0;
  while (at + 4 <= bytes.length && others <= OTHER_BYTES_MAX) {
    const frame = frameAt(bytes, at);
    if (frame) {
      ms += frame.ms;
      frames += 1;
    } else others += 1;
    at += frame ? frame.bytes : 1;
  }
  return frames > 1 && others <= OTHER_BYTES_MAX ? ms : null;
}

/** Seven bits of each byte. https://id3.org/id3v2.4.0-structure */
const syncSafe = (bytes: Buffer, at: number): number =>
  [0, 1, 2, 3].reduce((sum, offset) => sum * 128 + (bytes[at + offset] as number), 0);

function frameAt(bytes: Buffer, at: number): Mp3Frame | null {
  const first = bytes[at + 1] as number;
  if (bytes[at] !== 0xff || (first & 0xe0) !== 0xe0) return null;
  const halvings = HALVINGS[(first >> 3) & 3] as number;
  const layer = 4 - ((first >> 1) & 3);
  const second = bytes[at + 2] as number;
  const rate = (RATES[(second >> 2) & 3] ?? 0) / 2 ** halvings;
  const kilobits = bitratesOf(halvings, layer)[second >> 4] ?? 0;
  if (halvings < 0 || layer > 3 || rate === 0 || kilobits === 0) return null;
  return frameOf({ layer, rate, kilobits, isHalf: halvings > 0, padding: (second >> 1) & 1 });
}

const bitratesOf = (halvings: number, layer: number): readonly number[] =>
  BITRATES[halvings === 0 ? `1/${layer}` : `2/${layer === 1 ? 1 : 2}`] ?? [];

interface FrameHead {
  readonly layer: number;
  readonly rate: number;
  readonly kilobits: number;
  readonly isHalf: boolean;
  readonly padding: number;
}

function frameOf({ layer, rate, kilobits, isHalf, padding }: FrameHead): Mp3Frame {
  const samples = layer === 1 ? 384 : layer === 3 && isHalf ? 576 : 1_152;
  const slot = layer === 1 ? 4 : 1;
  const slots = Math.floor((samples * kilobits * 125) / (rate * slot));
  return { bytes: (slots + padding) * slot, ms: (samples * 1_000) / rate };
}

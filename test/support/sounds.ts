const SAMPLES_PER_SECOND = 8_000;
const BYTES_PER_SAMPLE = 2;

/** A wave file of silence. */
export function aSilence(seconds: number): File {
  const head = Buffer.alloc(44);
  head.write('RIFF', 0, 'latin1');
  head.write('WAVEfmt ', 8, 'latin1');
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(SAMPLES_PER_SECOND, 24);
  head.writeUInt16LE(8 * BYTES_PER_SAMPLE, 34);
  const samples = Buffer.alloc(seconds * SAMPLES_PER_SECOND * BYTES_PER_SAMPLE - 32);
  return new File([Buffer.concat([head, samples])], 'a.wav', { type: 'audio/wav' });
}

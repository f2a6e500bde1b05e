/**
 * The direction of a text's embedding, one byte per dimension. Only directions are compared, so lengths are not kept. A byte instead of a
 * float changes the cosine by less than a thousandth and takes a quarter of the memory.
 */
export interface Vector {
  readonly bytes: Int8Array;
  /** Euclidean length of `bytes`. */
  readonly norm: number;
}

const DIMENSIONS_MAX = 8_192;
const LARGEST = 127;

/** Null for values without a direction: empty, too many, all zero, or not numbers. */
export function vectorOf(values: unknown): Vector | null {
  if (!Array.isArray(values) || values.length === 0 || values.length > DIMENSIONS_MAX) return null;
  let most = 0;
  for (const value of values) {
    if (typeof value !== 'number' || !Number.isFinite(value)) return null;
    most = Math.max(most, Math.abs(value));
  }
  if (most === 0) return null;
  return ofBytes(Int8Array.from(values as number[], (value) => Math.round((value / most) * LARGEST)));
}

/** The vector of another one's `bytes`; null for bytes that are not a vector. */
export function vectorFrom(stored: Buffer): Vector | null {
  if (stored.length === 0 || stored.length > DIMENSIONS_MAX) return null;
  const vector = ofBytes(Int8Array.from(stored));
  return vector.norm > 0 ? vector : null;
}

export function bytesOfVector({ bytes }: Vector): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** The cosine of the angle between two directions, -1 to 1. 0 for different dimensions, as of different models. */
export function similarity(one: Vector, other: Vector): number {
  const { bytes: a } = one;
  const { bytes: b } = other;
  if (a.length !== b.length) return 0;
  let product = 0;
  for (let at = 0; at < a.length; at++) product += (a[at] as number) * (b[at] as number);
  return product / (one.norm * other.norm);
}

function ofBytes(bytes: Int8Array): Vector {
  let squares = 0;
  for (const byte of bytes) squares += byte * byte;
  return { bytes, norm: Math.sqrt(squares) };
}

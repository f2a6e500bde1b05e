import type { Json } from '../endpoint.js';

/** The hub's `data` of vectors in the order of the inputs, without invalid vectors, as base64 if the request asks for it. */
export const embeddingsOf = (
  vectors: readonly unknown[],
  { encoding_format: format }: Json,
): readonly Json[] =>
  vectors.flatMap((vector, index) =>
    isVector(vector)
      ? [{ object: 'embedding', index, embedding: format === 'base64' ? base64Floats(vector) : vector }]
      : [],
  );

const isVector = (value: unknown): value is readonly number[] =>
  Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === 'number');

const FLOAT_BYTES = 4;

/** 32-bit floats, little-endian, as OpenAI's clients read them. */
export function base64Floats(vector: readonly number[]): string {
  const bytes = Buffer.alloc(vector.length * FLOAT_BYTES);
  for (const [position, value] of vector.entries()) bytes.writeFloatLE(value, position * FLOAT_BYTES);
  return bytes.toString('base64');
}

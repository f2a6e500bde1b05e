/** Joins parts unambiguously: each part is preceded by its length. Plain concatenation would let ("ab", "c") pass for ("a", "bc"). */
export function associatedData(parts: readonly string[]): Buffer {
  return Buffer.concat(
    parts.flatMap((part) => {
      const bytes = Buffer.from(part, 'utf8');
      const length = Buffer.alloc(4);
      length.writeUInt32BE(bytes.length);
      return [length, bytes];
    }),
  );
}

import { z } from 'zod';
import { didYouMean } from '../../common/text/nearest-names.js';

/** An object without other members. Each unknown one is named, with the known one that is nearest. */
export function strict<T extends z.ZodRawShape>(fields: T) {
  return z.strictObject(fields, {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? issue.keys
            .map((name) => `has the unknown member "${name}"${didYouMean(name, Object.keys(fields))}`)
            .join(', ')
        : undefined,
  });
}

/** One of two schemas, by what the value looks like. Unlike those of a union, its mistakes have their own place. */
export function eitherSchema<A, B>(
  isFirst: (value: unknown) => boolean,
  first: z.ZodType<A>,
  second: z.ZodType<B>,
) {
  return z.unknown().transform((value, context): A | B => {
    const read = (isFirst(value) ? first : second).safeParse(value);
    if (read.success) return read.data;
    for (const { path, message } of read.error.issues) context.addIssue({ code: 'custom', path, message });
    return z.NEVER;
  });
}

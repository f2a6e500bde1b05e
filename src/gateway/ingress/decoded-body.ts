import { AppError } from '../../common/errors/app-error.js';
import { decodableCodings, decoded } from '../../common/http/content-coding.js';

/** No real text compresses better: a body that expands more than a hundredfold is meant to fill memory. */
const RATIO_MAX = 100;
const ALWAYS_BYTES = 1024 * 1024;

/**
 * A body without its coding; null if the gateway cannot decode it: an unknown coding, several codings, or damaged bytes. Rejects with
 * `body_too_large`, before the bytes exist, if the decoded body would exceed `limitBytes`, or both a megabyte and a hundred times its
 * encoded size: a kilobyte can decode to gigabytes.
 */
export async function decodedBody(
  bytes: Buffer,
  codings: readonly string[],
  limitBytes: number,
): Promise<Buffer | null> {
  if (codings.length > 1) return null;
  const maxBytes = Math.min(limitBytes, Math.max(ALWAYS_BYTES, RATIO_MAX * bytes.length));
  try {
    return await decoded(bytes, codings, maxBytes);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_BUFFER_TOO_LARGE') return null;
    throw new AppError('body_too_large', { limitBytes: maxBytes });
  }
}

/** Why a body with these codings could not be read, and what to do, as the end of a sentence. */
export const unreadableCoding = (codings: readonly string[]): string =>
  `its content-encoding "${codings.join(', ')}" cannot be decoded. Send it without one, or with one of ${decodableCodings.join(', ')}`;

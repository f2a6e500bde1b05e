/** Values that Google's clients send in the path, and others in the body. */
export interface GoogleCall {
  /** Decoded: `gemini-2.5-pro`. */
  readonly model: string;
  /** `generateContent`, `streamGenerateContent`, … */
  readonly method: string;
  readonly isStreamed: boolean;
}

const CALL = /\/models\/([^/]+):(\w+)$/;

/**
 * The model and the method of `…/models/{model}:{method}`; null for any other path, and for a model that is not valid percent-encoding.
 * https://ai.google.dev/api/generate-content
 */
export function googleCallOf(path: string): GoogleCall | null {
  const [, encoded = '', method = ''] = CALL.exec(path) ?? [];
  if (encoded === '') return null;
  try {
    return { model: decodeURIComponent(encoded), method, isStreamed: method.startsWith('stream') };
  } catch {
    return null;
  }
}

import { AppError } from '../../common/errors/app-error.js';
import { GOOGLE_ROOT, UPLOAD_ROOT } from '../door/front-door.js';

const ROOT_LENGTH = '/v1'.length;
const PROXY = '/proxy/';

/** A key of ours, which would reach the provider with the path and its logs. */
const GATEWAY_KEY = /gw_(admin|ws|user)_[0-9A-Za-z]/i;

/** Paths made of these characters only, without a dot segment, need no closer look. */
const PLAIN = /^[\w\-~/:@,+!$*=]*$/;

const CONTROL = /[\u0000-\u001f\u007f]/;

/** Where a request goes below a provider's base URL. */
export interface RequestPath {
  /** Byte for byte as the client sent it, beginning with `/`: `/chat/completions`. */
  readonly path: string;
  /** With its `?`, byte for byte; empty when there is none. */
  readonly query: string;
  /** It came below `/proxy`: it goes to the provider as it is, whatever the gateway knows of it. */
  readonly isProxied: boolean;
  /** It belongs where the provider takes uploads (`Provider.uploads`). */
  readonly isUpload?: true;
}

/**
 * The part of a gateway path that belongs to the provider.
 *
 * It is decoded for inspection only: what goes on is the client's own spelling. A path that could climb
 * out of the provider's base path in any reading (dots, backslashes, encoded forms) is refused.
 */
export function requestPath(target: string): RequestPath {
  const mark = target.indexOf('?');
  const whole = mark < 0 ? target : target.slice(0, mark);
  const isUpload = whole.startsWith(UPLOAD_ROOT);
  const below = isUpload ? whole.slice(UPLOAD_ROOT.length - 1) : belowVersion(whole);
  const isProxied = !isUpload && below.startsWith(PROXY);
  const path = isProxied ? below.slice(PROXY.length - 1) : below;
  if (target.includes('gw_') && GATEWAY_KEY.test(target))
    refuse('it carries a gateway key, which must not leave the gateway');
  if (!PLAIN.test(path)) inspect(path);
  const query = mark < 0 ? '' : target.slice(mark);
  return isUpload ? { path, query, isProxied, isUpload } : { path, query, isProxied };
}

/**
 * What some clients write between their base address and a path, because it stands so at their provider, and what is
 * left of it here: it belongs to the provider's base URL. Google's version
 * (https://github.com/googleapis/js-genai) and Groq's prefix (https://github.com/groq/groq-typescript).
 */
const CLIENTS_OWN = [
  ['/v1beta/models/', '/models/'],
  ['/openai/v1/', '/'],
] as const;

function belowVersion(whole: string): string {
  if (whole.startsWith(GOOGLE_ROOT)) return whole.slice(GOOGLE_ROOT.length - 1);
  const below = whole.slice(ROOT_LENGTH);
  for (const [written, meant] of CLIENTS_OWN)
    if (below.startsWith(written)) return meant + below.slice(written.length);
  return below;
}

function inspect(path: string): void {
  const text = decodedOnce(path);
  if (CONTROL.test(text)) refuse('it has control characters');
  if (path.includes('\\')) refuse('it has a backslash');
  for (const segment of text.split(/[/\\]/)) {
    const name = segment.split(';', 1)[0];
    if (name === '.' || name === '..') refuse('it has "." or ".." segments');
  }
}

function decodedOnce(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return refuse('it is not valid percent-encoding');
  }
}

function refuse(detail: string): never {
  throw new AppError('path_invalid', { detail });
}

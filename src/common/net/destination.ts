import { AppError } from '../errors/app-error.js';

const MAX_LENGTH = 2048;
const PRINTABLE_ASCII = /^[!-~]+$/;
const DESTINATION = /^https?:\/\/(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::([^/?#@\\]*))?(\/[^?#\\]*)?$/i;
const PORT = /^[1-9]\d{0,4}$/;
const IP_LITERAL = /^(\[.*\]|\d+\.\d+\.\d+\.\d+)$/;

/**
 * The only parser of an address from a caller or a stored key: scheme, host, port and base path.
 *
 * Parsed once, by the WHATWG rules (https://url.spec.whatwg.org/), and refused with `custom_host_invalid` if those rules would change the
 * text, because another parser might change it differently. Spellings of IP addresses are the exception: they are parsed, and
 * `Egress.checkDestination` checks the address they denote.
 */
export function parseDestination(text: string): URL {
  if (text.length === 0) throw invalid('it is empty');
  if (text.length > MAX_LENGTH) throw invalid(`it is longer than ${MAX_LENGTH} characters`);
  if (!PRINTABLE_ASCII.test(text)) throw invalid('it may have only printable ASCII characters');
  const [, host = '', port, path = '/'] = DESTINATION.exec(text) ?? [];
  if (host === '')
    throw invalid('it must be http:// or https:// with a host, without credentials, query or fragment');
  if (port !== undefined && !PORT.test(port)) throw invalid('the port must be a number from 1 to 65535');
  return agreeing(parsed(text), host, path);
}

function parsed(text: string): URL {
  try {
    return new URL(text);
  } catch {
    throw invalid('the host or the port cannot be read');
  }
}

function agreeing(url: URL, host: string, path: string): URL {
  if (url.hostname !== host.toLowerCase() && !IP_LITERAL.test(url.hostname))
    throw invalid('the host is not in its normal form');
  if (url.pathname !== path) throw invalid('the path is not in its normal form');
  return url;
}

const invalid = (detail: string) => new AppError('custom_host_invalid', { detail });

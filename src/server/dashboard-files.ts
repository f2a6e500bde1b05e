import { randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { extname, join } from 'node:path';
import { COOKIE_OVER_HTTP, COOKIE_OVER_HTTPS } from '../common/http/session-cookie-names.js';

const ROOT = '/ui';
const SHELL = 'index.html';
const ASSETS = 'assets/';
/** Written by the build where each response needs its own nonce. Also named in `dashboard/vite.config.ts`. */
const NONCE_PLACEHOLDER = '__CSP_NONCE__';
const NONCE_BYTES = 16;
/** Where the shell records whether the browser sent a session. Also named in `dashboard/index.html`. */
const SESSION_PLACEHOLDER = '__SESSION__';

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};

/** Encodings prepared by the build, smallest first. */
const ENCODINGS = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const;

/** Part of every response below `/ui`. https://developer.mozilla.org/docs/Web/HTTP/Reference/Headers */
const SECURITY_HEADERS = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
} as const;

interface StoredFile {
  readonly type: string;
  readonly plain: Buffer;
  readonly encoded: ReadonlyMap<string, Buffer>;
}

/**
 * Serves the built dashboard under `/ui`. All files are read once, so no request reads the disk, needs the database, or can name a path
 * outside the list. Files under `/ui/assets/` have a hash in their name and never change; every other path below `/ui` gets the shell,
 * whose router reads the URL.
 */
export class DashboardFiles {
  private constructor(
    private readonly files: ReadonlyMap<string, StoredFile>,
    private readonly shell: string,
  ) {}

  /** Rejects when `folder` contains no built dashboard: run `npm run build`. */
  static async read(folder: string): Promise<DashboardFiles> {
    const names = await readdir(folder, { recursive: true });
    const known = new Set(names.map((name) => name.replaceAll('\\', '/')));
    const files = new Map<string, StoredFile>();
    for (const name of known) {
      const type = TYPES[extname(name)];
      if (type === undefined || name === SHELL) continue;
      files.set(name, {
        type,
        plain: await readFile(join(folder, name)),
        encoded: await encodedOf(folder, name, known),
      });
    }
    return new DashboardFiles(files, await readFile(join(folder, SHELL), 'utf8'));
  }

  /** Responds and returns true when the request is for the dashboard. */
  answer(request: IncomingMessage, response: ServerResponse): boolean {
    const path = pathOf(request);
    if (path === '/' && isBrowserVisit(request)) redirect(response);
    else if (path === ROOT) redirect(response);
    else if (!path.startsWith(`${ROOT}/`)) return false;
    else if (!isReading(request)) refuseMethod(response);
    else this.send(path.slice(ROOT.length + 1), request, response);
    return true;
  }

  private send(name: string, request: IncomingMessage, response: ServerResponse): void {
    const file = this.files.get(name);
    if (file) sendFile(file, name, request, response);
    // The shell in place of a missing script would cause a syntax error without a hint.
    else if (name.startsWith(ASSETS))
      response.writeHead(404, { ...SECURITY_HEADERS, 'cache-control': 'no-store' }).end();
    else this.sendShell(request, response);
  }

  private sendShell({ method, headers }: IncomingMessage, response: ServerResponse): void {
    const nonce = randomBytes(NONCE_BYTES).toString('base64');
    const session = hasSessionCookie(headers.cookie) ? 'presented' : 'none';
    const body = Buffer.from(
      this.shell.replaceAll(NONCE_PLACEHOLDER, nonce).replace(SESSION_PLACEHOLDER, session),
    );
    response.writeHead(200, {
      ...SECURITY_HEADERS,
      'content-type': TYPES['.html'],
      'content-length': body.length,
      'cache-control': 'no-store',
      'content-security-policy': contentSecurityPolicy(nonce),
    });
    response.end(method === 'HEAD' ? undefined : body);
  }
}

/** True for paths of the dashboard that need no database. Excludes the redirect of `/`, which can wait for one. */
export const isDashboardPath = (url: string): boolean => /^\/ui(?:[/?]|$)/.test(url);

/** No eval, no other origins, no framing. Every style and script has the nonce of its own response. */
const contentSecurityPolicy = (nonce: string): string =>
  [
    "default-src 'none'",
    `script-src 'self' 'nonce-${nonce}'`,
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data: blob:",
    "font-src 'self'",
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');

async function encodedOf(
  folder: string,
  name: string,
  known: ReadonlySet<string>,
): Promise<Map<string, Buffer>> {
  const encoded = new Map<string, Buffer>();
  for (const [encoding, suffix] of ENCODINGS)
    if (known.has(name + suffix)) encoded.set(encoding, await readFile(join(folder, name + suffix)));
  return encoded;
}

function sendFile(file: StoredFile, name: string, request: IncomingMessage, response: ServerResponse): void {
  const accepted = acceptedEncodings(request);
  const encoding = ENCODINGS.map(([one]) => one).find((one) => accepted.has(one) && file.encoded.has(one));
  const body = (encoding && file.encoded.get(encoding)) ?? file.plain;
  response.writeHead(200, {
    ...SECURITY_HEADERS,
    'content-type': file.type,
    'content-length': body.length,
    'cache-control': name.startsWith(ASSETS) ? 'public, max-age=31536000, immutable' : 'no-cache',
    vary: 'accept-encoding',
    ...(encoding && { 'content-encoding': encoding }),
  });
  response.end(request.method === 'HEAD' ? undefined : body);
}

/** Encodings that the client accepts; a weight of 0 refuses one. https://www.rfc-editor.org/rfc/rfc9110#section-12.5.3 */
function acceptedEncodings({ headers }: IncomingMessage): ReadonlySet<string> {
  const offers = headers['accept-encoding']?.toString().split(',') ?? [];
  const accepted = offers.filter((offer) => !/;\s*q=0(?:\.0*)?\s*$/.test(offer));
  return new Set(accepted.map((offer) => (offer.split(';')[0] ?? '').trim().toLowerCase()));
}

/** Only whether there is one: the administration checks its owner and whether it has ended. */
const hasSessionCookie = (cookie = ''): boolean =>
  cookie.includes(`${COOKIE_OVER_HTTP}=`) || cookie.includes(`${COOKIE_OVER_HTTPS}=`);

const pathOf = ({ url = '' }: IncomingMessage): string => url.split('?', 1)[0] ?? '';
const isReading = ({ method }: IncomingMessage): boolean => method === 'GET' || method === 'HEAD';
const isBrowserVisit = (request: IncomingMessage): boolean =>
  isReading(request) && (request.headers.accept ?? '').includes('text/html');

function redirect(response: ServerResponse): void {
  response
    .writeHead(302, {
      ...SECURITY_HEADERS,
      location: `${ROOT}/`,
      vary: 'accept',
      'cache-control': 'no-store',
    })
    .end();
}

function refuseMethod(response: ServerResponse): void {
  response.writeHead(405, { ...SECURITY_HEADERS, allow: 'GET, HEAD', 'cache-control': 'no-store' }).end();
}

import { inject } from 'vitest';
import type {} from '../../test/support/service.global.js';
import { launchBrowser, visit, type Visit } from './browser';
import { type Bootstrap, type Cookie, readBootstrap, type Role, signedIn } from './team';

interface StartOptions extends Omit<NonNullable<Parameters<typeof visit>[2]>, 'session'> {
  /** Null: nobody is signed in. */
  readonly as?: Role | null;
}

/** The built service with a browser in front of it, and four people who sign in as people do. */
export interface Stage {
  readonly base: URL;
  readonly origin: string;
  /** Ports of this machine that the service may call. */
  readonly egressPorts: readonly number[];
  readonly bootstrap: Bootstrap;
  readonly cookieOf: (role: Role) => Cookie;
  /** Opens a path of the service, with the first workspace in the place of `:w`; null opens none yet. */
  readonly start: (path: string | null, options?: StartOptions) => Promise<Visit>;
  /** Calls a model of the sandbox. */
  readonly chat: (key: string, content: string) => Promise<Response>;
  /** Closes all pages. */
  readonly clear: () => Promise<void>;
  readonly close: () => Promise<void>;
}

const ROLES: readonly Role[] = ['owner', 'admin', 'manager', 'member'];

export async function openStage(): Promise<Stage> {
  const service = inject('service');
  if (!service) throw new Error('These tests need the shared service.');
  const base = new URL(service.baseUrl);
  const bootstrap = readBootstrap(service.bootstrapDir);
  const sessions = new Map<Role, Cookie>();
  for (const role of ROLES) sessions.set(role, await signedIn(base, bootstrap, role));
  const cookieOf = (role: Role): Cookie => {
    const cookie = sessions.get(role);
    if (!cookie) throw new Error(`Nobody is ${role}.`);
    return cookie;
  };
  const browser = await launchBrowser();
  const open: Visit[] = [];
  return {
    base,
    origin: base.origin,
    egressPorts: service.egressPorts,
    bootstrap,
    cookieOf,
    start: async (path, { as = 'owner', ...options } = {}) => {
      const visited = await visit(browser, base.origin, { ...options, session: as && cookieOf(as) });
      open.push(visited);
      if (path !== null) await visited.page.goto(base.origin + path.replace(':w', bootstrap.workspace_slug));
      return visited;
    },
    chat: (key, content) =>
      fetch(new URL('/v1/chat/completions', base), {
        method: 'POST',
        headers: {
          'x-gateway-api-key': key,
          'x-gateway-provider': 'sandbox',
          'content-type': 'application/json',
        },
        body: JSON.stringify({ model: 'sandbox-1', messages: [{ role: 'user', content }] }),
      }),
    clear: async () => {
      for (const one of open.splice(0)) await one.close();
    },
    close: () => browser.close(),
  };
}

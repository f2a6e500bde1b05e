import type { IncomingMessage, ServerResponse } from 'node:http';
import { request } from 'node:http';
import type { Plugin } from 'vite';
import { FakeAuth } from './fake-auth.ts';

/**
 * The development server: signs in with a fake, and forwards the administration's requests to a running Gatehouse with the admin key of its
 * `bootstrap.json`. `GATEHOUSE_URL` and `GATEHOUSE_ADMIN_KEY` override address and key.
 */
export function devServer(): Plugin {
  const base = new URL(process.env.GATEHOUSE_URL ?? 'http://127.0.0.1:8787');
  const auth = new FakeAuth(base, process.env.GATEHOUSE_ADMIN_KEY ?? '');
  return {
    name: 'gatehouse-dev-server',
    configureServer(server) {
      server.middlewares.use((incoming, response, next) => {
        const url = incoming.url ?? '';
        if (url === '/ui/dev/parts') incoming.url = '/ui/dev/parts.html';
        if (url.startsWith('/v1/auth/')) void auth.answer(incoming, response);
        else if (url.startsWith('/v1/')) pass(incoming, response, base, auth.adminKey);
        else next();
      });
    },
  };
}

function pass(incoming: IncomingMessage, response: ServerResponse, base: URL, adminKey: string): void {
  const outgoing = request(
    new URL(incoming.url ?? '', base),
    {
      method: incoming.method,
      headers: { ...incoming.headers, cookie: '', host: base.host, 'x-gateway-api-key': adminKey },
    },
    (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    },
  );
  outgoing.on('error', () => response.destroy());
  incoming.pipe(outgoing);
}

import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { FakeAuth } from '../dev/fake-auth.ts';

/**
 * A server before a running Gatehouse: it signs in with the fake of `dev/`, puts the admin key on requests of the administration, and
 * passes everything else as it is, so that pages, headers and data are the real ones.
 */
export async function serveBefore(
  base: URL,
  adminKey: string,
): Promise<{ readonly url: string; close: () => void }> {
  const auth = new FakeAuth(base, adminKey);
  const server = createServer((incoming, response) => {
    if (incoming.url?.startsWith('/v1/auth/')) void auth.answer(incoming, response);
    else pass(incoming, response, base, incoming.url?.startsWith('/v1/') ? adminKey : null);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, close: () => server.close().closeAllConnections() };
}

function pass(incoming: IncomingMessage, response: ServerResponse, base: URL, adminKey: string | null): void {
  const key = adminKey === null ? {} : { 'x-gateway-api-key': adminKey };
  const headers = { ...incoming.headers, ...key, host: base.host, cookie: '' };
  const outgoing = request(
    new URL(incoming.url ?? '', base),
    { method: incoming.method, headers },
    (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    },
  );
  outgoing.on('error', () => response.destroy());
  response.on('close', () => outgoing.destroy());
  incoming.pipe(outgoing);
}

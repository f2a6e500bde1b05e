/**
 * The baseline: the cost of Fastify and undici when they only forward. No authentication, log, cost or limits. Any further time of a
 * gateway on the same stack is its own.
 *
 *   node bare-forwarder.mjs <port> <upstream origin>
 */
import Fastify from 'fastify';
import { Agent, request } from 'undici';

const [port, origin] = process.argv.slice(2);
const HOP_BY_HOP = new Set([
  'connection',
  'keep-alive',
  'transfer-encoding',
  'host',
  'content-length',
  'expect',
]);
const dispatcher = new Agent({ connections: null, pipelining: 1 });

function endToEnd(headers) {
  const kept = {};
  for (const name in headers) if (!HOP_BY_HOP.has(name)) kept[name] = headers[name];
  return kept;
}

const app = Fastify({ bodyLimit: 32 * 1024 * 1024 });
app.removeContentTypeParser('application/json');
app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) =>
  done(null, body),
);
app.post('/v1/*', async (incoming, reply) => {
  const answer = await request(origin + incoming.url, {
    method: 'POST',
    headers: endToEnd(incoming.headers),
    body: incoming.body,
    dispatcher,
  });
  const length = answer.headers['content-length'];
  reply.code(answer.statusCode).headers(endToEnd(answer.headers));
  if (length) reply.header('content-length', length);
  return reply.send(answer.body);
});
await app.listen({ port: Number(port), host: '127.0.0.1' });

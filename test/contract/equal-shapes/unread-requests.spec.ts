import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { endpoints } from '../../../src/providers/endpoints/index.js';
import type { Provider } from '../../../src/providers/provider.js';
import type { EndpointOperation } from '../../../src/providers/endpoint.js';
import { Dice, oddJsonBody, randomBody } from '../../support/random-bodies.js';
import { SeededRandom } from '../../support/random.js';
import { CASES } from './endpoint-cases.js';
import { CALLED, type Exchanged, Rig, typed } from './rig.js';
import { basePathOf, targetOf } from './targets.js';

const SEED = SeededRandom.seedFrom('EQUAL_SHAPES_SEED');
const QUERIES = ['', '?', '?a=1&a=2&b=%2f..&c', '?x=%zz&%20=+', '?after=%22é%22'.replace('é', '%C3%A9')];
/** Path segments in unusual encodings. */
const IDS = ['file-1', 'a%20b%C3%A9', 'X~._-!$*()', 'a:b@c;d=e', 'ID%3a1%2C2'];

let rig: Rig;
beforeAll(async () => {
  rig = await Rig.start();
});
afterAll(() => rig.close());

/** Operations that the gateway does not read. It implements the output of a batch itself. */
const UNREAD: readonly EndpointOperation[] = endpoints
  .filter(({ body, usage }) => body === 'opaque' && usage === null)
  .flatMap(({ operations }) => operations)
  .filter(({ path }) => path !== '/batches/{id}/output');

interface Sent {
  readonly method: string;
  readonly path: string;
  readonly target: string;
  readonly isEmpty?: boolean;
  readonly isJson?: boolean;
}

async function exchange(dice: Dice, provider: Provider, { method, path, isEmpty, isJson }: Sent) {
  const takesBody = method !== 'GET' && method !== 'HEAD' && !isEmpty;
  const sent = takesBody ? (isJson ? oddJsonBody : randomBody)(dice) : null;
  const planned = randomBody(dice);
  const body = method === 'HEAD' ? Buffer.alloc(0) : planned.bytes;
  const done = await rig.exchange(
    {
      method,
      path,
      headers: {
        'x-gateway-virtual-key': provider.id,
        'X-Odd': 'a  b',
        ...Object.fromEntries(sent?.headers ?? []),
      },
      ...(sent && { body: sent.bytes }),
    },
    {
      status: dice.pick([200, 201, 404, 409]),
      headers: typed('application/x-odd', planned.headers.slice(1)),
      body,
    },
  );
  return { done, sent: sent?.bytes ?? Buffer.alloc(0), answer: body };
}

function compare(
  title: string,
  one: Sent,
  { done, sent, answer }: Awaited<ReturnType<typeof exchange>>,
): void {
  const { received, answer: given }: Exchanged = done;
  if (!received) throw new Error(`${title}: nothing was sent, ${given.status} ${given.body.toString()}`);
  expect([received.method, received.target], title).toEqual([one.method, one.target]);
  expect(received.body.equals(sent), title).toBe(true);
  expect(received.headers, title).toContainEqual(['X-Odd', 'a  b']);
  const framing = received.headers.filter(([name]) => /^(content-length|transfer-encoding)$/i.test(name));
  if (sent.length > 0) expect(framing, title).toEqual([['content-length', String(sent.length)]]);
  expect(given.body.equals(answer), title).toBe(true);
}

const titled = ({ id }: Provider, { method, path }: Sent): string =>
  `${id} ${method} ${path} (EQUAL_SHAPES_SEED=${SEED})`;

async function check(dice: Dice, provider: Provider, one: Sent): Promise<void> {
  compare(titled(provider, one), one, await exchange(dice, provider, one));
}

describe('requests that the gateway does not read pass byte for byte', () => {
  it.each(CALLED)('files, batches and other stored objects at $id', async (provider) => {
    const dice = new Dice(SEED + CALLED.indexOf(provider));
    for (let turn = 0; turn < 12; turn++) {
      const { method, path: pattern } = dice.pick(UNREAD);
      const path = pattern.replaceAll(/\{\w+\}/g, () => dice.pick(IDS.slice(0, 3))) + dice.pick(QUERIES);
      const target = targetOf(provider, 'files', path, '');
      await check(dice, provider, { method, path: `/v1${path}`, target });
    }
  });

  it.each(CALLED)('unknown paths, with every method, at $id', async (provider) => {
    const dice = new Dice(SEED + CALLED.indexOf(provider));
    for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'])
      for (const isEmpty of [true, false]) {
        const path = `/odd/${IDS.map((id) => id).join('/')}//x/${dice.pick(QUERIES)}`;
        const target = targetOf(provider, 'files', path, '', { isEndpoint: false });
        await check(dice, provider, { method, path: `/v1${path}`, target, isEmpty });
      }
  });

  it.each(CALLED)('/v1/proxy at $id', async (provider) => {
    const dice = new Dice(SEED + CALLED.indexOf(provider));
    for (const { path } of CASES) {
      const target = targetOf(provider, 'files', path, '', { isEndpoint: false });
      expect(target.startsWith(basePathOf(provider) + path)).toBe(true);
      for (const isJson of [true, false])
        await check(dice, provider, { method: 'POST', path: `/v1/proxy${path}`, target, isJson });
    }
  });
});

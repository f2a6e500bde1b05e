import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { rawExchange } from '../../../test/support/raw-client.js';
import { BodyCapture } from '../recording/capture.js';
import { FormBody } from './form-body.js';
import { BodyStream } from './request-body.js';

const MIB = 1024 * 1024;
const FORM = '--b\r\ncontent-disposition: form-data; name="file"; filename="f"\r\n\r\n';

type OpenBody = (request: IncomingMessage) => AsyncIterable<Buffer> | Promise<AsyncIterable<Buffer>>;

/** Responds as soon as the first chunk of a body has arrived, and reads no more of it. */
async function served(open: OpenBody): Promise<{ readonly url: string; readonly close: () => void }> {
  const server = createServer((request, response) => {
    void (async () => {
      for await (const piece of await open(request)) {
        response
          .writeHead(413, { 'content-length': '0', 'x-read': piece.length > 0 ? 'some' : 'none' })
          .end();
        break;
      }
    })();
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, close: () => server.close().closeAllConnections() };
}

describe('a body that its reader does not read to its end', () => {
  let close = (): void => undefined;
  afterEach(() => {
    close();
  });

  it.each<[string, OpenBody]>([
    ['passes unread', (request) => new BodyStream(request, new BodyCapture(false))],
    [
      'is a form',
      async (request) => {
        const form = new FormBody(request, new BodyCapture(false), 'b', MIB);
        await form.readHead(false);
        return form;
      },
    ],
  ])('is still read from the client, and the next request is served, where it %s', async (_, open) => {
    const server = await served(open);
    close = server.close;
    const body = Buffer.concat([Buffer.from(FORM), Buffer.alloc(8 * MIB, 'a')]);
    const head = `POST / HTTP/1.1\r\nhost: g\r\ncontent-length: ${body.length}\r\n\r\n`;

    const { answers } = await rawExchange(server.url, [head, body, head, body], {
      answers: 2,
      waitMs: 5_000,
    });

    expect(answers.map(({ status }) => status)).toEqual([413, 413]);
  });
});

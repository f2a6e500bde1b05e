import { createServer, type Server } from 'node:http';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { listenOnOneOf } from '../../test/support/upstreams/listen.js';
import { accessibilityProblems } from './browser';
import { openStage, type Stage } from './stage';

const MEGABYTE = 1_048_576;
const LARGE = 5 * MEGABYTE;
const SCRIPT =
  '</pre><script>globalThis.wasRun = true</script><img src=x onerror="globalThis.wasRun = true">';
/** Turns the text after it to the left, and ends that. */
const TURNED = '\u202egnp.exe\u202c';
const INVALID = Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0xc3, 0x28, 0x00, 0x80]);

let stage: Stage;
let upstream: Server;
let port: number;
beforeAll(async () => {
  stage = await openStage();
  upstream = createServer((request, response) => {
    request.resume();
    request.on('end', () => response.writeHead(200, { 'content-type': 'application/json' }).end(INVALID));
  });
  port = await listenOnOneOf(upstream, stage.egressPorts);
});
afterEach(() => stage.clear());
afterAll(async () => {
  await stage.close();
  upstream.close();
});

/** Sends a request and opens it in the log, on this tab. */
async function opened(answer: Response, tab: string) {
  await answer.arrayBuffer();
  const id = answer.headers.get('x-gateway-request-id') ?? '';
  await expect
    .poll(async () => {
      const headers = { 'x-gateway-api-key': stage.bootstrap.admin_api_key };
      return (await fetch(new URL(`/v1/logs/${id}`, stage.base), { headers })).status;
    })
    .toBe(200);
  const { page, problems } = await stage.start(`/ui/w/:w/logs/${id}?tab=${tab}`);
  await page.getByRole('tabpanel').waitFor();
  return { page, problems, id };
}

const chat = (content: string): Promise<Response> => stage.chat(stage.bootstrap.workspace_api_key, content);

const drawer = (page: Page) => page.getByRole('dialog');

describe('a body in the drawer', () => {
  it.each(['messages', 'raw'])(
    'with script tags is text on the tab %s, and nothing of it runs',
    async (tab) => {
      const { page, problems } = await opened(await chat(SCRIPT), tab);
      await drawer(page).getByText('<script>globalThis.wasRun').first().waitFor();

      expect(await drawer(page).locator('script, img').count()).toBe(0);
      expect(await page.evaluate(() => 'wasRun' in globalThis)).toBe(false);
      expect(problems).toEqual([]);
    },
  );

  it.each(['messages', 'raw'])(
    'shows characters that turn the direction of the text by their number on the tab %s',
    async (tab) => {
      const { page } = await opened(await chat(`Run ${TURNED}`), tab);
      await drawer(page).getByText('⟨U+202E⟩gnp.exe⟨U+202C⟩').first().waitFor();

      expect(await drawer(page).textContent()).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/);
    },
  );

  it('of 5 MB says that only its beginning and end are kept, and the page stays quick', async () => {
    const { page, problems } = await opened(await chat('x'.repeat(LARGE)), 'raw');
    await drawer(page).getByText('Only the beginning and the end of this body are stored.').first().waitFor();
    const started = Date.now();
    await page.getByRole('tab', { name: 'Timing' }).click();
    await page.getByRole('tabpanel').getByText('Total').first().waitFor();

    expect(Date.now() - started).toBeLessThan(10_000);
    expect(problems).toEqual([]);
  });

  it('of 5 MB that was stored whole is shown only on request', async () => {
    const { page: first, id } = await opened(await chat('Hello'), 'timing');
    await first.close();
    const { page } = await stage.start(null);
    await page.route(`**/v1/logs/${id}`, async (route) => {
      const answer = await route.fetch();
      const log = (await answer.json()) as { response: object };
      const response = { ...log.response, body: 'y'.repeat(LARGE), body_format: 'text', body_bytes: LARGE };
      await route.fulfill({ response: answer, json: { ...log, response } });
    });
    await page.goto(`${stage.origin}/ui/w/${stage.bootstrap.workspace_slug}/logs/${id}?tab=raw`);
    const show = drawer(page).getByRole('button', { name: 'Show body' });
    await show.waitFor();
    expect((await drawer(page).textContent())?.length).toBeLessThan(MEGABYTE);
    await show.click();
    await expect.poll(async () => (await drawer(page).textContent())?.length).toBeGreaterThan(LARGE);
  });

  it('that is no text is shown as base64, and labelled', async () => {
    const answer = await fetch(new URL('/v1/proxy/echo', stage.base), {
      method: 'POST',
      headers: {
        'x-gateway-api-key': stage.bootstrap.workspace_api_key,
        'x-gateway-provider': 'openai',
        'x-gateway-custom-host': `http://127.0.0.1:${port}/v1`,
        authorization: 'Bearer sk-test',
        'content-type': 'application/octet-stream',
      },
      body: INVALID,
    });
    const { page, problems } = await opened(answer, 'raw');
    await drawer(page).getByText(INVALID.toString('base64')).first().waitFor();
    await drawer(page).getByText('base64').first().waitFor();

    expect(await accessibilityProblems(page)).toEqual([]);
    expect(problems).toEqual([]);
  });
});

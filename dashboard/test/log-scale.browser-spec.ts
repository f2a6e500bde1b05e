import { setTimeout as sleep } from 'node:timers/promises';
import type { CDPSession, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { openStage, type Stage } from './stage';

/** Minutes of scrolling and watching; without it, the same with little of both. */
const isLong = Boolean(process.env['LOG_SCALE']);
const ROWS = isLong ? 100_000 : 1_000;
const PAGE_SIZE = 50;
/** From here on pages are dropped at the other end, so the heap stays as it is. */
const EARLY = ROWS / 10;
const MEGABYTE = 1_048_576;
/** Rows in sight, those beside them, and the page around: far below one element for each row. */
const MOST_NODES = 4_000;

let stage: Stage;
beforeAll(async () => {
  stage = await openStage();
  await (await stage.chat(stage.bootstrap.workspace_api_key, 'Hello')).text();
});
afterEach(() => stage.clear());
afterAll(() => stage.close());

interface Size {
  /** Bytes of objects that are in use, after the garbage is gone. */
  readonly heap: number;
  /** Elements of the page. */
  readonly nodes: number;
}

const inMegabytes = ({ heap }: Size): string => (heap / MEGABYTE).toFixed(1);

async function sizeOf(page: Page, devtools: CDPSession): Promise<Size> {
  await devtools.send('HeapProfiler.collectGarbage');
  const { metrics } = await devtools.send('Performance.getMetrics');
  const heap = metrics.find(({ name }) => name === 'JSHeapUsedSize')?.value ?? NaN;
  return { heap, nodes: await page.locator('*').count() };
}

async function measured(page: Page): Promise<CDPSession> {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Performance.enable');
  return devtools;
}

/**
 * Answers the list within the page, with rows that are numbered in their model, as many as there are to be: only the list is measured, and
 * neither the server nor the way of its answers through the debugger.
 */
async function manyRows(page: Page): Promise<void> {
  const { base, bootstrap } = stage;
  const answer = await fetch(new URL('/v1/logs?page_size=1', base), {
    headers: { 'x-gateway-api-key': bootstrap.admin_api_key },
  });
  const { data, ...list } = (await answer.json()) as { data: Record<string, unknown>[] };
  await page.addInitScript(
    ({ row, list, size, count }) => {
      const send = globalThis.fetch;
      globalThis.fetch = (input, init) => {
        const url = new URL(input instanceof Request ? input.url : String(input), location.href);
        if (url.pathname !== '/v1/logs') return send(input, init);
        const first = Number(url.searchParams.get('cursor') ?? 0);
        const rows = Array.from({ length: size }, (_, at) => ({
          ...row,
          id: crypto.randomUUID(),
          trace_id: crypto.randomUUID(),
          model: `model-${first + at}`,
        }));
        const next = first + size;
        return Promise.resolve(
          Response.json({ ...list, data: rows, next_cursor: next < count ? String(next) : null }),
        );
      };
    },
    { row: data[0], list, size: PAGE_SIZE, count: ROWS },
  );
}

/** Scrolls to the end again and again, until the list is so long. */
const scrollDown = (page: Page, rows: number): Promise<void> =>
  page.evaluate(async (wanted) => {
    const grid = document.querySelector('[role=grid]');
    if (!grid) throw new Error('There is no list.');
    while (Number(grid.getAttribute('aria-rowcount')) <= wanted) {
      grid.scrollTop = grid.scrollHeight;
      await new Promise((resolve) => setTimeout(resolve, 0));
    }
    grid.scrollTop = grid.scrollHeight;
  }, rows);

/** Every row in sight stands where its number says. */
async function numbersInSight(page: Page): Promise<readonly number[]> {
  const rows = await page
    .locator('[data-row]')
    .evaluateAll((all) =>
      all.map((row) => [
        Number(row.getAttribute('data-row')),
        Number(/model-(\d+)/.exec(row.textContent)?.[1]),
      ]),
    );
  for (const [place, number] of rows) expect(number).toBe(place);
  return rows.map(([place = NaN]) => place);
}

/** 100,000 of them with `LOG_SCALE=1 npm run test:browser -- log-scale`, which takes minutes. */
describe(`a list of ${ROWS} requests`, () => {
  it('is scrolled through with a bounded heap, loses no row, and reads earlier rows again', async () => {
    const { page, problems } = await stage.start(null);
    await manyRows(page);
    await page.goto(`${stage.origin}/ui/w/${stage.bootstrap.workspace_slug}/logs?range=24h`);
    await page.locator('[data-row="0"]').waitFor();
    const devtools = await measured(page);
    const sizes: Size[] = [];
    for (const rows of [EARLY, ROWS / 2, ROWS - 1]) {
      await scrollDown(page, rows);
      sizes.push(await sizeOf(page, devtools));
    }
    await page.locator(`[data-row="${ROWS - 1}"]`).waitFor();
    const [early, middle, late] = sizes as [Size, Size, Size];
    console.log(
      `heap in MB at ${EARLY} rows ${inMegabytes(early)}, at ${ROWS / 2} ${inMegabytes(middle)}, at ${ROWS} ${inMegabytes(late)}; ${late.nodes} elements`,
    );

    expect(late.heap - early.heap).toBeLessThan(8 * MEGABYTE);
    expect(late.nodes).toBeLessThan(MOST_NODES);
    expect((await numbersInSight(page)).length).toBeGreaterThan(10);

    const earlier = ROWS - Math.min(7_000, ROWS / 2);
    await page.locator('[role=grid]').evaluate((grid, at) => {
      grid.scrollTop = at * 36;
    }, earlier);
    await page.locator(`[data-row="${earlier + 3}"]`).waitFor({ timeout: 60_000 });
    expect(await numbersInSight(page)).toContain(earlier + 3);
    expect(problems).toEqual([]);
  }, 2_700_000);
});

/** Ten minutes at 50 requests a second with `LOG_SCALE=1`; a few seconds otherwise. */
describe('live updates under a steady load', () => {
  const SECONDS = Number(process.env['LOG_TAIL_SECONDS'] ?? (isLong ? 600 : 15));
  const PER_SECOND = isLong ? 50 : 8;
  const SAMPLES = 12;

  it(
    'show new requests, read the list at most once a second, and keep heap and page as small as they were',
    async () => {
      const { page, problems } = await stage.start('/ui/w/:w/logs?live=on');
      await page.locator('[data-row="0"]').waitFor();
      const devtools = await measured(page);
      let lists = 0;
      page.on('request', (sent) => {
        if (new URL(sent.url()).pathname === '/v1/logs') lists++;
      });
      const load = steadyLoad(PER_SECOND);
      const sizes: Size[] = [];
      let changes = 0;
      let newest: string | null = null;
      const start = performance.now();
      for (let second = 1; second <= SECONDS; second++) {
        await load.second();
        await sleep(Math.max(0, start + second * 1_000 - performance.now()));
        const first = await page.locator('[data-row="0"]').textContent();
        if (first !== newest) changes++;
        newest = first;
        if (second % Math.ceil(SECONDS / SAMPLES) === 0) sizes.push(await sizeOf(page, devtools));
      }
      const answered = await load.end();
      const seconds = (performance.now() - start) / 1_000;
      const heaps = sizes.map(({ heap }) => heap);
      const elements = sizes.map(({ nodes }) => nodes).join(' ');
      console.log(
        `${answered} requests in ${seconds.toFixed(0)} s, ${lists} lists, ${changes} changes; heap in MB: ${sizes.map(inMegabytes).join(' ')}; elements: ${elements}`,
      );

      expect(answered).toBe(SECONDS * PER_SECOND);
      expect(changes).toBeGreaterThan(SECONDS / 3);
      expect(lists).toBeGreaterThan(SECONDS / 3);
      expect(lists).toBeLessThanOrEqual(seconds + 4);
      expect(await page.locator('[data-row]').count()).toBeLessThanOrEqual(PAGE_SIZE);
      for (const { nodes } of sizes) expect(nodes).toBeLessThan(MOST_NODES);
      const third = SAMPLES / 3;
      expect(Math.min(...heaps.slice(-third)) - Math.min(...heaps.slice(0, third))).toBeLessThan(
        4 * MEGABYTE,
      );
      expect(problems).toEqual([]);
    },
    SECONDS * 3_000 + 120_000,
  );
});

/** Sends so many requests a second, without waiting for their answers unless two seconds' worth of them are open. */
function steadyLoad(perSecond: number) {
  const open = new Set<Promise<unknown>>();
  let answered = 0;
  const send = async (): Promise<void> => {
    const answer = await stage.chat(stage.bootstrap.workspace_api_key, 'Hello');
    await answer.arrayBuffer();
    if (answer.ok) answered++;
  };
  return {
    second: async (): Promise<void> => {
      for (let n = 0; n < perSecond; n++) {
        const sending: Promise<unknown> = send().finally(() => open.delete(sending));
        open.add(sending);
        if (open.size >= 2 * perSecond) await Promise.race(open);
      }
    },
    end: async (): Promise<number> => {
      await Promise.all(open);
      return answered;
    },
  };
}

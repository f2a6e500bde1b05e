import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { EchoUpstream } from '../../test/support/upstreams/echo.js';
import { accessibilityProblems } from './browser';
import { openStage, type Stage } from './stage';

let stage: Stage;

const chat = (provider: string, trace: string = randomUUID()): Promise<Response> =>
  fetch(new URL('/v1/chat/completions', stage.base), {
    method: 'POST',
    headers: {
      'x-gateway-api-key': stage.bootstrap.workspace_api_key,
      'x-gateway-provider': provider,
      'x-gateway-trace-id': trace,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ model: 'sandbox-1', messages: [{ role: 'user', content: 'Hello' }] }),
  });

beforeAll(async () => {
  stage = await openStage();
  for (const provider of ['sandbox', 'sandbox', 'no-such-provider']) await (await chat(provider)).text();
});
afterEach(() => stage.clear());
afterAll(() => stage.close());

const start: Stage['start'] = (...given) => stage.start(...given);

describe('a failed request', () => {
  it('says above every tab what failed and why, and does not blame a price', async () => {
    const { page } = await start('/ui/w/:w/logs?filter=status:is:400');
    await page.locator('[data-row="0"]').click();
    const note = page.getByRole('note');
    for (const tab of ['Messages', 'Raw', 'Route', 'Cost']) {
      await page.getByRole('tab', { name: tab }).click();
      await note.getByText('status 400').waitFor();
    }
    expect(await note.innerText()).toContain('provider_unknown');
    await page.getByText('No request was sent to a provider, so nothing was charged.').waitFor();
    await page.getByText('No attempt was sent, so no budget was charged.').waitFor();
    expect(await page.getByText('no known price').count()).toBe(0);
  });
});

describe('the filters of the request log', () => {
  it('take negation and bounds of the status, as text and as chips', async () => {
    const { page } = await start('/ui/w/:w/logs?filter=status:min:400');
    await page.getByText('≥').first().waitFor();
    await page.locator('[data-row="0"]').waitFor();
    const statuses = await page.locator('[data-row] [data-tone]').allTextContents();
    expect(statuses.length).toBeGreaterThan(0);
    expect(statuses.every((status) => Number(status) >= 400)).toBe(true);

    await page.getByRole('button', { name: 'Edit as text' }).click();
    await page.getByRole('textbox', { name: 'Filters as text' }).fill('status:not:200 status:max:399');
    await page.keyboard.press('Enter');
    await page.getByText('No request matches these filters').waitFor();
  });
});

describe('a request that was sent without a parameter', () => {
  it('says without which', async () => {
    const upstream = await EchoUpstream.start(stage.egressPorts);
    const answer = await fetch(new URL('/v1/chat/completions', stage.base), {
      method: 'POST',
      headers: {
        'x-gateway-api-key': stage.bootstrap.workspace_api_key,
        'x-gateway-provider': 'anthropic',
        'x-gateway-custom-host': `${upstream.url}/v1`,
        'x-gateway-unsupported-parameters': 'drop',
        'x-api-key': 'unused',
        'content-type': 'application/json',
      },
      body: JSON.stringify({ model: 'claude', messages: [{ role: 'user', content: 'Hello' }], seed: 7 }),
    });
    await answer.text();
    await upstream.stop();
    const id = answer.headers.get('x-gateway-request-id') ?? '';

    await expect
      .poll(async () => {
        const { page } = await start(`/ui/w/:w/logs/${id}`);
        await page.getByRole('dialog').getByText('Dropped:').waitFor({ timeout: 2_000 });
        return page.getByRole('dialog').getByText('Dropped:').textContent();
      })
      .toBe('Dropped: seed');
  });
});

describe('a new filter', () => {
  it('suggests the values that the list has, with their requests, and takes one', async () => {
    const { page, problems } = await start('/ui/w/:w/logs?range=24h');
    await page.getByRole('button', { name: 'Filter', exact: true }).click();
    await page.getByRole('combobox', { name: 'Field' }).click();
    await page.getByRole('option', { name: 'Model', exact: true }).click();
    await page.getByRole('combobox', { name: 'Value' }).click();
    const option = page.getByRole('option', { name: /^sandbox-1/ });
    await option.waitFor();
    expect(await option.textContent()).toMatch(/^sandbox-1[\d.k]+$/);
    expect(await accessibilityProblems(page)).toEqual([]);
    await option.click();
    await page.getByRole('button', { name: 'Apply filter' }).click();
    await page.waitForURL(/filter=model%3Ais%3Asandbox-1/);
    expect(problems).toEqual([]);
  });
});

describe('with reduced motion', () => {
  it('no transition delays a change, so that the list is as long as its rows at once', async () => {
    const { page } = await start('/ui/w/:w/logs');
    await page.locator('[data-row="0"]').waitFor();
    const length = await page.getByRole('grid').evaluate((grid) => {
      const rows = grid.querySelector<HTMLElement>('[role=rowgroup]');
      if (rows) rows.style.height = '90000px';
      return grid.scrollHeight;
    });
    expect(length).toBeGreaterThanOrEqual(90_000);
  });
});

describe('the overview', () => {
  it('reads all of its figures with one request', async () => {
    const { page, problems } = await start(null);
    const asked: string[] = [];
    page.on('request', (request) => {
      const { pathname } = new URL(request.url());
      if (pathname.startsWith('/v1/analytics/')) asked.push(pathname);
    });
    await page.goto(`${stage.origin}/ui/w/${stage.bootstrap.workspace_slug}/overview?range=24h`);
    await page.getByRole('link', { name: 'sandbox-1' }).first().waitFor();
    await page.waitForLoadState('networkidle');

    expect(asked).toEqual(['/v1/analytics/overview']);
    expect(problems).toEqual([]);
  });

  it('names a provider that fails, and opens these failures', async () => {
    const upstream = await EchoUpstream.start(stage.egressPorts);
    await upstream.stop();
    const failures = 10;
    for (let sent = 0; sent < failures; sent++) {
      const answer = await fetch(new URL('/v1/chat/completions', stage.base), {
        method: 'POST',
        headers: {
          'x-gateway-api-key': stage.bootstrap.workspace_api_key,
          'x-gateway-provider': 'mistral-ai',
          'x-gateway-custom-host': `${upstream.url}/v1`,
          authorization: 'Bearer unused',
          'content-type': 'application/json',
        },
        body: JSON.stringify({
          model: 'mistral-large-latest',
          messages: [{ role: 'user', content: 'Hello' }],
        }),
      });
      expect(answer.status).toBe(502);
      await answer.text();
    }

    const { page } = await start(null);
    await expect
      .poll(async () => {
        await page.goto(`${stage.origin}/ui/w/${stage.bootstrap.workspace_slug}/overview`);
        const line = page.getByRole('status').filter({ hasText: 'mistral-ai' });
        await line.waitFor({ timeout: 2_000 });
        return line.textContent();
      })
      .toContain(`failed 100.0 % of ${failures} requests`);
    await page
      .getByRole('status')
      .filter({ hasText: 'mistral-ai' })
      .getByRole('link', { name: 'Show requests' })
      .click();
    await page.locator(`[data-row="${failures - 1}"]`).waitFor();
    expect(await page.locator('[data-row]').count()).toBe(failures);
    const statuses = await page.locator('[data-row] [data-tone]').allTextContents();
    expect(new Set(statuses)).toEqual(new Set(['502']));
  });
});

describe.each(['light', 'dark'])('a saved view in the %s theme', (theme) => {
  it('is saved from what is shown, opened from its menu, and removed', async () => {
    const name = `Errors ${theme}`;
    const { page, problems } = await start('/ui/w/:w/logs?filter=status:min:400&range=24h', {
      isDark: theme === 'dark',
    });
    await page.getByRole('button', { name: 'Saved views' }).click();
    await page.getByRole('button', { name: 'Save this view' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill(name);
    await page.getByRole('button', { name: 'Save view', exact: true }).click();
    await page.getByRole('button', { name: new RegExp(`^${name}`) }).waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);

    const { page: other } = await start('/ui/w/:w/logs');
    await other.getByRole('button', { name: 'Saved views' }).click();
    await other.getByRole('button', { name: new RegExp(`^${name}`) }).click();
    await other.waitForURL(/filter=status%3Amin%3A400/);
    expect(other.url()).toContain('range=24h');
    await other.getByRole('button', { name: 'Saved views' }).click();
    await other.getByRole('button', { name: `Remove ${name}` }).click();
    await other.getByText('No saved views').waitFor();
    expect(problems).toEqual([]);
  });
});

describe('an export of the view', () => {
  it('has the requests that the filters let in, and is downloaded', async () => {
    const { page, problems } = await start('/ui/w/:w/logs?filter=status:max:299');
    await page.getByRole('button', { name: 'Export' }).click();
    await page.locator('button:enabled', { hasText: 'Start export' }).waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    await page.getByRole('button', { name: 'Start export' }).click();
    const button = page.getByRole('button', { name: 'Download file' });
    await button.waitFor({ timeout: 30_000 });
    const [download] = await Promise.all([page.waitForEvent('download'), button.click()]);
    const text = readFileSync(await download.path(), 'utf8');
    const rows = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { response_status_code: number });

    expect(rows.length).toBeGreaterThan(0);
    expect(rows.every(({ response_status_code: status }) => status === 200)).toBe(true);
    expect(problems).toEqual([]);
  });
});

describe('live updates', () => {
  it('say that they are interrupted, and go on by themselves', async () => {
    const trace = randomUUID();
    await (await chat('sandbox', trace)).text();
    const { page } = await start(`/ui/w/:w/logs?filter=trace:is:${trace}`);
    await page.getByText('1 shown').waitFor();
    await page.route('**/v1/logs/stream*', (route) => route.fulfill({ status: 503, body: '' }));
    await page.getByRole('button', { name: 'Live' }).click();
    await page.getByText('Live updates are interrupted. Reconnecting.').waitFor();
    await page.unroute('**/v1/logs/stream*');
    await page.getByText('Live updates are interrupted. Reconnecting.').waitFor({ state: 'detached' });

    await (await chat('sandbox', trace)).text();
    await page.getByText('2 shown').waitFor();
  });

  it('let the histogram count new requests', async () => {
    const trace = randomUUID();
    await (await chat('sandbox', trace)).text();
    const { page } = await start(`/ui/w/:w/logs?live=on&filter=trace:is:${trace}`);
    await page.getByText('1 shown').waitFor();
    await (await chat('sandbox', trace)).text();
    await page.getByText('2 shown').waitFor();
    await page.getByText('2 requests', { exact: true }).waitFor();
  });

  it('loads the first page only, and moves no row while the user has scrolled down', async () => {
    const trace = randomUUID();
    for (let n = 0; n < 60; n++) await (await chat('sandbox', trace)).text();
    await expect
      .poll(async () => {
        const headers = { 'x-gateway-api-key': stage.bootstrap.admin_api_key };
        const list = await fetch(new URL(`/v1/logs?page_size=100&trace_id=${trace}`, stage.base), {
          headers,
        });
        return ((await list.json()) as { data: unknown[] }).data.length;
      })
      .toBe(60);
    const { page } = await start(`/ui/w/:w/logs?live=on&filter=trace:is:${trace}`);
    await page.getByText('50 shown').waitFor();
    await page.getByRole('grid').evaluate((grid) => {
      grid.scrollTop = grid.scrollHeight;
    });
    await page.getByText('60 shown').waitFor();
    const cursors: (string | null)[] = [];
    page.on('request', (sent) => {
      const { pathname, searchParams } = new URL(sent.url());
      if (pathname === '/v1/logs') cursors.push(searchParams.get('cursor'));
    });
    const row = page.locator('[data-row="45"]');
    const before = await row.textContent();

    await (await chat('sandbox', trace)).text();
    await page.getByRole('button', { name: 'Show new requests' }).waitFor();
    expect(await row.textContent()).toBe(before);
    expect(cursors).toEqual([]);

    await page.getByRole('button', { name: 'Show new requests' }).click();
    await page.getByText('50 shown').waitFor();
    await page.getByRole('button', { name: 'Show new requests' }).waitFor({ state: 'detached' });
    expect(cursors.length).toBeGreaterThan(0);
    expect(cursors.every((cursor) => cursor === null)).toBe(true);
  });
});

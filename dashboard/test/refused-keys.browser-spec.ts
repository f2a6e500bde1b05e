import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { accessibilityProblems } from './browser';
import { openStage, type Stage } from './stage';

let stage: Stage;
beforeAll(async () => {
  stage = await openStage();
  for (let at = 0; at < 3; at++)
    await fetch(new URL('/v1/chat/completions', stage.base), {
      method: 'POST',
      headers: { 'x-gateway-api-key': 'gw_ws_from-an-old-deployment' },
      body: '{}',
    });
});
afterEach(() => stage.clear());
afterAll(() => stage.close());

const PAGE = '/ui/org/refused-keys';
const END = '…ment';

describe('the page of refused keys', () => {
  it('has a row with address, end of the key, path and number, and a filter by reason in its address', async () => {
    const { page, problems } = await stage.start(PAGE);
    const row = page.getByRole('row').filter({ hasText: END });
    await row.waitFor({ timeout: 20_000 });
    const text = await row.innerText();
    for (const part of ['Not an API key', '127.0.0.1', '/v1/chat/completions', '3'])
      expect(text).toContain(part);
    expect(await page.content()).not.toContain('from-an-old-deployment');

    await page.goto(new URL(`${PAGE}?filter=reason:is:expired`, stage.base).href);
    await page.getByText('No request was refused').waitFor();
    expect(problems).toEqual([]);
  });

  it.each(['light', 'dark'])('is accessible in %s', async (theme) => {
    const { page } = await stage.start(PAGE, { isDark: theme === 'dark' });
    await page.getByText(END).first().waitFor({ timeout: 20_000 });

    expect(await accessibilityProblems(page)).toEqual([]);
  });

  it('fits 360 pixels', async () => {
    const { page } = await stage.start(PAGE, { viewport: { width: 360, height: 740 } });
    await page.getByText('127.0.0.1').filter({ visible: true }).first().waitFor({ timeout: 20_000 });

    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);
  });

  it('is not offered to members, who read which permission is missing', async () => {
    const { page } = await stage.start(PAGE, { as: 'member' });
    await page.getByText('You need the permission audit_logs.list.').waitFor();

    expect(await page.getByRole('link', { name: 'Refused keys' }).count()).toBe(0);
  });
});

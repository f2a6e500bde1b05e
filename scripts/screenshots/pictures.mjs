/** The screens to photograph, and what to open on them first. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { toPalette } from './png.mjs';

const SIZE = { width: 1280, height: 800 };
const ARGUMENTS = ['--no-sandbox', '--disable-gpu', '--hide-scrollbars', '--font-render-hinting=none'];

/** `path` is below the workspace; `ready` is a text that shows that the screen is complete; `scale` is pixels per CSS pixel. */
const PICTURES = [
  { name: 'overview', path: 'overview', ready: 'claude-sonnet-4-5' },
  { name: 'overview-2x', path: 'overview', ready: 'claude-sonnet-4-5', scale: 2 },
  { name: 'overview-dark', path: 'overview', ready: 'claude-sonnet-4-5', isDark: true },
  { name: 'logs', path: 'logs', ready: 'gpt-5' },
  { name: 'request-route', path: 'logs/:fallback?tab=route', ready: 'Fell back' },
  { name: 'request-cost-dark', path: 'logs/:fallback?tab=cost', ready: 'Cost', isDark: true },
  { name: 'config-editor', path: 'configs/pc-support', ready: 'Simulate a request', prepare: simulate },
  { name: 'virtual-keys', path: 'virtual-keys', ready: 'openai-prod' },
  { name: 'api-keys', path: 'api-keys', ready: 'support-bot' },
  { name: 'new-api-key', path: 'api-keys?create=on', ready: 'This key can', prepare: tickScopes },
  { name: 'limits', path: 'limits', ready: 'support-bot' },
  { name: 'people', path: '/ui/org/people', ready: 'ravi@acme.example' },
  { name: 'audit-log', path: 'audit-log', ready: 'records' },
];

/** Highlights the route of a request. */
async function simulate(page) {
  await page.getByLabel('Metadata (JSON)').fill('{"plan":"enterprise"}');
  await page.getByRole('button', { name: 'Simulate' }).click();
  await page.locator('svg [data-taken]').first().waitFor();
}

async function tickScopes(page) {
  await page.getByRole('textbox', { name: 'Name' }).fill('recommendations');
  await page.getByRole('button', { name: 'Call models' }).click();
  await page.getByRole('complementary').getByText('call models').first().waitFor();
}

/** Takes all of them, or the named ones. */
export async function takePictures({ base, bootstrap }, { cookie, fallback }, { folder, names }) {
  const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';
  const browser = await chromium.launch({ executablePath, args: ARGUMENTS });
  const taken = [];
  try {
    for (const picture of PICTURES) {
      if (names.length > 0 && !names.includes(picture.name)) continue;
      const path = picture.path.replace(':fallback', fallback);
      const address = path.startsWith('/') ? base + path : `${base}/ui/w/${bootstrap.workspace_slug}/${path}`;
      const png = toPalette(await photograph(browser, { ...picture, address, base, cookie }));
      writeFileSync(join(folder, `${picture.name}.png`), png);
      taken.push({ name: picture.name, bytes: png.length });
    }
  } finally {
    await browser.close();
  }
  return taken;
}

async function photograph(browser, { address, base, cookie, ready, isDark, scale = 1, prepare }) {
  const context = await browser.newContext({
    viewport: SIZE,
    deviceScaleFactor: scale,
    colorScheme: isDark ? 'dark' : 'light',
    reducedMotion: 'reduce',
    timezoneId: 'Europe/Berlin',
  });
  try {
    await context.addCookies([{ ...cookie, url: base }]);
    const page = await context.newPage();
    await page.goto(address);
    await page.getByText(ready).first().waitFor();
    await page.waitForLoadState('networkidle');
    await page.waitForFunction(() => !document.querySelector('.mantine-Skeleton-root'));
    await prepare?.(page);
    await page.evaluate(() => document.fonts.ready);
    await page.mouse.move(0, SIZE.height - 1);
    return await page.screenshot({ animations: 'disabled', caret: 'hide' });
  } finally {
    await context.close();
  }
}

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import type { Cookie } from './team';

const ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** The browser of the distribution; `CHROMIUM` names another. */
export const launchBrowser = (): Promise<Browser> =>
  chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ARGUMENTS });

export interface Visit {
  readonly page: Page;
  /** What no page may do: errors of scripts, violations of the policy, answers of 500 and more, requests to another origin. */
  readonly problems: readonly string[];
  readonly close: () => Promise<void>;
}

interface VisitOptions {
  readonly isDark?: boolean;
  /** The cookie of a session; without it nobody is signed in. */
  readonly session?: Cookie | null;
  readonly viewport?: { readonly width: number; readonly height: number };
}

/** A new person in front of the page, with nothing stored. */
export async function visit(browser: Browser, origin: string, options: VisitOptions = {}): Promise<Visit> {
  const { isDark = false, session = null, viewport = { width: 1280, height: 800 } } = options;
  const context = await browser.newContext({
    viewport,
    colorScheme: isDark ? 'dark' : 'light',
    reducedMotion: 'reduce',
  });
  if (session) await context.addCookies([{ ...session, url: origin }]);
  const page = await context.newPage();
  const problems: string[] = [];
  await watch(context, page, origin, problems);
  return { page, problems, close: () => context.close() };
}

async function watch(context: BrowserContext, page: Page, origin: string, problems: string[]): Promise<void> {
  await context.exposeFunction('reportViolation', (text: string) => problems.push(`policy: ${text}`));
  await context.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) => {
      (globalThis as unknown as { reportViolation: (text: string) => void }).reportViolation(
        `${violatedDirective} ${blockedURI}`,
      );
    });
  });
  page.on('pageerror', (error) => problems.push(`error: ${error.message}`));
  page.on(
    'response',
    (response) => response.status() >= 500 && problems.push(`${response.status()} ${response.url()}`),
  );
  page.on('request', (request) => {
    const url = new URL(request.url());
    if (url.origin !== origin && !['data:', 'blob:'].includes(url.protocol))
      problems.push(`other origin: ${request.url()}`);
  });
}

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface AxeResults {
  readonly violations: readonly {
    readonly id: string;
    readonly impact: string | null;
    readonly nodes: readonly { readonly target: readonly unknown[]; readonly failureSummary?: string }[];
  }[];
}

/** Serious and critical defects of accessibility, each with where it is. https://github.com/dequelabs/axe-core */
export async function accessibilityProblems(page: Page): Promise<readonly string[]> {
  // Colours on their way from one state to another have the contrast of neither.
  await page.evaluate(async () => {
    const ending = document
      .getAnimations()
      .filter(({ effect }) => effect?.getComputedTiming().endTime !== Infinity);
    await Promise.race([
      Promise.allSettled(ending.map(({ finished }) => finished)),
      new Promise((resolve) => setTimeout(resolve, 2_000)),
    ]);
  });
  // Evaluated by the debugger, because the page's own policy forbids what it did not send.
  await page.evaluate(AXE);
  const { violations } = await page.evaluate(() =>
    (
      globalThis as unknown as { axe: { run: (node: unknown, options: object) => Promise<AxeResults> } }
    ).axe.run(document, { resultTypes: ['violations'] }),
  );
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) =>
      nodes
        .slice(0, 3)
        .map(({ target, failureSummary }) => `${id} ${target.join(' ')} ${failureSummary ?? ''}`),
    );
}

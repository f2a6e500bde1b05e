import { access, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { executedFiles } from '../support/executed-files.js';
import { aGateway } from '../support/gateway.js';

const DOCS = join(import.meta.dirname, '../../docs');
/** As docs/architecture.md says. */
const FILES_MAX = 35;
/** Stages that the gateway of these tests replaces with its own. */
const REPLACED = new Set(['src/gateway/ingress/front-door.ts', 'src/gateway/upstream/sender.ts']);

/** Longer than the pause between two renewals of leases. */
const BACKGROUND_MS = 1_500;

let page: string;
beforeAll(async () => void (page = await readFile(join(DOCS, 'architecture.md'), 'utf8')));

/** The part of the page about the files of a chat completion. */
function filesPart(): string {
  const [, part = ''] = page.split('## The path of a chat completion in files');
  return part.split('\n## ', 1)[0] ?? '';
}

/** The stages of the page, in their order. */
const stages = (): string[] =>
  [...filesPart().matchAll(/^\d+\. \[(src\/[^\]]+)\]/gm)].map(([, file]) => String(file));

/** The steps of the page that a plain chat completion does not take. */
function furtherSteps(): string[] {
  const [, list = ''] = filesPart().split('executes none of these files:');
  const items = /^- [^]*?(?=\n\n)/m.exec(list)?.[0] ?? '';
  return [...items.matchAll(/\]\(\.\.\/(src\/[^)]+)\)/g)].map(([, file]) => String(file));
}

const ANSWER = JSON.stringify({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1_700_000_000,
  model: 'gpt-4o-mini',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello.' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 9, completion_tokens: 2, total_tokens: 11 },
});

/** The files of the gateway that the second chat completion executes: the first one also fills caches. */
async function filesOfACompletion(): Promise<string[]> {
  const gateway = await aGateway({ answers: [{ chunks: [ANSWER] }] });
  const complete = async () => {
    const response = await gateway.chat({
      model: 'gpt-4o-mini',
      messages: [{ role: 'user', content: 'Say hello.' }],
    });
    expect(response.status).toBe(200);
    await response.text();
  };
  try {
    await complete();
    await gateway.logged();
    const files = await executedFiles(async () => {
      await complete();
      await expect.poll(() => gateway.logs.length).toBe(2);
    });
    // Gateways of earlier tests of this process renew their leases meanwhile.
    const background = new Set(await executedFiles(() => sleep(BACKGROUND_MS)));
    return files.filter((file) => file.startsWith('src/gateway/') && !background.has(file));
  } finally {
    await gateway.close();
  }
}

describe('the page about the architecture', () => {
  it('names files that exist', async () => {
    const links = [...page.matchAll(/\]\((\.\.\/src\/[^)#]+)\)/g)].map(([, link]) => String(link));

    expect(links.length).toBeGreaterThan(stages().length);
    for (const link of links) await expect(access(join(DOCS, link)), link).resolves.toBeUndefined();
  });

  it('lists only stages of the gateway that a chat completion executes', async () => {
    const executed = await filesOfACompletion();
    const listed = stages().filter((file) => file.startsWith('src/gateway/') && !REPLACED.has(file));

    expect(listed.length).toBeGreaterThan(10);
    expect(listed.filter((file) => !executed.includes(file))).toEqual([]);
  });

  it('lists as steps of other requests only files that a plain chat completion does not execute', async () => {
    const executed = await filesOfACompletion();

    expect(furtherSteps().length).toBeGreaterThan(5);
    expect(furtherSteps().filter((file) => executed.includes(file))).toEqual([]);
  });

  it(`is right that a chat completion executes at most ${FILES_MAX} files of the gateway`, async () => {
    expect(page).toContain(`at most ${FILES_MAX} files of the gateway`);
    const executed = await filesOfACompletion();

    expect(executed.length).toBeGreaterThan(stages().length);
    expect(executed.length, executed.join('\n')).toBeLessThanOrEqual(FILES_MAX);
  });
});

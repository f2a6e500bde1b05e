import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { DEFAULT_MODELS, UNPRICED_CODEX_MODELS } from '../../support/default-models.js';
import { CODEX } from './programs/catalog.js';
import { executableOf } from './programs/program.js';

let home: string;
beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), 'gatehouse-catalogue-'));
});
afterAll(() => {
  rmSync(home, { recursive: true, force: true });
});

it("every model of Codex's own catalogue is in the table of default models, whose prices are checked", async () => {
  const [command = '', ...first] = executableOf(CODEX);
  const { stdout } = await promisify(execFile)(command, [...first, 'debug', 'models'], {
    env: { PATH: process.env['PATH'], HOME: home },
    maxBuffer: 64 * 1024 * 1024,
  });
  const { models } = JSON.parse(stdout) as { models: readonly { slug: string }[] };

  const listed = [...(DEFAULT_MODELS['Codex 0.171.0']?.['openai'] ?? []), ...UNPRICED_CODEX_MODELS];
  expect(models.map(({ slug }) => slug).sort()).toEqual(listed.sort());
});

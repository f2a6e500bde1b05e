import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';

const ROOT = resolve(import.meta.dirname, '../..');
const RUNS = 'test/fixtures/unhappy-runs';

it('counts every case that did not pass, every broken file and every error outside the cases as a failure', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-report-'));
  const report = join(folder, 'report.json');
  const { status } = spawnSync(
    process.execPath,
    ['node_modules/vitest/vitest.mjs', 'run', '--config', `${RUNS}/vitest.config.ts`],
    { cwd: ROOT, env: { ...process.env, TEST_REPORT: report }, stdio: 'ignore' },
  );
  const { passed, failures } = JSON.parse(readFileSync(report, 'utf8')) as {
    passed: number;
    failures: { where: string; message: string }[];
  };
  rmSync(folder, { recursive: true });

  expect([status, passed]).toEqual([1, 2]);
  expect(failures.map(({ where, message }) => `${where.replace(`${RUNS}/`, '')}: ${message}`).sort()).toEqual(
    [
      'dying.fixture.ts: takes its process with it: did not run',
      'dying.fixture.ts: the whole file: did not end',
      'outside the cases: This is not caught.',
      'outside the cases: [vitest-pool]: Worker forks emitted error.',
      'set-up.fixture.ts: never runs: skipped: no reason given',
      'set-up.fixture.ts: the whole file: The set-up failed.',
      'skipped.fixture.ts: fails: expected 1 to be 2 // Object.is equality',
      'skipped.fixture.ts: is missing: skipped: no reason given',
      'skipped.fixture.ts: is skipped while it runs: skipped: This machine has no store.',
      'skipped.fixture.ts: is skipped: skipped: no reason given',
    ],
  );
});

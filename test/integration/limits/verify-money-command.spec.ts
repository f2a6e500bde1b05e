import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verifyMoneyCommand } from '../../../src/cli/verify/verify-money-command.js';
import { emptyDatabase } from '../../support/database.js';

describe('gatehouse verify money', () => {
  let parent: string;
  beforeAll(() => {
    parent = mkdtempSync(join(tmpdir(), 'verify-money-'));
  });
  afterAll(() => rmSync(parent, { recursive: true }));

  it('on a data folder without an instance says what to do, and does not make one', async () => {
    const dataDir = join(parent, 'never-started');

    await expect(verifyMoneyCommand({ GATEHOUSE_DATA_DIR: dataDir }, {})).rejects.toMatchObject({
      name: 'LauncherError',
      exitCode: 2,
      message:
        `This release has not run on the data folder ${dataDir}, so there is nothing to verify. ` +
        'Start the service on it first, or correct GATEHOUSE_DATA_DIR or DATABASE_URL.',
    });
    expect(existsSync(dataDir)).toBe(false);
  });

  it('on an empty database says what to do', async () => {
    const database = await emptyDatabase();

    await expect(
      verifyMoneyCommand({ GATEHOUSE_DATA_DIR: parent, DATABASE_URL: database.url }, {}),
    ).rejects.toMatchObject({
      name: 'LauncherError',
      exitCode: 2,
      message: expect.stringContaining('this database'),
    });
    await database.drop();
  });
});

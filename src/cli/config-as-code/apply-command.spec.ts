import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { applyCommand } from './apply-command.js';

/** No service listens on it: https://www.iana.org/assignments/service-names-port-numbers (discard). */
const NOBODY = 'http://127.0.0.1:9';

describe('gatehouse apply against a server that does not respond', () => {
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gatehouse-apply-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const applied = async (text: string): Promise<number> => {
    const file = join(folder, 'file.yaml');
    await writeFile(file, text);
    return applyCommand({ ADMIN_KEY: 'gw_admin_x' }, { file, url: NOBODY, keyEnv: 'ADMIN_KEY' });
  };

  it('still reports what is wrong with the file alone', async () => {
    await expect(applied('workspaces: [{ name: 5 }]')).rejects.toThrow(
      'workspaces[0].name is invalid: it must be a string',
    );
  });

  it('reports that the server does not respond when the file itself is valid', async () => {
    await expect(applied('workspaces: [{ name: Search }]')).rejects.toThrow(
      `There is no service at ${NOBODY}`,
    );
  });
});

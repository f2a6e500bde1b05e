import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { theService } from '../support/world.js';

/**
 * A client made by somebody else's generator from the document that the service itself serves. The generator and the
 * compiler are those of this folder.
 */
const run = promisify(execFile);
const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const service = theService();

interface Journeys {
  travel(place: { baseUrl: string; adminKey: string; unique: string }): Promise<Record<string, unknown>>;
}

describe('a client generated from the OpenAPI document', () => {
  beforeAll(async () => {
    const document = await fetch(`${service.baseUrl}/openapi.json`);
    await mkdir(at('./administration/generated'), { recursive: true });
    await writeFile(at('./administration/generated/openapi.json'), await document.text());
    await run(process.execPath, [
      at('./node_modules/openapi-typescript/bin/cli.js'),
      at('./administration/generated/openapi.json'),
      '--output',
      at('./administration/generated/schema.d.ts'),
    ]);
  });

  it('knows what may be sent and what comes back, and what not', async () => {
    const compiler = at('./node_modules/typescript/bin/tsc');
    const project = at('./administration/tsconfig.json');
    const { stdout } = await run(process.execPath, [compiler, '--project', project]).catch(
      (failure: { stdout: string }) => failure,
    );
    expect(stdout).toBe('');
  });

  it('performs the journeys of an administrator', async () => {
    // Its types are there only now, so the compiler of the project must not follow this import.
    const path: string = at('./administration/journeys.ts');
    const { travel } = (await import(path)) as Journeys;
    const { baseUrl, bootstrap } = service;

    const unique = randomBytes(5).toString('hex');
    expect(await travel({ baseUrl, adminKey: bootstrap.admin_api_key, unique })).toEqual({
      workspaceWithKey: [true, true, 1, 404, 'not_found'],
      credential: [true, 'Typed', 404],
      config: [2, { retry: { attempts: 2 } }],
      invitation: ['pending', 'cancelled'],
    });
  });
});

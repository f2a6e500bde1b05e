import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { pathsOf } from './data-folder.js';
import { writeAtomically } from '../common/files/write-atomically.js';

/** Created by the first start. Clients and scripts read it from `<data folder>/bootstrap.json`. */
const bootstrapFile = z.looseObject({
  organisation_id: z.string(),
  workspace_id: z.string(),
  workspace_slug: z.string(),
  admin_api_key: z.string(),
  workspace_api_key: z.string(),
  base_url: z.string(),
  /** A one-use link that sets the owner's password; null when the settings include one. Absent from files of older releases. */
  setup_url: z.string().nullable().optional(),
});

export type BootstrapFile = z.infer<typeof bootstrapFile>;

export async function writeBootstrapFile(dataDir: string, content: BootstrapFile): Promise<void> {
  await writeAtomically(pathsOf(dataDir).bootstrap, `${JSON.stringify(content, null, 2)}\n`);
}

/** The file, or null when the operator moved it elsewhere. */
export async function readBootstrapFile(dataDir: string): Promise<BootstrapFile | null> {
  try {
    return bootstrapFile.parse(JSON.parse(await readFile(pathsOf(dataDir).bootstrap, 'utf8')));
  } catch {
    return null;
  }
}

/** Updates the address in the file when a later start listens elsewhere. */
export async function refreshBaseUrl(dataDir: string, baseUrl: string): Promise<void> {
  const kept = await readBootstrapFile(dataDir);
  if (!kept || kept.base_url === baseUrl) return;
  const setup_url = kept.setup_url?.replace(kept.base_url, baseUrl) ?? kept.setup_url;
  await writeBootstrapFile(dataDir, {
    ...kept,
    base_url: baseUrl,
    ...(setup_url === undefined ? {} : { setup_url }),
  });
}

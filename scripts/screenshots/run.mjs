/**
 * Takes the screenshots of the documentation: starts a separate service, fills it with a company and two days of traffic, and photographs
 * its screens with Chromium. Run `npm run build` first.
 *
 *   node scripts/screenshots/run.mjs [folder = docs/screenshots] [name …]
 *
 * `CHROMIUM` overrides the browser /usr/bin/chromium.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeDemo } from './demo.mjs';
import { seedHistory } from './history.mjs';
import { startDemo } from './service.mjs';
import { takePictures } from './pictures.mjs';
import { startUpstream } from './upstream.mjs';

const AFTERMATH_MS = 20_000;
const [folder = join(import.meta.dirname, '../../docs/screenshots'), ...names] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });

const upstream = await startUpstream();
const demo = await startDemo([upstream.port]);
try {
  const made = await makeDemo(demo, upstream);
  // So that the newest rows of the list are of all kinds, and not only the real ones.
  await sleep(AFTERMATH_MS);
  const rows = await seedHistory(demo, made);
  console.error(`${rows} requests of the last two days`);
  for (const { name, bytes } of await takePictures(demo, made, { folder, names }))
    console.error(`${name}: ${bytes} bytes`);
} finally {
  await demo.stop();
  await upstream.close();
}

/**
 * Makes the secrets of docker-compose.yml in a folder, each once: the arguments are the folder and the host of the database. Existing files
 * stay as they are, so that an installation keeps its keys and may bring its own.
 */
import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const [folder, databaseHost] = process.argv.slice(2);
if (folder === undefined || databaseHost === undefined) {
  console.error('Usage: node make-secrets.mjs <folder> <database host>');
  process.exit(2);
}

mkdirSync(folder, { recursive: true, mode: 0o700 });
const password = keep('postgres_password', () => randomBytes(24).toString('hex'));
keep('master_key', () => randomBytes(32).toString('base64'));
keep('key_pepper', () => randomBytes(32).toString('base64'));
keep('database_url', () => `postgres://gatehouse:${password}@${databaseHost}:5432/gatehouse`);

/** The content of a file, which is made if it does not exist. */
function keep(name, make) {
  const path = join(folder, name);
  try {
    writeFileSync(path, make(), { flag: 'wx', mode: 0o400 });
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
  }
  return readFileSync(path, 'utf8').trim();
}

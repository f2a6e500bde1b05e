/**
 * Makes the secrets of docker-compose.yml, each once. The arguments are the folder of the gateway, the host of the database, and the folder
 * of the database, which gets a copy of its password and nothing else; then the same two of ClickHouse, if there is one. Existing files
 * stay as they are, so that an installation keeps its keys and may bring its own.
 */
import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const [folder, databaseHost, databaseFolder, clickHouseHost, clickHouseFolder] = process.argv.slice(2);
if (databaseFolder === undefined || (clickHouseHost !== undefined && clickHouseFolder === undefined)) {
  console.error(
    'Usage: node make-secrets.mjs <folder> <database host> <folder of the database> [<ClickHouse host> <folder of ClickHouse>]',
  );
  process.exit(2);
}

for (const path of [folder, databaseFolder]) mkdirSync(path, { recursive: true, mode: 0o700 });
const password = keep('postgres_password', () => randomBytes(24).toString('hex'));
keep('master_key', () => randomBytes(32).toString('base64'));
keep('key_pepper', () => randomBytes(32).toString('base64'));
keep('database_url', () => `postgres://gatehouse:${password}@${databaseHost}:5432/gatehouse`);
keep('postgres_password', () => password, databaseFolder);
if (clickHouseFolder) {
  mkdirSync(clickHouseFolder, { recursive: true, mode: 0o700 });
  const clickHousePassword = keep(
    'clickhouse_password',
    () => randomBytes(24).toString('hex'),
    clickHouseFolder,
  );
  keep('clickhouse_url', () => `http://gatehouse:${clickHousePassword}@${clickHouseHost}:8123/gatehouse`);
}

/** The content of a file, which is made if it does not exist. */
function keep(name, make, into = folder) {
  const path = join(into, name);
  try {
    writeFileSync(path, make(), { flag: 'wx', mode: 0o400 });
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
  }
  return readFileSync(path, 'utf8').trim();
}

import { createDataSource } from './src/schema/data-source.js';
import { loadSettings } from './src/common/settings/settings.js';

const { databaseUrl } = loadSettings(process.env);
if (!databaseUrl)
  throw new Error('DATABASE_URL is missing. Set it to the database that the TypeORM command works on.');

/** For the TypeORM commands: `npm run typeorm -- migration:show -d ormconfig.ts`. The service creates its own data source. */
export const dataSource = createDataSource(databaseUrl.reveal(), 2, 'migrations');

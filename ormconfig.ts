import { createDataSource } from './src/schema/data-source.js';
import { loadSettings } from './src/common/settings/settings.js';

const { databaseUrl } = loadSettings(process.env);
if (!databaseUrl)
  throw new Error('Set DATABASE_URL: the TypeORM commands work on a database that runs already.');

/** For the TypeORM commands, `typeorm migration:show -d ormconfig.js`. The service creates its own. */
export const dataSource = createDataSource(databaseUrl.reveal(), 2, 'migrations');

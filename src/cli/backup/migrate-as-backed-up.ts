import type { DataSource, MigrationInterface } from 'typeorm';
import type { Secret } from '../../common/settings/secret.js';
import { createDataSource } from '../../schema/data-source.js';
import { runMigrations } from '../database/run-migrations.js';
import { LauncherError } from '../launcher-error.js';
import type { BackupManifest } from './manifest.js';

type MigrationClass = new () => MigrationInterface;

const nameOf = (migration: MigrationClass): string => new migration().name ?? migration.name;

/** The migrations of this release, and those that a database of the backup has run. */
function migrationsFor(dataSource: DataSource, { migrations, version }: BackupManifest): MigrationClass[] {
  const known = (dataSource.options.migrations as MigrationClass[] | undefined) ?? [];
  const names = new Set(known.map(nameOf));
  const newer = migrations.filter((name) => !names.has(name));
  if (newer.length > 0)
    throw new LauncherError(
      `The backup was made by Gatehouse ${version}, whose schema is newer than this release's (${newer.join(', ')}). Restore it with that release.`,
    );
  const had = new Set(migrations);
  return known.filter((migration) => had.has(nameOf(migration)));
}

/** Rejects when the backup needs a newer release. Connects to nothing. */
export function checkSchemaOf(manifest: BackupManifest): void {
  migrationsFor(createDataSource('postgres://localhost/unused'), manifest);
}

/** Creates the schema as the backup's database had it. */
export async function migrateAsBackedUp(url: Secret, manifest: BackupManifest): Promise<void> {
  const dataSource = createDataSource(url.reveal(), 2, 'migrations');
  dataSource.setOptions({ migrations: migrationsFor(dataSource, manifest) });
  await migrated(dataSource, url);
}

/** The migrations that this release has beyond those of the backup. */
export const migrateToRelease = (url: Secret): Promise<void> =>
  migrated(createDataSource(url.reveal(), 2, 'migrations'), url);

async function migrated(dataSource: DataSource, url: Secret): Promise<void> {
  await dataSource.initialize();
  try {
    await runMigrations(dataSource, url);
  } finally {
    await dataSource.destroy();
  }
}

import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

const common = { pool: 'forks' as const, environment: 'node' as const };
/** What the code under test logs would hide what the tests say. The built service speaks: its lines are searched for secrets. */
const quiet = {
  ...common,
  env: { GATEHOUSE_LOG_LEVEL: 'silent' },
  maxWorkers: Math.max(2, availableParallelism() - 1),
};

/** Three sizes of test: unit beside the code, integration against real stores, e2e against the built service. */
export default defineConfig({
  test: {
    projects: [
      {
        test: {
          ...quiet,
          name: 'unit',
          include: [
            'src/**/*.spec.ts',
            'test/architecture/**/*.spec.ts',
            'test/contract/**/*.spec.ts',
            'test/support/**/*.spec.ts',
          ],
        },
      },
      {
        test: {
          ...quiet,
          name: 'integration',
          include: ['test/integration/**/*.spec.ts'],
          globalSetup: ['test/support/postgres.global.ts'],
          testTimeout: 30_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          ...common,
          name: 'e2e',
          include: ['test/e2e/**/*.e2e-spec.ts'],
          globalSetup: ['test/support/service.global.ts'],
          testTimeout: 60_000,
          hookTimeout: 120_000,
          fileParallelism: false,
        },
      },
      {
        test: {
          ...common,
          name: 'clients',
          include: ['test/clients/*.clients-spec.ts'],
          globalSetup: ['test/support/service.global.ts'],
          testTimeout: 60_000,
          hookTimeout: 120_000,
          fileParallelism: false,
        },
      },
      {
        test: {
          ...quiet,
          name: 'clickhouse',
          include: ['test/clickhouse/*.clickhouse-spec.ts'],
          globalSetup: ['test/support/postgres.global.ts'],
          testTimeout: 60_000,
          hookTimeout: 120_000,
          fileParallelism: false,
        },
      },
      {
        test: {
          ...common,
          name: 'crash',
          include: ['test/crash/**/*.crash-spec.ts'],
          globalSetup: ['test/support/service.global.ts'],
          testTimeout: 900_000,
          hookTimeout: 120_000,
          fileParallelism: false,
        },
      },
    ],
  },
});

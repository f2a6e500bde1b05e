import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

/**
 * These times end what hangs and fail nothing that is only slow: a busy machine takes ten times as long as an idle one. Whoever polls
 * gives up sooner, with the name of what did not come.
 */
const common = {
  pool: 'forks' as const,
  environment: 'node' as const,
  testTimeout: 60_000,
  hookTimeout: 120_000,
  expect: { poll: { timeout: 20_000 } },
};
/**
 * Files of one project share their processes: loading the application anew for each of them took longer than most of the files. What a file
 * changes for its whole process (timers, environment, signals) it therefore puts back.
 */
const shared = { isolate: false };
/** What the code under test logs would hide what the tests say. The built service speaks: its lines are searched for secrets. */
const quiet = {
  ...common,
  env: { GATEHOUSE_LOG_LEVEL: 'silent' },
  // Not as many as a large machine has cores: all of them share one PostgreSQL and its connections.
  maxWorkers: Math.min(8, Math.max(2, availableParallelism() - 1)),
};

/** Three sizes of test: unit beside the code, integration against real stores, e2e against the built service. */
export default defineConfig({
  test: {
    // Ending the services and databases that the projects share takes longer than the ten seconds that Vitest gives.
    teardownTimeout: 120_000,
    projects: [
      {
        test: {
          ...quiet,
          ...shared,
          name: 'unit',
          include: [
            'src/**/*.spec.ts',
            'dashboard/src/**/*.spec.ts',
            'test/architecture/**/*.spec.ts',
            'test/contract/**/*.spec.ts',
            'test/support/**/*.spec.ts',
            'test/several-machines/**/*.spec.ts',
          ],
        },
      },
      {
        test: {
          ...quiet,
          ...shared,
          name: 'integration',
          include: ['test/integration/**/*.spec.ts'],
          globalSetup: ['test/support/postgres.global.ts'],
        },
      },
      {
        test: {
          ...common,
          name: 'e2e',
          include: ['test/e2e/**/*.e2e-spec.ts'],
          globalSetup: ['test/support/service.global.ts'],
          testTimeout: 120_000,
          hookTimeout: 240_000,
          fileParallelism: false,
        },
      },
      {
        test: {
          ...common,
          name: 'browser',
          include: ['dashboard/test/*.browser-spec.ts'],
          globalSetup: ['test/support/service.global.ts'],
          testTimeout: 120_000,
          hookTimeout: 240_000,
          fileParallelism: false,
        },
      },
      {
        test: {
          ...common,
          name: 'clients',
          include: ['test/clients/*.clients-spec.ts', 'test/clients/agents/*.clients-spec.ts'],
          globalSetup: ['test/support/service.global.ts'],
          testTimeout: 120_000,
          hookTimeout: 240_000,
          fileParallelism: false,
        },
      },
      {
        test: {
          ...quiet,
          name: 'clickhouse',
          include: ['test/clickhouse/*.clickhouse-spec.ts'],
          globalSetup: ['test/support/postgres.global.ts'],
          testTimeout: 120_000,
          hookTimeout: 240_000,
          fileParallelism: false,
        },
      },
      {
        test: {
          ...common,
          name: 'several-machines',
          include: ['test/several-machines/*.machines-spec.ts'],
          globalSetup: ['test/support/service.global.ts'],
          testTimeout: 300_000,
          hookTimeout: 300_000,
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
          hookTimeout: 240_000,
          fileParallelism: false,
        },
      },
    ],
  },
});

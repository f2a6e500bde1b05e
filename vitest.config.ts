import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { RunReport } from './test/support/run-report.js';

/**
 * These limits end tests that hang and do not fail slow ones: a busy machine takes ten times as long as an idle one. Polling code gives up
 * sooner, and names what is missing.
 */
const common = {
  pool: 'forks' as const,
  environment: 'node' as const,
  testTimeout: 120_000,
  hookTimeout: 240_000,
  expect: { poll: { timeout: 20_000 } },
};
/**
 * Files of one project share their processes: loading the application for each file took longer than most of the files. So a file restores
 * what it changes for its whole process (timers, environment, signals) and stops the loops that it started, which the setup file checks.
 */
const shared = { isolate: false, setupFiles: ['test/support/left-behind.setup.ts'] };
/** Logs of the code under test would hide the tests' output. The built service does log: its lines are searched for secrets. */
const quiet = {
  ...common,
  env: { GATEHOUSE_LOG_LEVEL: 'silent' },
  // Limited even on a machine with many cores: all workers share one PostgreSQL and its connections.
  maxWorkers: Math.min(8, Math.max(2, availableParallelism() - 1)),
};

/** The built service, one file after the other, because the files share it. */
const built = {
  ...common,
  globalSetup: ['test/support/service.global.ts'],
  testTimeout: 120_000,
  hookTimeout: 240_000,
  fileParallelism: false,
};
/** Integration tests that kill processes, hang stores or outlast leases: they wait for minutes, so they have a project of their own. */
const FAULTS = [
  'test/integration/launcher.spec.ts',
  'test/integration/embedded-postgres.spec.ts',
  'test/integration/limits/{shared-limits,limit-model}.spec.ts',
  'test/integration/rollup/killed-worker.spec.ts',
  'test/integration/spool/{crashes,file-faults,full-disk}.spec.ts',
  'test/integration/stores/*.spec.ts',
];
/** The end-to-end test of what every user does: chat completions by several clients, with their log. */
const MAIN = 'test/e2e/chat.e2e-spec.ts';

/**
 * Unit tests beside the code, integration tests with real stores, e2e tests of the built service. `npm test` runs unit, integration and
 * main; CONTRIBUTING.md lists the scripts of the others.
 */
export default defineConfig({
  test: {
    // The projects of one run, and the runs of CI, share most modules: each is transformed once and kept below node_modules.
    experimental: { fsModuleCache: true },
    // In CI a skipped case is a failure.
    reporters: process.env['CI'] ? ['default', new RunReport()] : ['default'],
    // Ending the services and databases that the projects share takes longer than Vitest's default of ten seconds.
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
          exclude: FAULTS,
          globalSetup: ['test/support/postgres.global.ts'],
        },
      },
      {
        test: {
          ...quiet,
          ...shared,
          name: 'faults',
          include: FAULTS,
          globalSetup: ['test/support/postgres.global.ts'],
        },
      },
      { test: { ...built, name: 'main', include: [MAIN] } },
      { test: { ...built, name: 'e2e', include: ['test/e2e/**/*.e2e-spec.ts'] } },
      { test: { ...built, name: 'browser', include: ['dashboard/test/*.browser-spec.ts'] } },
      {
        test: {
          ...built,
          name: 'clients',
          include: ['test/clients/*.clients-spec.ts', 'test/clients/agents/*.clients-spec.ts'],
        },
      },
      {
        test: {
          ...quiet,
          ...shared,
          name: 'clickhouse',
          include: ['test/clickhouse/*.clickhouse-spec.ts'],
          globalSetup: ['test/support/postgres.global.ts'],
          setupFiles: [...shared.setupFiles, 'test/support/chdb.setup.ts'],
          // Figures of hundreds of filters take half a minute on an idle machine; CI gives this suite a low priority.
          testTimeout: 300_000,
          hookTimeout: 240_000,
          fileParallelism: false,
        },
      },
      {
        test: {
          ...quiet,
          ...shared,
          name: 'plans',
          include: ['test/plans/*.plans-spec.ts'],
          testTimeout: 300_000,
          hookTimeout: 300_000,
          fileParallelism: false,
        },
      },
      {
        test: {
          ...built,
          name: 'several-machines',
          include: ['test/several-machines/*.machines-spec.ts'],
          testTimeout: 300_000,
          hookTimeout: 300_000,
        },
      },
      {
        test: {
          ...built,
          name: 'upgrades',
          include: ['test/upgrades/*.upgrades-spec.ts'],
          // Builds each release where the cache lacks it.
          hookTimeout: 900_000,
        },
      },
      // The service of its own has receivers and a load that the shared one lacks.
      {
        test: { ...built, name: 'deployment', include: ['test/deployment/*.deployment-spec.ts'] },
      },
      {
        test: { ...built, name: 'crash', include: ['test/crash/**/*.crash-spec.ts'], testTimeout: 900_000 },
      },
    ],
  },
});

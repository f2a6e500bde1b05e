import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import type { Reporter, SerializedError, TestCase, TestModule } from 'vitest/node';

interface Failure {
  readonly where: string;
  readonly message: string;
}

/**
 * Counts a run for CI, into the file of TEST_REPORT if that is set. Besides the failed cases, these are failures: a skipped case, a file
 * that broke outside its cases or never ended, and an error that no case caught, such as a worker that died. Nothing that a run was to
 * guarantee vanishes from the counts.
 */
export class RunReport implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly SerializedError[]): void {
    const cases = modules.flatMap((module) => [...module.children.allTests()]);
    const passed = cases.filter((one) => one.result().state === 'passed').length;
    const failures = [...cases.flatMap(failureOf), ...modules.flatMap(brokenFile), ...errors.map(uncaught)];
    const report = process.env['TEST_REPORT'];
    if (report) writeFileSync(report, JSON.stringify({ passed, failures }));
    if (failures.length === 0) return;
    process.exitCode = 1;
    console.log(['', ...failures.map(({ where, message }) => `FAILED: ${where}\n${message}`)].join('\n'));
  }
}

const fileOf = (module: TestModule): string => relative(process.cwd(), module.moduleId);
const textOf = (errors: readonly { readonly message: string }[]): string =>
  errors
    .flatMap(({ message }) => message.split('\n').slice(0, 12))
    .join('\n')
    .trim();

function failureOf(one: TestCase): Failure[] {
  const where = `${fileOf(one.module)}: ${one.fullName}`;
  const result = one.result();
  if (result.state === 'passed') return [];
  if (result.state === 'failed') return [{ where, message: textOf(result.errors) }];
  if (result.state === 'skipped') return [{ where, message: `skipped: ${result.note ?? 'no reason given'}` }];
  return [{ where, message: 'did not run' }];
}

function brokenFile(module: TestModule): Failure[] {
  const suites = [module, ...module.children.allSuites()];
  const errors = suites.flatMap((suite) => suite.errors());
  const isOver = ['passed', 'failed', 'skipped'].includes(module.state());
  if (errors.length === 0 && isOver) return [];
  return [{ where: `${fileOf(module)}: the whole file`, message: textOf(errors) || 'did not end' }];
}

const uncaught = (error: SerializedError): Failure => ({
  where: 'outside the cases',
  message: textOf([{ message: error.message }]),
});

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';

interface Rule {
  readonly alert?: string;
  readonly labels: { readonly severity?: string };
  readonly annotations: { readonly summary?: string; readonly runbook?: string };
}
interface Case {
  readonly name: string;
  readonly promql_expr_test: readonly { readonly exp_samples: readonly unknown[] }[];
}

const root = join(import.meta.dirname, '../..');
const read = (path: string): unknown => parse(readFileSync(join(root, path), 'utf8'));
const { groups } = read('deploy/prometheus/gatehouse-alerts.yml') as {
  groups: readonly { rules: readonly Rule[] }[];
};
const { tests } = read('deploy/prometheus/gatehouse-alerts.test.yml') as { tests: readonly Case[] };
const alerts = groups.flatMap(({ rules }) => rules.filter(({ alert }) => alert !== undefined));

describe('the alerts of Prometheus', () => {
  it.each(alerts.map((rule) => [rule.alert, rule] as const))(
    '%s has a severity, a summary and a runbook',
    (_, rule) => {
      expect(rule.labels.severity).toMatch(/^(critical|warning)$/);
      expect(rule.annotations.summary).toBeTruthy();
      expect(rule.annotations.runbook).toMatch(/^docs\/runbooks\/[a-z-]+\.md$/);
      expect(existsSync(join(root, rule.annotations.runbook ?? ''))).toBe(true);
    },
  );

  it('each have a case that is silent before its cause and fires after it', () => {
    expect(tests.map(({ name }) => name).sort()).toEqual(alerts.map(({ alert }) => alert).sort());
    for (const { promql_expr_test: checks } of tests)
      expect(checks.map(({ exp_samples: samples }) => samples.length)).toEqual([0, 1]);
  });

  it('use every runbook, and the list of runbooks names each', () => {
    const pages = readdirSync(join(root, 'docs/runbooks')).filter((name) => name !== 'README.md');
    const list = readFileSync(join(root, 'docs/runbooks/README.md'), 'utf8');

    expect(pages.sort()).toEqual(
      [
        ...new Set(alerts.map(({ annotations }) => annotations.runbook?.replace('docs/runbooks/', ''))),
      ].sort(),
    );
    for (const { alert, annotations } of alerts)
      expect(list).toContain(
        `| \`${alert ?? ''}\` | [${annotations.runbook?.replace(/^.*\/|\.md$/g, '') ?? ''}]`,
      );
  });
});

import { describe, expect, it } from 'vitest';
import { SettingsError, loadSettings } from './settings.js';

const problemsOf = (environment: Readonly<Record<string, string>>): readonly string[] => {
  try {
    loadSettings(environment);
    return [];
  } catch (error) {
    if (error instanceof SettingsError) return error.problems;
    throw error;
  }
};

describe('GATEHOUSE_EGRESS_ALLOW', () => {
  it('is read once, at the start', () => {
    expect(loadSettings({ GATEHOUSE_EGRESS_ALLOW: '127.0.0.1:9100,vllm.lan:*' }).egressAllow).toHaveLength(2);
    expect(loadSettings({}).egressAllow).toEqual([]);
  });

  it('is refused at the start with all its bad entries, beside what else is wrong', () => {
    const problems = problemsOf({
      GATEHOUSE_EGRESS_ALLOW: '10.0.0.0/8:8000,10.0.0.1,169.254.169.254:80',
      GATEHOUSE_MASTER_KEY: 'short',
    });

    expect(problems).toEqual([
      expect.stringContaining('GATEHOUSE_MASTER_KEY'),
      expect.stringMatching(/^GATEHOUSE_EGRESS_ALLOW: "10\.0\.0\.1" /),
      expect.stringMatching(/^GATEHOUSE_EGRESS_ALLOW: "169\.254\.169\.254:80" .*stays closed/),
    ]);
  });
});

import { describe, expect, it } from 'vitest';
import { KeptTimes, type RetentionRule } from './kept-times.js';

const NOW = Date.parse('2030-06-15T13:00:00Z');
const ago = (days: number): number => Date.parse('2030-06-15T00:00:00Z') - days * 86_400_000;
const rule = (workspace_id: string | null, more: Partial<RetentionRule> = {}): RetentionRule => ({
  organization_id: 'o',
  workspace_id,
  logs: null,
  bodies: null,
  held: false,
  ...more,
});
const times = (...rules: RetentionRule[]) => new KeptTimes({ logs: 90, bodies: 30 }, rules, NOW);
const whose = (workspace_id: string | null, organization_id = 'o') => ({ organization_id, workspace_id });

describe('KeptTimes', () => {
  it('uses the workspace, then its organization, then the installation', () => {
    const kept = times(rule(null, { logs: 60 }), rule('a', { logs: 10 }), rule('b', { bodies: 5 }));

    expect(kept.since('logs', whose('a'))).toBe(ago(10));
    expect(kept.since('logs', whose('b'))).toBe(ago(60));
    expect(kept.since('logs', whose('c'))).toBe(ago(60));
    expect(kept.since('logs', whose(null))).toBe(ago(60));
    expect(kept.since('logs', whose('a', 'another'))).toBe(ago(90));
    expect(kept.since('bodies', whose('b'))).toBe(ago(5));
  });

  it('keeps bodies no longer than their rows', () => {
    const kept = times(rule('a', { logs: 10 }), rule('b', { logs: 100, bodies: 80 }));

    expect(kept.since('bodies', whose('a'))).toBe(ago(10));
    expect(kept.since('bodies', whose('b'))).toBe(ago(80));
  });

  it('keeps everything on hold, and everything of organizations without a limit', () => {
    const kept = times(rule(null, { held: true, logs: 5 }), rule('a', { logs: 1 }));

    expect(kept.since('logs', whose('a'))).toBe(-Infinity);
    expect(kept.since('bodies', whose('z'))).toBe(-Infinity);
    const forEver = new KeptTimes({ logs: 0, bodies: 0 }, [rule('a', { logs: 1 })], NOW);
    expect(forEver.since('logs', whose('b'))).toBe(-Infinity);
    expect(forEver.since('bodies', whose('a'))).toBe(ago(1));
  });

  it('knows the moment after which nothing can be over', () => {
    const kept = times(rule('a', { logs: 10 }), rule('b', { bodies: 5 }));

    expect(kept.latest('logs')).toBe(ago(10));
    expect(kept.latest('bodies')).toBe(ago(5));
    expect(times().latest('bodies')).toBe(ago(30));
  });
});

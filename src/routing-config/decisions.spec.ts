import { describe, expect, it } from 'vitest';
import {
  balanceDecision,
  conditionDecision,
  hedgeDecision,
  outOfServiceDecision,
  readDecision,
} from './decisions.js';

describe('a recorded decision', () => {
  const target = 'config.targets[1]';
  const nested = 'config.targets[1].targets[0]';

  it.each([
    [conditionDecision('config', 2, target), { kind: 'condition', path: 'config', target, condition: 2 }],
    [conditionDecision('config', -1, target), { kind: 'default', path: 'config', target, condition: null }],
    [conditionDecision(target, -1, null), { kind: 'no_target', path: target, target: null }],
    [
      balanceDecision(target, nested, 'weight'),
      { kind: 'balance', path: target, target: nested, by: 'weight' },
    ],
    [hedgeDecision('config', target, 812), { kind: 'hedge', path: 'config', target, after_ms: 812 }],
    [outOfServiceDecision(1, 3), { kind: 'out_of_service', path: null, target: null }],
    ['config.targets[0]: not compared by meaning: no answer', { kind: 'note', path: null, target: null }],
  ])('is read back from "%s"', (text, decision) => {
    expect(readDecision(text)).toMatchObject({ ...decision, text });
  });
});

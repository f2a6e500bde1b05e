import { describe, expect, it } from 'vitest';
import { uuidV7 } from '../../common/ids/uuid-v7.js';
import { conditionOf, conditionOfParameter } from './log-filters.js';

const LABEL = `${'v'.repeat(111)}…0123456789abcdef`;

describe('the dimensions of a filter', () => {
  it('are those of the rollups however many values are listed', () => {
    const ids = Array.from({ length: 20 }, (_, at) => uuidV7(at)).join(',');
    expect(conditionOf('api_key_ids', ids).on).toEqual(['api_key_id']);
    const models = Array.from({ length: 20 }, (_, at) => `model-number-${at}`).join(',');
    expect(conditionOf('ai_model', models).on).toEqual(['model']);
  });

  it('are none for a value of 128 characters or more, which the rollups of 0.1.0 do not distinguish', () => {
    for (const value of ['v'.repeat(128), LABEL, `short,${'v'.repeat(300)}`]) {
      expect(conditionOf('ai_model', value).on).toBeNull();
      expect(conditionOfParameter('metadata[team]', value)?.on).toBeNull();
    }
  });
});

describe('a filter by a label', () => {
  it('compares labels, and a filter by other values only the values, which have an index', () => {
    expect(conditionOf('ai_model', LABEL).sql('$1')).toContain('sha256');
    for (const value of ['v'.repeat(128), LABEL.replace('…', '.'), LABEL.replace('f', 'g'), `${LABEL}0`])
      expect(conditionOf('ai_model', value).sql('$1')).toBe('model = ANY($1::text[])');
  });
});

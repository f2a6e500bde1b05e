import { describe, expect, it } from 'vitest';
import { anOpened } from '../../../test/support/exchanges.js';
import type { AttemptRecord } from '../../request-log/record.js';
import { crashedExchange } from './crashed-exchange.js';

const charge = { counter: 'budget', measure: 'cost', holder: 'process', leased: 900 } as const;
const refused: AttemptRecord = {
  attempt: 0,
  option_path: 'config.targets[0]',
  provider: 'openai',
  virtual_key_id: null,
  origin: 'https://api.openai.com',
  started_at: 1_000,
  first_byte_ms: 3,
  duration_ms: 5,
  status: 503,
  error_code: null,
  usage: null,
  cost_nano_usd: null,
  charges: [{ ...charge, leased: 0 }],
};
const underWay: AttemptRecord = {
  ...refused,
  attempt: 1,
  option_path: 'config.targets[1]',
  started_at: 2_000,
  first_byte_ms: null,
  duration_ms: 0,
  status: null,
  error_code: 'gateway_crashed',
  usage: { input_tokens: 40, output_tokens: 100 },
  cost_nano_usd: 900,
  charges: [charge],
};

describe('the record of an exchange whose process died', () => {
  it('charges an attempt under way with its reservation, marked as an estimate', () => {
    const opened = anOpened({ created_at: 1_000, attempts_so_far: [refused, underWay] });

    const record = crashedExchange(opened, 2_750);

    expect(record).toMatchObject({
      ending: 'gateway_crashed',
      status: 500,
      option_path: 'config.targets[1]',
      usage: underWay.usage,
      usage_source: 'estimated',
      cost_nano_usd: 900,
      duration_ms: 1_750,
    });
    expect(record.attempts).toEqual([refused, { ...underWay, duration_ms: 750 }]);
    expect(record).not.toHaveProperty('attempts_so_far');
  });

  it('has an unknown cost where no budget applied, never 0', () => {
    const record = crashedExchange(anOpened({ created_at: 1_000 }), 1_500);

    expect(record).toMatchObject({ usage: null, usage_source: 'none', cost_nano_usd: null });
    expect(record.attempts).toMatchObject([{ error_code: 'gateway_crashed', cost_nano_usd: null }]);
  });
});

import { describe, expect, it } from 'vitest';
import { aRecord } from '../../../test/support/exchanges.js';
import { closedText, readClosed } from '../spool/frame-values.js';
import { clickHouseType, type LogColumn } from './log-column.js';
import { logColumn, columnsWith, LOG_COLUMN_NAMES } from './log-columns.js';

/** A closed frame as release 0.1.0 writes it. */
const RELEASED =
  '[["0199a0e4-6f0c-7b31-9c3f-2f4f9a1e6d10",1,"org","ws","key",null,"t",null,null,null,"POST","/v1/chat/completions",' +
  '"chat-completions","openai","openai-prod",null,"gpt-4o-mini",false,{"_user":"ada"},"greeting",null],' +
  '["groq","groq-prod",null,"llama",true,"config","version","config.targets[1]",["chosen"],"completed",200,null,null,' +
  '40,12,300,100,200,"llama-3",{"input_tokens":12,"output_tokens":3},"provider",3600,null,null,["a","b"],["c","d"],' +
  '"HIT",0.5,3,"api",["seed"],"flex"],[],null,null]';

describe('the columns of the request log', () => {
  it.each(['opened', 'closed'] as const)('have each their own position in the %s list', (list) => {
    const positions = columnsWith(list).map((name) => logColumn(name)[list]);

    expect(new Set(positions).size).toBe(positions.length);
  });

  it('keep the positions that released frames have', () => {
    const { record } = readClosed(Buffer.from(RELEASED));

    expect(record).toMatchObject({
      organisation_id: 'org',
      prompt_slug: 'greeting',
      metadata: { _user: 'ada' },
      provider: 'groq',
      model: 'llama',
      streamed: true,
      option_path: 'config.targets[1]',
      ending: 'completed',
      first_token_ms: 12,
      usage: { input_tokens: 12, output_tokens: 3 },
      cost_nano_usd: 3600,
      request_headers: ['a', 'b'],
      response_headers: ['c', 'd'],
      cache_status: 'HIT',
      saved_nano_usd: 3,
      source: 'api',
      dropped_parameters: ['seed'],
      service_tier: 'flex',
    });
  });

  it('leave no gap in either list', () => {
    const [opened, closed] = JSON.parse(
      closedText({ record: aRecord(), request: null, response: null }),
    ) as unknown[][];

    expect(opened?.length).toBe(21);
    expect(closed?.length).toBe(columnsWith('closed').length + 4);
  });

  it('have a value when the exchange closes, or are computed', () => {
    const computed = LOG_COLUMN_NAMES.map((name) => [name, logColumn(name)] as const)
      .filter(
        ([, { opened, closed }]: readonly [string, LogColumn]) =>
          opened === undefined && closed === undefined,
      )
      .map(([name]) => name);

    expect(computed).toEqual([
      'batch_id',
      'input_tokens',
      'output_tokens',
      'cached_input_tokens',
      'cache_write_tokens',
      'reasoning_tokens',
      'audio_input_tokens',
      'audio_output_tokens',
      'retry_count',
      'fallback_count',
      'attempt_count',
    ]);
  });

  it.each([
    ['word?', 'LowCardinality(Nullable(String))'],
    ['word', 'LowCardinality(String)'],
    ['int4?', 'Nullable(Int32)'],
    ['text[]?', 'Array(LowCardinality(String))'],
    ['uuid', 'UUID'],
  ] as const)('of the type %s are %s in ClickHouse', (type, clickhouse) => {
    expect(clickHouseType({ type })).toBe(clickhouse);
  });
});

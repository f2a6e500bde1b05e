import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { isFreeRequest } from '../../../src/cli/verify/free-requests.js';
import { uuidV7 } from '../../../src/common/ids/uuid-v7.js';
import { unknownCosts } from '../../../src/request-log/charging/unknown-costs.js';
import { estimatedCauses } from '../../../src/request-log/charging/verify-money.js';
import { freshDatabase, type TestDatabase } from '../../support/database.js';
import { storeBatch } from '../../support/stored-batches.js';

interface StoredAttempt {
  readonly method?: string;
  readonly path?: string;
  readonly ending?: string;
  readonly provider?: string;
  readonly status?: number | null;
  readonly error_code?: string;
  readonly tokens?: number;
  readonly cost?: number;
  readonly estimated?: boolean;
}

const CRASHED: StoredAttempt = { status: null, error_code: 'gateway_crashed', ending: 'gateway_crashed' };

describe('attempts without a cost', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await freshDatabase();
  });
  afterAll(() => database.drop());
  beforeEach(() => database.dataSource.query('TRUNCATE request_logs, request_attempts'));

  async function store(attempt: StoredAttempt): Promise<void> {
    const { method = 'POST', path = '/v1/chat/completions', ending = 'completed', status = 200 } = attempt;
    const id = uuidV7(Date.now());
    await storeBatch(database.dataSource, [{ id, cost_nano_usd: null }]);
    await database.dataSource.query(
      'UPDATE request_logs SET method = $2, path = $3, ending = $4 WHERE id = $1',
      [id, method, path, ending],
    );
    await database.dataSource.query(
      `INSERT INTO request_attempts (id, created_at, attempt, batch_id, organisation_id, provider, origin, started_at,
         duration_ms, status, error_code, input_tokens, output_tokens, cost_nano_usd, estimated)
       SELECT id, created_at, 0, batch_id, organisation_id, $2, '', created_at, 1, $3, $4, $5, $5, $6, $7
       FROM request_logs WHERE id = $1`,
      [
        id,
        attempt.provider ?? 'openai',
        status,
        attempt.error_code ?? null,
        attempt.tokens ?? null,
        attempt.cost ?? null,
        attempt.estimated ?? false,
      ],
    );
  }

  const found = () => unknownCosts(database.dataSource, isFreeRequest);

  it.each<[string, string, StoredAttempt]>([
    ['a killed process', 'the process died', CRASHED],
    ['a model without a price', 'no price is known for the usage', { tokens: 5 }],
    [
      'a killed process at a model without a price',
      'no price is known for the usage',
      { ...CRASHED, tokens: 5, estimated: true },
    ],
    ['a response without usage', 'the usage was not reported', {}],
    ['a path that cannot be measured', 'the usage was not reported', { path: '/v1/batches?x=1' }],
    [
      'a lost connection',
      'the response broke off',
      { status: null, error_code: 'upstream_error', estimated: true },
    ],
    [
      'a timeout without a reservation',
      'the attempt timed out',
      { status: null, error_code: 'upstream_timeout', estimated: true },
    ],
    ['a client that disconnected', 'the client disconnected', { ending: 'client_aborted', estimated: true }],
    [
      'an unmeasured session',
      'the usage was not reported',
      { method: 'GET', path: '/v1/other', status: 101 },
    ],
  ])('are counted after %s, by their cause', async (_, cause, attempt) => {
    await store(attempt);
    await store(attempt);

    expect(await found()).toEqual([{ cause, attempts: 2 }]);
    expect(await estimatedCauses(database.dataSource)).toEqual([]);
  });

  it.each<[string, StoredAttempt]>([
    ['has a cost', { tokens: 5, cost: 9 }],
    ['was refused by its provider', { status: 429 }],
    ['had no connection', { status: null, error_code: 'upstream_error' }],
    ['only read', { method: 'GET', path: '/v1/responses/x1' }],
    ['only read when its process died', { ...CRASHED, method: 'GET', path: '/v1/files' }],
    ['is of a path that no provider bills', { path: '/v1/batches/b1/cancel?x=1' }],
    ['is of a path that this provider does not bill', { path: '/v1/moderations' }],
    ['is of such a path below a prefix', { path: '/v1beta/models/gemini:countTokens', provider: 'google' }],
  ])('exclude one that %s', async (_, attempt) => {
    await store(attempt);

    expect(await found()).toEqual([]);
  });

  it('are no estimates, which have an amount', async () => {
    await store(CRASHED);
    await store({ ...CRASHED, tokens: 5, cost: 70, estimated: true });

    expect(await found()).toEqual([{ cause: 'the process died', attempts: 1 }]);
    expect(await estimatedCauses(database.dataSource)).toEqual([
      { cause: 'the process died', attempts: 1, nanoDollars: 70n },
    ]);
  });
});

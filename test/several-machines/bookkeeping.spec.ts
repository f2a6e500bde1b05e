import { describe, expect, it } from 'vitest';
import { type Books, disagreements, type LoggedRow } from './bookkeeping.js';
import { roundOfFaults } from './fault-schedule.js';
import { Dice } from '../support/random-bodies.js';
import type { ClientView } from './traffic.js';

const VIEW: ClientView = {
  exchange: 'plain/1',
  group: 'plain',
  machine: 'api-1',
  id: 'a',
  status: 200,
  code: null,
  sentAt: 0,
  ms: 1,
  wasKilled: false,
};
const ROW: LoggedRow = { id: 'a', trace_id: 'plain/1', status: 200, ending: 'completed', cost: 7 };
const books = (given: Partial<Books>): Books => ({
  clients: [VIEW],
  provider: new Map([['plain/1', { times: 1, cost: 7 }]]),
  log: [ROW],
  ...given,
});

describe('the comparison of the books', () => {
  it('finds nothing where they agree', () => expect(disagreements(books({}))).toEqual([]));

  it.each<[string, Partial<Books>, string]>([
    ['a lost row', { log: [] }, 'the log has 0 rows'],
    ['a doubled row', { log: [ROW, { ...ROW, id: 'b' }] }, 'the log has 2 rows'],
    ['a row under another id', { log: [{ ...ROW, id: 'b' }] }, 'logged as b'],
    ['another status', { log: [{ ...ROW, status: 500 }] }, 'logged 500'],
    ['another cost', { log: [{ ...ROW, cost: 8 }] }, 'costs 7, logged 8'],
    ['no cost', { log: [{ ...ROW, cost: null }] }, 'costs 7, logged null'],
    ['a doubled request', { provider: new Map([['plain/1', { times: 2, cost: 7 }]]) }, 'asked 2 times'],
    ['an answer from nowhere', { provider: new Map() }, 'the provider was never asked'],
    ['a refusal that was sent', { clients: [{ ...VIEW, status: 429 }] }, 'and the provider was asked'],
    ['a row of nobody', { log: [ROW, { ...ROW, trace_id: 'plain/2' }] }, 'a row that no client sent'],
    ['a lost exchange without an answer', { clients: [{ ...VIEW, id: '', status: 0 }], log: [] }, '0 rows'],
  ])('finds %s', (_, given, sentence) => expect(disagreements(books(given)).join('\n')).toContain(sentence));
});

describe('the schedule of faults', () => {
  it('is the same for the same seed, and has every fault once', () => {
    const round = (seed: number) => roundOfFaults(new Dice(seed), { api: 3, worker: 2 });
    expect(round(7)).toEqual(round(7));
    expect(round(7)).not.toEqual(round(8));
    expect(round(7)).toHaveLength(2 * 6 + 2 + 2);
  });
});

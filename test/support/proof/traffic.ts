import { SeededRandom } from '../random.js';
import { type LogRow, RequestLogs } from '../request-logs.js';
import { jsonOf } from '../http-client.js';
import type { Service } from '../service.js';
import { eventually } from '../waiting.js';
import { aCustomLog, aSpan, tell, type ToldCall } from './elsewhere.js';
import { type Fact, type Given, withFeedback } from './facts.js';
import { factOf, type Known, KnownRequests } from './known-requests.js';
import type { ScriptedProvider } from './scripted-provider.js';
import { aTenant, type Tenant } from './tenant.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** Spans begin up to twenty hours before. */
const BACK = 21 * HOUR;
const SCORES = 21;
const MOST_FEEDBACK = 100;

export type StoredRow = LogRow & {
  readonly attempt_count: number;
  readonly duration_ms: number;
  readonly source: string | null;
  readonly span_id: string | null;
};

/** What was sent through a service, what must be true of it, and what its log says. */
export interface Traffic {
  readonly tenants: readonly [Tenant, Tenant];
  readonly known: readonly Known[];
  /** Of both tenants, calls made elsewhere included. */
  readonly facts: readonly Fact[];
  readonly told: number;
  readonly rows: ReadonlyMap<string, StoredRow>;
  readonly feedback: readonly Given[];
  readonly from: number;
  readonly to: number;
}

interface Amounts {
  readonly requests: number;
  readonly logs: number;
  readonly spans: number;
}

/** Requests, logs of calls made elsewhere, and feedback: all counted when it answers. */
export async function sendTraffic(
  service: Service,
  provider: ScriptedProvider,
  { requests, logs, spans }: Amounts,
  seed: number,
): Promise<Traffic> {
  const random = new SeededRandom(seed);
  const name = `proof-${Date.now().toString(36)}`;
  const tenants = [
    await aTenant(service, provider, `${name}-one`),
    await aTenant(service, provider, `${name}-two`),
  ] as const;
  const began = Date.now();
  const sent = new KnownRequests(service, provider, tenants, seed);
  await sent.send(requests);
  const told = new Map<Tenant, readonly ToldCall[]>();
  for (const tenant of tenants) {
    const customs = Array.from({ length: logs / 2 }, (_, n) =>
      aCustomLog(tenant, `${tenant.slug}-told-${n}`, random),
    );
    const traced = Array.from({ length: spans / 2 }, () => aSpan(tenant, began, random));
    await tell(service, tenant, { logs: customs, spans: traced });
    told.set(tenant, [...customs, ...traced]);
  }
  const known = sent.known();
  await counted(
    service,
    tenants,
    began,
    (tenant) => known.filter((one) => one.tenant === tenant).length + (told.get(tenant)?.length ?? 0),
  );
  console.log(`${requests} requests and ${logs + spans} told calls, counted after ${Date.now() - began} ms`);
  const rows = await storedRows(service, tenants);
  const facts = [
    ...known.map((one) => factOf(one, timingOf(rows.get(one.id)))),
    ...placed([...told.values()].flat(), rows),
  ];
  const feedback = await giveFeedback(service, tenants[0], facts, random);
  return {
    tenants,
    known,
    facts: withFeedback(facts, feedback),
    told: logs + spans,
    rows,
    feedback,
    from: Math.floor((began - BACK) / MINUTE) * MINUTE,
    to: Math.ceil(Date.now() / MINUTE) * MINUTE,
  };
}

async function counted(
  service: Service,
  tenants: readonly Tenant[],
  began: number,
  expectedOf: (tenant: Tenant) => number,
): Promise<void> {
  const query = new URLSearchParams({ time_of_generation_min: new Date(began - BACK).toISOString() });
  await eventually(
    async () => {
      for (const tenant of tenants) {
        const answer = await service.client.call({
          path: `/v1/analytics/graphs/requests?${query.toString()}`,
          headers: { 'x-gateway-api-key': tenant.keys[0]?.key ?? '' },
        });
        if (jsonOf(answer).summary.total !== expectedOf(tenant)) return false;
      }
      return true;
    },
    { withinMs: 90_000, everyMs: 200, what: 'the rollups to have counted everything' },
  );
}

async function storedRows(
  service: Service,
  tenants: readonly Tenant[],
): Promise<ReadonlyMap<string, StoredRow>> {
  const found = new Map<string, StoredRow>();
  for (const { id } of tenants)
    for (const row of await new RequestLogs(service).all({ workspace_id: id }))
      found.set(row.id, row as StoredRow);
  return found;
}

/** What the log alone can know of a request. */
const timingOf = (row: StoredRow | undefined) => ({
  durationMs: row?.duration_ms ?? Number.NaN,
  errorCode: row?.error_code ?? '',
  ending: row?.ending ?? '',
});

/** Ids are given by the gateway, and so is the time of a custom log. */
function placed(told: readonly ToldCall[], rows: ReadonlyMap<string, StoredRow>): Fact[] {
  const byTrace = new Map([...rows.values()].map((row) => [row.trace_id, row]));
  return told.map(({ fact }) => {
    const row = byTrace.get(fact.trace);
    const at = fact.source === 'otlp' ? fact.at : Date.parse(row?.created_at ?? '');
    return { ...fact, id: row?.id ?? '', at };
  });
}

async function giveFeedback(
  service: Service,
  tenant: Tenant,
  facts: readonly Fact[],
  random: SeededRandom,
): Promise<Given[]> {
  const given = facts
    .filter(({ workspace }) => workspace === tenant.slug)
    .filter((_, index) => index % 5 === 0)
    .slice(0, MOST_FEEDBACK)
    .map(({ trace }) => ({
      trace,
      value: random.whole(0, SCORES - 1) - 10,
      weight: random.whole(0, 4) / 4,
    }));
  const answer = await service.client.call({
    method: 'POST',
    path: '/v1/feedback',
    headers: { 'x-gateway-api-key': tenant.keys[0]?.key ?? '', 'content-type': 'application/json' },
    body: JSON.stringify(given.map(({ trace, ...more }) => ({ trace_id: trace, ...more }))),
  });
  if (answer.status >= 300) throw new Error(answer.body.toString());
  return given;
}

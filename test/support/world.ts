import { randomBytes } from 'node:crypto';
import { expect, inject } from 'vitest';
import { Administration, APPLICATION_SCOPES, type CreatedKey } from './administration.js';
import { Canaries, filesOf, type Sink } from './canaries.js';
import { databaseDump } from './database-dump.js';
import type { Answer, Call, OpenAnswer } from './http-client.js';
import { type LogRow, RequestLogs } from './request-logs.js';
import { Service } from './service.js';
import { EchoUpstream } from './upstreams/echo.js';
import { eventually, sleep } from './waiting.js';

/** What the log must hold of a request: a row, none, or (refused where both are right) at most one. */
export type Logged = 'once' | 'never' | 'at most once';

/** The service that most files share. */
export function theService(): Service {
  const facts = inject('service');
  if (!facts) throw new Error('This project has no shared service.');
  return new Service(facts);
}

/**
 * A file's own corner of the shared service: an API key, a provider, a virtual key that leads to it,
 * secrets that occur nowhere else, and a ledger of what was asked. `check` compares the ledger with the log.
 */
export class World {
  readonly canaries = new Canaries();
  readonly administration: Administration;
  readonly logs: RequestLogs;
  private readonly asked = new Map<string, { readonly logged: Logged; readonly what: string }>();
  private readonly answers: Sink[] = [];
  /** Trace ids of requests whose answer, and with it their id, may be lost on the way. */
  private readonly traces = new Set<string>();

  private constructor(
    readonly service: Service,
    readonly upstream: EchoUpstream,
  ) {
    this.administration = new Administration(service);
    this.logs = new RequestLogs(service);
  }

  apiKey: CreatedKey = { id: '', key: '' };
  virtualKey = '';
  /** The provider's secret behind the virtual key. */
  providerSecret = '';
  /** The provider's secret that a client sends itself. */
  clientSecret = '';

  static async create(
    name: string,
    service = theService(),
    scopes: readonly string[] = APPLICATION_SCOPES,
  ): Promise<World> {
    const world = new World(service, await EchoUpstream.start(service.facts.egressPorts));
    const unique = `${name}-${randomBytes(4).toString('hex')}`;
    world.providerSecret = world.canaries.make(`stored-${name}`);
    world.clientSecret = world.canaries.make(`client-${name}`);
    world.apiKey = await world.administration.createKey(unique, scopes);
    world.canaries.watch('api-key', world.apiKey.key);
    world.virtualKey = await world.administration.createVirtualKey({
      name: unique,
      secret: world.providerSecret,
      customHost: `${world.upstream.url}/base/v9`,
    });
    return world;
  }

  /** Headers of a client that uses the virtual key. */
  get headers(): Record<string, string> {
    return { 'x-gateway-api-key': this.apiKey.key, 'x-gateway-virtual-key': this.virtualKey };
  }

  /** Headers of a client that brings its own provider key and address. */
  hostHeaders(customHost: string): Record<string, string> {
    return {
      'x-gateway-api-key': this.apiKey.key,
      'x-gateway-provider': 'openai',
      'x-gateway-custom-host': customHost,
      authorization: `Bearer ${this.clientSecret}`,
    };
  }

  /** Sends with the virtual key unless the call brings headers of its own, and keeps the answer for `check`. */
  async send(call: Call, logged: Logged = 'once'): Promise<Answer> {
    const answer = await this.service.client.call({ ...call, headers: call.headers ?? this.headers });
    this.note(answer.requestId, logged, `${call.method ?? 'GET'} ${call.path}`);
    this.keep(`${call.method ?? 'GET'} ${call.path}`, answer);
    return answer;
  }

  /** As `send`, but answers as soon as the head is there. */
  async open(call: Call, logged: Logged = 'once'): Promise<OpenAnswer> {
    const answer = await this.service.client.open({ ...call, headers: call.headers ?? this.headers });
    this.note(answer.requestId, logged, `${call.method ?? 'GET'} ${call.path}`);
    return answer;
  }

  /** Keeps what a client saw, for the search for secrets. */
  keep(name: string, answer: Pick<Answer, 'rawHeaders' | 'body'>): void {
    const head = answer.rawHeaders.map(([header, value]) => `${header}: ${value}`).join('\n');
    this.answers.push({
      name: `answer to ${name}`,
      bytes: Buffer.concat([Buffer.from(`${head}\n\n`), answer.body]),
    });
  }

  note(requestId: string, logged: Logged, what = ''): void {
    if (requestId) this.asked.set(requestId, { logged, what });
  }

  /** A trace id for a request whose answer may be lost: it may have one row or none. */
  newTrace(): string {
    const trace = `trace-${randomBytes(8).toString('hex')}`;
    this.traces.add(trace);
    return trace;
  }

  /** Rows of this file's key; all, or those since a time. */
  rows(since?: Date): Promise<LogRow[]> {
    const from = (since ?? new Date(0)).toISOString();
    return this.logs.all({ api_key_id: this.apiKey.id, time_of_generation_min: from });
  }

  /** The log holds each request as often as it should, and nothing that was not asked. */
  async checkLog(): Promise<void> {
    const expected = [...this.asked].filter(([, { logged }]) => logged === 'once').map(([id]) => id);
    const missing = async (): Promise<string[]> => {
      const found = new Set((await this.rows()).map(({ id }) => id));
      return expected.filter((id) => !found.has(id)).map((id) => `${id} ${this.asked.get(id)?.what ?? ''}`);
    };
    await eventually(async () => (await missing()).length === 0, {
      withinMs: 60_000,
      everyMs: 250,
      what: 'all rows',
    }).catch(async () => expect(await missing(), 'requests without a row').toEqual([]));
    await sleep(300);
    const rows = await this.rows();
    const ids = rows.map(({ id }) => id);
    expect(ids.length, 'rows that are there twice').toBe(new Set(ids).size);
    const traced = rows.map(({ trace_id }) => trace_id).filter((trace) => this.traces.has(trace));
    expect(traced.length, 'requests that are there twice').toBe(new Set(traced).size);
    expect(
      ids.filter((id) => this.asked.get(id)?.logged === 'never'),
      'rows of requests that must have none',
    ).toEqual([]);
    const phantoms = rows.filter(({ id, trace_id }) => !this.asked.has(id) && !this.traces.has(trace_id));
    expect(
      phantoms.map(({ id, method, path, status, ending }) => ({ id, method, path, status, ending })),
      'rows that nobody asked for',
    ).toEqual([]);
  }

  /** No secret of this file stands anywhere it could be read later. */
  async checkCanaries(): Promise<void> {
    const { service } = this;
    const metrics = await service.client.call({ path: '/metrics' });
    const sinks: Sink[] = [
      { name: 'output', bytes: Buffer.from(service.output) },
      { name: '/metrics', bytes: metrics.body },
      ...filesOf(service.facts.dataDir),
      ...(await databaseDump(service)),
      ...this.answers,
    ];
    expect(sinks.length).toBeGreaterThan(4);
    expect(this.canaries.scan(sinks)).toEqual([]);
  }

  async close(): Promise<void> {
    this.service.client.close();
    await this.upstream.stop();
  }
}

import { Button, MantineProvider } from '@mantine/core';
import type { ReactNode } from 'react';
import { createRoot } from 'react-dom/client';
import { Histogram, HistogramLegend } from '../src/parts/charts/histogram';
import { RESULT_SERIES } from '../src/parts/charts/result-bars';
import { Sparkline } from '../src/parts/charts/sparkline';
import { TimeChart } from '../src/parts/charts/time-chart';
import { FilterBar } from '../src/parts/filters/filter-bar';
import { duration } from '../src/parts/format/numbers';
import { RouteGraph } from '../src/parts/graph/route-graph';
import { JsonDiff } from '../src/parts/json/json-diff';
import { JsonEditor } from '../src/parts/json/json-editor';
import { MessageView } from '../src/parts/messages/message-view';
import { SecretOnce } from '../src/parts/overlay/secret-once';
import { RangePicker } from '../src/parts/range/range-picker';
import { ScopePicker } from '../src/parts/scopes/scope-picker';
import { Can } from '../src/parts/states/can';
import type { LoadState } from '../src/parts/states/load-state';
import { EmptyState } from '../src/parts/states/states';
import { CompactRow } from '../src/parts/table/compact-row';
import { DataTable } from '../src/parts/table/data-table';
import { Identifier } from '../src/parts/values/identifier';
import { LimitMeter } from '../src/parts/values/limit-meter';
import { Moment, Money, StatusPill } from '../src/parts/values/values';
import '../src/theme/tokens.css';
import '../src/theme/fonts.css';
import '../src/theme/mantine.css';
import '../src/theme/base.css';
import { cssVariables, theme } from '../src/theme/theme';

const now = Date.now();
const nothing = (): void => undefined;
const bars = Array.from({ length: 48 }, (_, at) => ({
  from: new Date(now - (48 - at) * 6e4),
  to: new Date(now - (47 - at) * 6e4),
  counts: [40 + ((at * 37) % 23), at % 7 === 0 ? 4 : 0, at > 30 && at < 35 ? 18 : 0],
}));
const rows = Array.from({ length: 100_000 }, (_, at) => ({ id: String(at), name: `row ${at}` }));
const columns = [
  { key: 'id', title: 'Id', width: '120px', isSorted: true, cell: ({ id }: { id: string }) => id },
  { key: 'name', title: 'Name', width: '1fr', cell: ({ name }: { name: string }) => name },
];
const error = {
  code: 'query_timeout',
  message: 'The query took too long.',
  status: 504,
  requestId: '01a212c9-852f-7d7a-8c57-2a1f0c55fcce',
};
const states: readonly (readonly [string, LoadState, readonly { id: string; name: string }[]])[] = [
  ['100,000 rows', { phase: 'ready' }, rows],
  ['refreshing', { phase: 'ready', isRefreshing: true }, rows],
  ['empty', { phase: 'ready' }, []],
  ['loading, slow after 3 s', { phase: 'loading', cancel: nothing }, []],
  ['error', { phase: 'error', error, retry: nothing }, []],
  ['no permission', { phase: 'forbidden', scope: 'logs.list' }, []],
];

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section style={{ padding: 16, borderBottom: '1px solid var(--border)' }}>
      <h2 style={{ fontSize: 12, color: 'var(--muted)', marginBottom: 8 }}>{title}</h2>
      {children}
    </section>
  );
}

function Values() {
  return (
    <Part title="Money, Moment, Identifier, StatusPill, Meter, Can">
      <Money nano={4_100_000} /> <Money nano={null} /> <Money nano={1_284_160_000_000} />{' '}
      <Moment at={new Date(now - 5_000)} /> <Moment at={new Date(now)} as="moment" />{' '}
      <Identifier id={error.requestId} /> <StatusPill tone="success">200</StatusPill>{' '}
      <StatusPill tone="warning">429</StatusPill>{' '}
      <StatusPill tone="error" withIcon>
        Exhausted
      </StatusPill>
      {[0, 412, 500].map((usage) => (
        <LimitMeter
          key={usage}
          label="Budget"
          limits={[{ type: 'cost', credit_limit: 500, raised_by: 0, usage }]}
        />
      ))}
      <Can isAllowed={false} scope="api_keys.create">
        <Button variant="filled">Create API key</Button>
      </Can>
    </Part>
  );
}

function Parts() {
  return (
    <main style={{ maxWidth: 1100, margin: '0 auto' }}>
      <Values />
      <Part title="RangePicker, FilterBar">
        <RangePicker value={{ kind: 'relative', name: '1h' }} onChange={nothing} />
        <FilterBar
          fields={[{ key: 'status', label: 'Status', operators: ['is'] }]}
          filters={[{ field: 'status', operator: 'is', value: '429' }]}
          onChange={nothing}
        />
      </Part>
      <Part title="Histogram, Sparkline, TimeChart, RouteGraph">
        <Histogram label="Requests" series={RESULT_SERIES} bars={bars} onSelect={nothing} />
        <HistogramLegend series={RESULT_SERIES} bars={bars} />
        <Sparkline
          values={bars.map(({ counts }) => counts[0] ?? 0)}
          before={bars.map(({ counts }) => (counts[0] ?? 0) - 5)}
        />
        <TimeChart
          label="Latency"
          times={bars.map(({ from }) => from)}
          series={[{ name: 'p95', values: bars.map(({ counts }) => (counts[0] ?? 0) * 10) }]}
          format={duration}
        />
        <RouteGraph
          root={{
            name: 'Request',
            note: 'plan: pro',
            isTaken: true,
            children: [
              {
                name: 'premium',
                note: 'fallback of 2',
                isTaken: true,
                edge: 'plan = pro',
                children: [
                  { name: 'anthropic', note: '2 retries', isTaken: true },
                  { name: 'bedrock-eu', note: 'if 429, 5xx' },
                ],
              },
              { name: 'standard', note: 'gpt-5-mini', edge: 'default' },
            ],
          }}
        />
      </Part>
      <Part title="MessageView, JsonEditor, JsonDiff">
        <MessageView
          messages={[
            { role: 'system', parts: [{ kind: 'text', text: 'Be brief.' }] },
            {
              role: 'assistant',
              parts: [
                { kind: 'reasoning', text: 'Hm' },
                { kind: 'toolCall', name: 'weather', text: '{"city":"Bern"}' },
                { kind: 'image', source: null },
              ],
            },
          ]}
        />
        <JsonEditor value={'{\n  "weight": 0.4\n}'} onChange={nothing} />
        <JsonDiff before={{ weight: 0.2, name: 'a' }} after={{ weight: 0.4, name: 'a' }} />
      </Part>
      <Part title="ScopePicker, SecretOnce">
        <ScopePicker
          groups={[
            {
              key: 'logs',
              title: 'Logs',
              scopes: [
                { name: 'logs.list', text: 'See the list' },
                { name: 'logs.view', text: 'Open one' },
              ],
            },
          ]}
          chosen={new Set(['logs.list'])}
          isAllowed={(scope) => scope === 'logs.list'}
          onChange={nothing}
        />
        <SecretOnce secret="gw_ws_0000000000000000000000000000" onDone={nothing} />
      </Part>
      {states.map(([title, state, shown]) => (
        <Part key={title} title={`DataTable: ${title}`}>
          <div style={{ display: 'flex', height: 260 }}>
            <DataTable
              label={title}
              columns={columns}
              rows={shown}
              keyOf={({ id }) => id}
              state={state}
              renderCompact={({ name }) => <CompactRow title={name} details={[]} />}
              empty={<EmptyState title="No requests in this range" text="Choose a longer range." />}
              onOpen={nothing}
              footer="100,000 rows"
            />
          </div>
        </Part>
      ))}
    </main>
  );
}

const root = document.getElementById('root');
if (root)
  createRoot(root).render(
    <MantineProvider theme={theme} defaultColorScheme="auto" cssVariablesResolver={cssVariables}>
      <Parts />
    </MantineProvider>,
  );

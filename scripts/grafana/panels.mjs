/** Makes Grafana's JSON of the dashboards: https://grafana.com/docs/grafana/latest/dashboards/build-dashboards/view-dashboard-json-model/ */
import { register } from 'prom-client';
import { SUPERVISOR_METRICS } from '../../dist/cli/processes/merged-metrics.js';
import { DASHBOARDS } from './dashboards.mjs';

const DATASOURCE = { type: 'prometheus', uid: '${datasource}' };
const COLUMNS = 3;
const [WIDTH, HEIGHT] = [24 / COLUMNS, 8];

/** The meanings of metrics by their names. Call after the metrics are registered: `metricRows`. */
const helpOfMetrics = () =>
  new Map(
    [...register.getMetricsAsArray(), ...Object.values(SUPERVISOR_METRICS)].map(({ name, help }) => [
      name,
      help,
    ]),
  );

function description(queries, helps) {
  const found = new Set();
  for (const { expr } of queries)
    for (const [name] of expr.matchAll(/gatehouse_\w+/g)) {
      const help = helps.get(name) ?? helps.get(name.replace(/_(bucket|sum|count)$/, ''));
      if (help === undefined)
        throw new Error(`A dashboard uses the metric ${name}, which is not registered.`);
      found.add(help);
    }
  return [...found].join(' ');
}

const panelOf = ({ title, unit, queries }, index, helps) => ({
  id: index + 1,
  type: 'timeseries',
  title,
  description: description(queries, helps),
  datasource: DATASOURCE,
  gridPos: { x: (index % COLUMNS) * WIDTH, y: Math.floor(index / COLUMNS) * HEIGHT, w: WIDTH, h: HEIGHT },
  fieldConfig: { defaults: { unit, min: unit === 's' ? undefined : 0 }, overrides: [] },
  options: { legend: { displayMode: 'list', placement: 'bottom' }, tooltip: { mode: 'multi', sort: 'desc' } },
  targets: queries.map(({ expr, legend }, at) => ({
    refId: String.fromCharCode('A'.charCodeAt(0) + at),
    datasource: DATASOURCE,
    expr,
    legendFormat: legend,
  })),
});

const VARIABLES = [
  { name: 'datasource', label: 'Data source', type: 'datasource', query: 'prometheus' },
  {
    name: 'instance',
    label: 'Instance',
    type: 'query',
    datasource: DATASOURCE,
    query: { query: 'label_values(gatehouse_processes_ready, instance)', refId: 'instance' },
    refresh: 2,
    includeAll: true,
    allValue: '.+',
    multi: true,
    current: { text: 'All', value: '$__all' },
  },
];

/** The JSON of one dashboard. Throws when it uses a metric that the service does not have. */
export function dashboardJson(name) {
  const { title, panels } = DASHBOARDS[name];
  const helps = helpOfMetrics();
  const dashboard = {
    uid: `gatehouse-${name}`,
    title,
    tags: ['gatehouse'],
    schemaVersion: 39,
    editable: true,
    refresh: '30s',
    time: { from: 'now-1h', to: 'now' },
    templating: { list: VARIABLES },
    panels: panels.map((panel, index) => panelOf(panel, index, helps)),
  };
  return `${JSON.stringify(dashboard, null, 2)}\n`;
}

export const dashboardNames = Object.keys(DASHBOARDS);

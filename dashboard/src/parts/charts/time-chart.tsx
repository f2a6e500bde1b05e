import { useElementSize } from '@mantine/hooks';
import { useComputedColorScheme } from '@mantine/core';
import { useEffect, useRef } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { clockOfSecond, moment } from '../format/times';
import { useZone } from '../zone';
import { ChartTable } from './chart-table';
import styles from './time-chart.module.css';
import { timeTicks } from './time-ticks';

export interface TimeSeries {
  readonly name: string;
  readonly values: readonly (number | null)[];
}

export interface TimeChartProps {
  /** The measure and the unit. */
  readonly label: string;
  readonly times: readonly Date[];
  /** At most six; combine the rest as "other". */
  readonly series: readonly TimeSeries[];
  readonly format: (value: number) => string;
  readonly height?: number;
  readonly asTable?: boolean;
}

const STROKES = ['--accent', '--bar-warning', '--success', '--bar-error', '--muted', '--text'] as const;
const FONT = "12px 'Inter Variable', system-ui";
const MS = 1_000;
/** Width for the label of a tick, in pixels. */
const TICK_WIDTH = 90;

const token = (name: string): string =>
  getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function optionsOf(
  { series, format }: TimeChartProps,
  zone: string,
  size: { width: number; height: number },
): uPlot.Options {
  const axis = {
    stroke: token('--muted'),
    font: FONT,
    grid: { stroke: token('--border'), width: 1 },
    ticks: { show: false },
  };
  const ticksOf = (from: number, to: number) =>
    timeTicks(new Date(from * MS), new Date(to * MS), zone, Math.floor(size.width / TICK_WIDTH));
  return {
    ...size,
    cursor: { y: false, points: { size: 6 } },
    scales: { y: { range: (_chart, _min, max) => [0, max > 0 ? max * 1.1 : 1] } },
    axes: [
      {
        ...axis,
        size: 30,
        grid: { show: false },
        splits: (_chart, _axis, from, to) => ticksOf(from, to).map(({ at }) => at.getTime() / MS),
        values: ({ scales: { x } }) => ticksOf(x?.min ?? 0, x?.max ?? 0).map(({ label }) => label),
      },
      { ...axis, size: 60, values: (_chart, ticks) => ticks.map(format) },
    ],
    series: [
      { value: (_chart, at) => (at === null ? '' : moment(new Date(at * MS), zone)) },
      ...series.map(({ name }, of) => ({
        label: name,
        stroke: token(STROKES[of % STROKES.length] ?? '--accent'),
        width: 1.5,
        points: { show: false },
        value: (_chart: uPlot, value: number | null) => (value === null ? '' : format(value)),
      })),
    ],
  };
}

/** Lines over time, from 0. Hover shows exact values and the zone. */
export function TimeChart(props: TimeChartProps) {
  const { label, times, series, format, asTable = false } = props;
  if (asTable) {
    const rows = times.map((at, row) => ({
      at,
      values: series.map(({ values }) => shown(values[row], format)),
    }));
    return <ChartTable label={label} series={series.map(({ name }) => name)} rows={rows} />;
  }
  return <Lines {...props} />;
}

const shown = (value: number | null | undefined, format: (value: number) => string): string =>
  value === null || value === undefined ? '' : format(value);

function Lines(props: TimeChartProps) {
  const { label, times, series, height = 180 } = props;
  const zone = useZone();
  const scheme = useComputedColorScheme();
  const box = useElementSize<HTMLDivElement>();
  const host = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!host.current || box.width === 0) return;
    const data = [
      times.map((at) => at.getTime() / MS),
      ...series.map(({ values }) => [...values]),
    ] as uPlot.AlignedData;
    const chart = new uPlot(optionsOf(props, zone, { width: box.width, height }), data, host.current);
    return () => chart.destroy();
    // Depends on the colour scheme because a canvas keeps the colours it was drawn with.
  }, [props, times, series, height, zone, scheme, box.width]);
  return (
    <div ref={box.ref} className={styles.chart} style={{ minHeight: height + 28 }}>
      <div ref={host} role="img" aria-label={`${label}, ${clockOfSecond(times[0] ?? new Date(0), zone)}`} />
    </div>
  );
}

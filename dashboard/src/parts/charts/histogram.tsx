import { words } from '../../words/en';
import { exact } from '../format/numbers';
import { hourMinute, moment, offset } from '../format/times';
import type { Interval } from '../range/range';
import { useZone } from '../zone';
import { ChartTable } from './chart-table';
import styles from './histogram.module.css';
import { timeTicks } from './time-ticks';
import { useBarChoice } from './use-bar-choice';

export type SeriesTone = 'normal' | 'muted' | 'warning' | 'error';

export interface HistogramSeries {
  readonly name: string;
  readonly tone: SeriesTone;
}

export interface HistogramBar extends Interval {
  /** One count per series, in order, from the bottom up. */
  readonly counts: readonly number[];
  /** Only part of the bar is within the range, such as the current interval: it is drawn paler. */
  readonly isPartial?: boolean;
}

interface HistogramProps {
  /** The measure and the unit. */
  readonly label: string;
  readonly series: readonly HistogramSeries[];
  readonly bars: readonly HistogramBar[];
  readonly height?: number;
  readonly asTable?: boolean;
  /** A range chosen by dragging or by keys; a click or Enter selects the interval of one bar. */
  readonly onSelect?: (interval: Interval) => void;
}

const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0);

/** Stacked bars over time, from 0. Hover shows a bar's counts and bounds; dragging selects a range. */
export function Histogram(props: HistogramProps) {
  const { bars, series, label, height = 52, asTable = false } = props;
  if (asTable)
    return (
      <ChartTable
        label={label}
        series={series.map(({ name }) => name)}
        rows={bars.map(({ from, counts }) => ({ at: from, values: counts.map(exact) }))}
      />
    );
  return (
    <figure className={styles.figure}>
      <Bars {...props} height={height} />
      <TimeAxis bars={bars} />
      <figcaption className="visually-hidden">{label}</figcaption>
    </figure>
  );
}

function Bars({ bars, series, label, height, onSelect }: HistogramProps & { height: number }) {
  const select = (first: number, last: number): void => {
    const [from, to] = [bars[first]?.from, bars[last]?.to];
    if (from && to) onSelect?.({ from, to });
  };
  const { box, pointed, isChosen, handlers } = useBarChoice(bars.length, onSelect && select);
  const top = Math.max(1, ...bars.map(({ counts }) => sum(counts)));
  return (
    <div
      ref={box}
      className={styles.bars}
      style={{ height }}
      role={onSelect ? 'group' : 'img'}
      tabIndex={onSelect ? 0 : undefined}
      aria-label={label}
      data-selects={onSelect ? true : undefined}
      {...handlers}
    >
      {bars.map((bar, at) => (
        <div
          key={bar.from.getTime()}
          className={styles.bar}
          data-partial={bar.isPartial || undefined}
          data-hovered={pointed === at || undefined}
          data-dragged={isChosen(at) || undefined}
        >
          {bar.counts.map((count, of) => (
            <span
              key={series[of]?.name}
              data-tone={series[of]?.tone}
              style={{ height: `${(count / top) * 100}%`, minHeight: count > 0 ? 1 : 0 }}
            />
          ))}
        </div>
      ))}
      {pointed !== null && bars[pointed] && (
        <BarTip bar={bars[pointed]} series={series} share={(pointed + 0.5) / bars.length} />
      )}
    </div>
  );
}

function BarTip({
  bar,
  series,
  share,
}: {
  bar: HistogramBar;
  series: readonly HistogramSeries[];
  share: number;
}) {
  const zone = useZone();
  return (
    <div
      className={styles.tip}
      role="status"
      style={{ left: `${share * 100}%` }}
      data-side={share > 0.5 ? 'left' : 'right'}
    >
      <strong>
        {moment(bar.from, zone)} – {hourMinute(bar.to, zone)} {offset(zone, bar.from)}
      </strong>
      {bar.isPartial && <span>{words.parts.partial}</span>}
      {series.map(({ name, tone }, of) => (
        <span key={name} className={styles.legendItem}>
          <i data-tone={tone} /> {name} <b>{exact(bar.counts[of] ?? 0)}</b>
        </span>
      ))}
    </div>
  );
}

const TICKS = 6;
/** A label closer than this to an end of the axis is aligned to that end. */
const EDGE = 0.03;

function TimeAxis({ bars }: { bars: readonly HistogramBar[] }) {
  const zone = useZone();
  const [first, last] = [bars[0], bars.at(-1)];
  if (!first || !last) return null;
  const length = last.to.getTime() - first.from.getTime();
  return (
    <div className={styles.axis} aria-hidden>
      {timeTicks(first.from, last.to, zone, TICKS).map(({ at, label }) => {
        const share = (at.getTime() - first.from.getTime()) / length;
        return (
          <span key={at.getTime()} style={{ left: `${share * 100}%` }} data-edge={edgeOf(share)}>
            {label}
          </span>
        );
      })}
    </div>
  );
}

function edgeOf(share: number): 'start' | 'end' | undefined {
  if (share < EDGE) return 'start';
  return share > 1 - EDGE ? 'end' : undefined;
}

/** Names, colours and totals of the series of a histogram. */
export function HistogramLegend({
  series,
  bars,
}: {
  series: readonly HistogramSeries[];
  bars: readonly HistogramBar[];
}) {
  return (
    <div className={styles.legend}>
      {series.map(({ name, tone }, of) => (
        <span key={name} className={styles.legendItem}>
          <i data-tone={tone} /> {name} <b>{exact(sum(bars.map(({ counts }) => counts[of] ?? 0)))}</b>
        </span>
      ))}
    </div>
  );
}

import styles from './sparkline.module.css';

interface SparklineProps {
  readonly values: readonly number[];
  /** The previous period, drawn dashed. */
  readonly before?: readonly number[];
  readonly tone?: 'accent' | 'error';
  /** Whether the first and the last value cover only part of their interval: dashed, because such a drop means nothing. */
  readonly partial?: readonly [first: boolean, last: boolean];
}

const WIDTH = 240;
const HEIGHT = 44;

function pointsOf(values: readonly number[], top: number): readonly string[] {
  const step = WIDTH / Math.max(1, values.length - 1);
  return values.map(
    (value, at) => `${(at * step).toFixed(1)},${(HEIGHT - 2 - (value / top) * (HEIGHT - 6)).toFixed(1)}`,
  );
}

/** From the foot of the first point to the foot of the last. */
const areaOf = (line: readonly string[]): string => {
  const foot = (point = ''): string => `${point.split(',')[0]},${HEIGHT}`;
  return [foot(line[0]), ...line, foot(line.at(-1))].join(' ');
};

/** The trend of a measure beside its figure, from 0. The figure has the value, so this is hidden from screen readers. */
export function Sparkline({
  values,
  before = [],
  tone = 'accent',
  partial = [false, false],
}: SparklineProps) {
  const top = Math.max(...values, ...before, 1e-9);
  const all = pointsOf(values, top);
  const [isFirstPartial, isLastPartial] = partial;
  const whole = (line: readonly string[]): readonly string[] =>
    line.slice(isFirstPartial ? 1 : 0, isLastPartial ? -1 : undefined);
  const line = whole(all);
  return (
    <svg
      className={styles.sparkline}
      data-tone={tone}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      aria-hidden
    >
      {line.length > 0 && <polygon points={areaOf(line)} />}
      {before.length > 0 && (
        <polyline className={styles.before} points={whole(pointsOf(before, top)).join(' ')} />
      )}
      <polyline points={line.join(' ')} />
      {isFirstPartial && <polyline className={styles.partial} points={all.slice(0, 2).join(' ')} />}
      {isLastPartial && <polyline className={styles.partial} points={all.slice(-2).join(' ')} />}
    </svg>
  );
}

import styles from './sparkline.module.css';

interface SparklineProps {
  readonly values: readonly number[];
  /** The time before, drawn dashed. */
  readonly before?: readonly number[];
  readonly tone?: 'accent' | 'error';
}

const WIDTH = 240;
const HEIGHT = 44;

function points(values: readonly number[], top: number): string {
  const step = WIDTH / Math.max(1, values.length - 1);
  return values
    .map((value, at) => `${(at * step).toFixed(1)},${(HEIGHT - 2 - (value / top) * (HEIGHT - 6)).toFixed(1)}`)
    .join(' ');
}

/** The shape of a measure beside its figure, from 0. The figure tells the value, so this is hidden from screen readers. */
export function Sparkline({ values, before = [], tone = 'accent' }: SparklineProps) {
  const top = Math.max(...values, ...before, 1e-9);
  const line = points(values, top);
  return (
    <svg
      className={styles.sparkline}
      data-tone={tone}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      aria-hidden
    >
      {values.length > 0 && <polygon points={`0,${HEIGHT} ${line} ${WIDTH},${HEIGHT}`} />}
      {before.length > 0 && <polyline className={styles.before} points={points(before, top)} />}
      <polyline points={line} />
    </svg>
  );
}

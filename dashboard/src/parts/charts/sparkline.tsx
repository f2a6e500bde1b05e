import styles from './sparkline.module.css';

/** Null where there is no value: the line has a gap there. */
type Values = readonly (number | null)[];

interface SparklineProps {
  readonly values: Values;
  /** The previous period, drawn dashed. */
  readonly before?: Values;
  readonly tone?: 'accent' | 'error';
  /** Whether the first and the last value cover only part of their interval: dashed, because such a drop means nothing. */
  readonly partial?: readonly [first: boolean, last: boolean];
}

const WIDTH = 240;
const HEIGHT = 44;

function pointsOf(values: Values, top: number): readonly (string | null)[] {
  const step = WIDTH / Math.max(1, values.length - 1);
  return values.map((value, at) =>
    value === null
      ? null
      : `${(at * step).toFixed(1)},${(HEIGHT - 2 - (value / top) * (HEIGHT - 6)).toFixed(1)}`,
  );
}

/** The lines between the gaps. */
function linesOf(points: readonly (string | null)[]): readonly (readonly string[])[] {
  const lines: string[][] = [[]];
  for (const point of points)
    if (point === null) lines.push([]);
    else lines.at(-1)?.push(point);
  return lines.filter((line) => line.length > 0);
}

/** A point alone is a line to itself, which the round ends make a dot. */
const pathOf = (line: readonly string[]): string => (line.length === 1 ? [...line, ...line] : line).join(' ');

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
  const top = Math.max(...[...values, ...before].map((value) => value ?? 0), 1e-9);
  const [isFirstPartial, isLastPartial] = partial;
  const whole = (points: readonly (string | null)[]): readonly (readonly string[])[] =>
    linesOf(points.slice(isFirstPartial ? 1 : 0, isLastPartial ? -1 : undefined));
  const points = pointsOf(values, top);
  const lines = whole(points);
  const partials = [isFirstPartial ? points.slice(0, 2) : [], isLastPartial ? points.slice(-2) : []];
  return (
    <svg
      className={styles.sparkline}
      data-tone={tone}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      aria-hidden
    >
      {lines.map((line) => (
        <polygon key={line[0]} points={areaOf(line)} />
      ))}
      {whole(pointsOf(before, top)).map((line) => (
        <polyline key={line[0]} className={styles.before} points={pathOf(line)} />
      ))}
      {lines.map((line) => (
        <polyline key={line[0]} points={pathOf(line)} />
      ))}
      {partials.flatMap(linesOf).map((line) => (
        <polyline key={line[0]} className={styles.partial} points={pathOf(line)} />
      ))}
    </svg>
  );
}

import { useQuery } from '@tanstack/react-query';
import { type GraphQuery, graphQuery } from '../../api/analytics';
import { loadStateOf } from '../../api/load-state';
import { Sparkline } from '../../parts/charts/sparkline';
import { duration, money, nanoOfCents, percent, short } from '../../parts/format/numbers';
import type { Interval } from '../../parts/range/range';
import { overviewWords } from '../../words/overview';
import { words } from '../../words/en';
import { Card } from './card';
import styles from './overview.module.css';

export interface Periods {
  readonly now: GraphQuery;
  /** The same length of time, just before. */
  readonly before: GraphQuery;
  readonly interval: Interval;
}

const { cards } = overviewWords;
const SCOPE = 'analytics.view';

export function RequestsCard({ now, before }: Periods) {
  const [current, past] = [useQuery(graphQuery('requests', now)), useQuery(graphQuery('requests', before))];
  return (
    <Card title={cards.requests} span={3} isFigure state={loadStateOf(current, SCOPE)}>
      {() => (
        <>
          <Figure
            text={short(current.data?.summary?.total ?? 0)}
            delta={relativeChange(current.data?.summary?.total, past.data?.summary?.total)}
            isMoreBetter
          />
          <Sparkline
            values={valuesOf(current.data?.data_points, 'total')}
            before={valuesOf(past.data?.data_points, 'total')}
          />
        </>
      )}
    </Card>
  );
}

/** Errors as a share of the requests, from the counts of both. */
export function ErrorsCard({ now, before }: Periods) {
  const [errors, requests] = [useQuery(graphQuery('errors', now)), useQuery(graphQuery('requests', now))];
  const [pastErrors, pastRequests] = [
    useQuery(graphQuery('errors', before)),
    useQuery(graphQuery('requests', before)),
  ];
  const share = shareOf(errors.data?.summary?.total, requests.data?.summary?.total);
  const pastShare = shareOf(pastErrors.data?.summary?.total, pastRequests.data?.summary?.total);
  const change = share !== null && pastShare !== null ? share - pastShare : null;
  return (
    <Card title={cards.errors} span={3} isFigure state={loadStateOf(errors, SCOPE)}>
      {() => (
        <>
          <Figure
            text={share === null ? words.parts.none : percent(share)}
            delta={change}
            unit=""
            isMoreBetter={false}
          />
          <Sparkline
            values={valuesOf(errors.data?.data_points, 'total')}
            before={valuesOf(pastErrors.data?.data_points, 'total')}
            tone="error"
          />
        </>
      )}
    </Card>
  );
}

export function CostCard({ now, before }: Periods) {
  const [current, past] = [useQuery(graphQuery('cost', now)), useQuery(graphQuery('cost', before))];
  return (
    <Card title={cards.cost} span={3} isFigure state={loadStateOf(current, SCOPE)}>
      {() => (
        <>
          <Figure
            text={money(nanoOfCents(current.data?.summary?.total ?? 0))}
            delta={relativeChange(current.data?.summary?.total, past.data?.summary?.total)}
            isMoreBetter={false}
          />
          <Sparkline
            values={valuesOf(current.data?.data_points, 'total')}
            before={valuesOf(past.data?.data_points, 'total')}
          />
        </>
      )}
    </Card>
  );
}

export function LatencyFigureCard({ now, before }: Periods) {
  const [current, past] = [useQuery(graphQuery('latency', now)), useQuery(graphQuery('latency', before))];
  return (
    <Card title={cards.latency} span={3} isFigure state={loadStateOf(current, SCOPE)}>
      {() => (
        <>
          <Figure
            text={duration(current.data?.summary?.p95 ?? null)}
            delta={relativeChange(current.data?.summary?.p95, past.data?.summary?.p95)}
            isMoreBetter={false}
          />
          <Sparkline
            values={valuesOf(current.data?.data_points, 'p95')}
            before={valuesOf(past.data?.data_points, 'p95')}
          />
        </>
      )}
    </Card>
  );
}

const valuesOf = <Name extends string>(
  points: readonly { readonly [name in Name]?: number }[] | undefined,
  name: Name,
): readonly number[] => points?.map((point) => point[name] ?? 0) ?? [];

const shareOf = (part: number | undefined, whole: number | undefined): number | null =>
  part === undefined || !whole ? null : (part / whole) * 100;

/** In percent of the time before; null where there was nothing. */
const relativeChange = (now: number | undefined, before: number | undefined): number | null =>
  now === undefined || !before ? null : ((now - before) / before) * 100;

interface FigureProps {
  readonly text: string;
  readonly delta: number | null;
  readonly unit?: string;
  readonly isMoreBetter: boolean;
}

/** A difference that rounds to nothing is neither good nor bad. */
const NOTHING = 0.05;

function Figure({ text, delta, unit = ' %', isMoreBetter }: FigureProps) {
  const isMeant = delta !== null && Math.abs(delta) >= NOTHING;
  const tone = isMeant ? (delta > 0 === isMoreBetter ? 'success' : 'error') : undefined;
  const change =
    delta === null
      ? overviewWords.noBefore
      : `${delta < 0 ? '−' : '+'}${Math.abs(delta).toFixed(Math.abs(delta) < 10 ? 1 : 0)}${unit}`;
  return (
    <p className={styles.figure}>
      {text}
      <span className={styles.delta} data-tone={tone} title={overviewWords.delta(change)}>
        {change}
      </span>
    </p>
  );
}

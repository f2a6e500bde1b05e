import type { Overview, OverviewPoint } from '../../api/overview';
import { Sparkline } from '../../parts/charts/sparkline';
import { duration, money, nanoOfCents, percent, short } from '../../parts/format/numbers';
import { type Interval, isPartial } from '../../parts/range/range';
import type { LoadState } from '../../parts/states/load-state';
import { overviewWords } from '../../words/overview';
import { words } from '../../words/en';
import { Card } from './card';
import styles from './overview.module.css';

/** Shared by all cards of figures. */
export interface Figures {
  readonly overview: Overview | undefined;
  readonly state: LoadState;
}

type Summary = Overview['summary'];

interface FigureOfCard {
  readonly title: string;
  readonly text: (summary: Summary) => string;
  readonly note?: (summary: Summary) => string | undefined;
  readonly change: (now: Summary, before: Summary) => number | null;
  /** Unit of the change; percentages change by points, without a unit. */
  readonly unit: string;
  readonly isMoreBetter: boolean;
  /** Null for an interval without a value. */
  readonly point: (point: OverviewPoint) => number | null;
  readonly tone?: 'error';
}

/** In percent of the previous period; null if there is nothing to compare with. */
const relativeChange = (now: number | null, before: number | null): number | null =>
  now === null || before === null || before === 0 ? null : ((now - before) / before) * 100;

/** Of the requests that the gateway did not refuse. */
const errorShare = ({ errors, requests, refusals }: Summary): number | null =>
  requests === refusals ? null : ((errors - refusals) / (requests - refusals)) * 100;

function errorShareChange(now: Summary, before: Summary): number | null {
  const [share, earlier] = [errorShare(now), errorShare(before)];
  return share === null || earlier === null ? null : share - earlier;
}

const { cards } = overviewWords;

const FIGURES: readonly FigureOfCard[] = [
  {
    title: cards.requests,
    text: ({ requests }) => short(requests),
    change: (now, before) => relativeChange(now.requests, before.requests),
    unit: ' %',
    isMoreBetter: true,
    point: ({ requests }) => requests,
  },
  {
    title: cards.errors,
    text: (summary) => {
      const share = errorShare(summary);
      return share === null ? words.parts.none : percent(share);
    },
    note: ({ refusals }) => (refusals === 0 ? undefined : overviewWords.refused(short(refusals))),
    change: errorShareChange,
    unit: '',
    isMoreBetter: false,
    point: ({ client_errors, server_errors }) => client_errors + server_errors,
    tone: 'error',
  },
  {
    title: cards.cost,
    text: ({ cost }) => money(nanoOfCents(cost)),
    change: (now, before) => relativeChange(now.cost, before.cost),
    unit: ' %',
    isMoreBetter: false,
    point: ({ cost }) => cost,
  },
  {
    title: cards.latency,
    text: ({ requests, latency_p95 }) => duration(requests === 0 ? null : latency_p95),
    change: (now, before) => relativeChange(now.latency_p95, before.latency_p95),
    unit: ' %',
    isMoreBetter: false,
    point: ({ requests, latency_p95 }) => (requests === 0 ? null : latency_p95),
  },
  {
    title: cards.firstToken,
    text: ({ first_token_p95 }) => duration(first_token_p95),
    change: (now, before) => relativeChange(now.first_token_p95, before.first_token_p95),
    unit: ' %',
    isMoreBetter: false,
    point: ({ first_token_p95 }) => first_token_p95,
  },
  {
    title: cards.cacheSaved,
    text: ({ cache_saved }) => money(nanoOfCents(cache_saved)),
    change: (now, before) => relativeChange(now.cache_saved, before.cache_saved),
    unit: ' %',
    isMoreBetter: true,
    point: ({ cache_saved }) => cache_saved,
  },
];

interface FigureCardsProps extends Figures {
  readonly interval: Interval;
  /** How many of them one point stands for. */
  readonly minutes: number;
}

/** The figures of the period, each with its change and its trend. */
export function FigureCards({ overview, state, interval, minutes }: FigureCardsProps) {
  const isCut = (point: OverviewPoint | undefined): boolean =>
    point !== undefined && isPartial(new Date(point.timestamp), minutes, interval);
  const isFirstPeriod = overview?.previous_summary.requests === 0;
  return FIGURES.map(({ title, text, note, change, unit, isMoreBetter, point, tone }) => (
    <Card
      key={title}
      title={title}
      note={overview && note?.(overview.summary)}
      span={2}
      isFigure
      state={state}
    >
      {() =>
        overview && (
          <>
            <Figure
              text={text(overview.summary)}
              delta={change(overview.summary, overview.previous_summary)}
              hasRequests={overview.summary.requests > 0}
              {...{ isFirstPeriod, unit, isMoreBetter }}
            />
            <Sparkline
              values={overview.data_points.map(point)}
              before={overview.previous_points.map(point)}
              tone={tone}
              partial={[isCut(overview.data_points[0]), isCut(overview.data_points.at(-1))]}
            />
          </>
        )
      }
    </Card>
  ));
}

interface FigureProps {
  readonly text: string;
  readonly delta: number | null;
  /** Without any, there is nothing to compare. */
  readonly hasRequests: boolean;
  /** Whether the period before had no requests. */
  readonly isFirstPeriod: boolean;
  readonly unit: string;
  readonly isMoreBetter: boolean;
}

/** A difference that rounds to zero is neither good nor bad. */
const NOTHING = 0.05;

function Figure({ text, delta, hasRequests, isFirstPeriod, unit, isMoreBetter }: FigureProps) {
  const isMeant = delta !== null && Math.abs(delta) >= NOTHING;
  const tone = isMeant ? (delta > 0 === isMoreBetter ? 'success' : 'error') : undefined;
  const change =
    delta === null
      ? overviewWords.noBefore
      : `${delta < 0 ? '−' : '+'}${Math.abs(delta).toFixed(Math.abs(delta) < 10 ? 1 : 0)}${unit}`;
  return (
    <p className={styles.figure}>
      {text}
      {hasRequests && (delta !== null || (isFirstPeriod && text !== words.parts.none)) && (
        <span className={styles.delta} data-tone={tone} title={overviewWords.delta(change)}>
          {change}
        </span>
      )}
    </p>
  );
}

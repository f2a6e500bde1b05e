import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import type { GraphQuery } from '../../api/analytics';
import { loadStateOf } from '../../api/load-state';
import { type Overview, overviewQuery } from '../../api/overview';
import { exact, money, nanoOfCents } from '../../parts/format/numbers';
import { bucketMinutes, type Interval, intervalOf, parseRange, rangeText } from '../../parts/range/range';
import { RangePicker } from '../../parts/range/range-picker';
import { Page } from '../../parts/shell/page';
import { useZone } from '../../parts/zone';
import { usePlace } from '../../session/session';
import { overviewWords } from '../../words/overview';
import { words } from '../../words/en';
import { BudgetsCard } from './budgets-card';
import { Card } from './card';
import { LatencyCard, ResultsCard } from './chart-cards';
import { FigureCards, type Figures } from './figure-cards';
import { FailingProviders } from './failing-providers';
import { GroupCard } from './group-card';
import styles from './overview.module.css';

const DEFAULT_RANGE = '24h';
const MINUTE_MS = 60_000;
/** Maximum range, in minutes, with points of each interval. More points would be noise in a chart of this size. */
const POINTS = [
  { interval: 'minute', minutes: 1, upTo: 180 },
  { interval: 'hour', minutes: 60, upTo: 180 * 60 },
  { interval: 'day', minutes: 1_440, upTo: Infinity },
] as const;

function pointsOf({ from, to }: Interval) {
  const length = (to.getTime() - from.getTime()) / MINUTE_MS;
  return POINTS.find(({ upTo }) => length <= upTo) ?? POINTS[2];
}

interface OverviewPageProps {
  readonly range: string | undefined;
  readonly onRange: (range: string) => void;
}

/** Health and cost at a glance: one request returns all figures. */
export function OverviewPage({ range: text, onRange }: OverviewPageProps) {
  const { workspace } = usePlace();
  const zone = useZone();
  const range = useMemo(() => parseRange(text, DEFAULT_RANGE), [text]);
  const [openedAt] = useState(Date.now);
  const interval = useMemo(() => intervalOf(range, openedAt), [range, openedAt]);
  const asked = useMemo(
    (): GraphQuery => ({
      workspace: workspace.slug,
      conditions: {},
      time: { from: interval.from.toISOString(), to: interval.to.toISOString() },
      zone,
      interval: pointsOf(interval).interval,
    }),
    [interval, workspace.slug, zone],
  );
  const query = useQuery(overviewQuery(asked));
  const figures: Figures = { overview: query.data, state: loadStateOf(query, 'analytics.view') };
  const name =
    range.kind === 'relative'
      ? words.range.relative[range.name].toLowerCase()
      : words.range.absolute.toLowerCase();
  const { phase } = figures.state;
  return (
    <Page
      title={overviewWords.title}
      text={overviewWords.text(workspace.name, name)}
      tools={<RangePicker value={range} onChange={(next) => onRange(rangeText(next))} />}
    >
      <div className={styles.board}>
        {phase === 'error' || phase === 'forbidden' ? (
          <NoFigures {...figures} />
        ) : (
          <FigureBoard {...figures} interval={interval} />
        )}
      </div>
    </Page>
  );
}

/** One problem, shown once. Budgets are loaded separately. */
function NoFigures({ state }: Figures) {
  return (
    <>
      <Card title={overviewWords.figures} span={8} state={state}>
        {() => null}
      </Card>
      <BudgetsCard />
    </>
  );
}

function FigureBoard({ interval, ...figures }: Figures & { readonly interval: Interval }) {
  const { overview, state } = figures;
  const range = rangeText({ kind: 'absolute', ...interval });
  return (
    <>
      <FailingProviders providers={overview?.failing_providers ?? []} interval={interval} />
      <FigureCards {...figures} interval={interval} minutes={pointsOf(interval).minutes} />
      <ResultsCard
        {...figures}
        interval={interval}
        minutes={Math.max(bucketMinutes(interval), pointsOf(interval).minutes)}
      />
      <BudgetsCard />
      <LatencyCard {...figures} />
      <GroupCard
        title={overviewWords.errorsByStatus}
        groups={overview?.top_errors.map(({ status_code, requests, refusals }) => ({
          value: String(status_code),
          name: refusals === 0 ? undefined : overviewWords.statusWith(String(status_code), exact(refusals)),
          amount: requests,
        }))}
        format={exact}
        field="status"
        {...{ state, range }}
      />
      <GroupCard
        title={overviewWords.costByModel}
        groups={overview?.top_models.map(byCost)}
        format={cents}
        field="model"
        {...{ state, range }}
      />
      <GroupCard
        title={overviewWords.costByKey}
        groups={overview?.top_api_keys.map((key) => ({ ...byCost(key), name: key.name ?? undefined }))}
        format={cents}
        field="api_key"
        {...{ state, range }}
      />
      <GroupCard
        title={overviewWords.costByUser}
        groups={overview?.top_users.filter(({ value }) => value !== '').map(byCost)}
        format={cents}
        field="user"
        {...{ state, range }}
      />
    </>
  );
}

const byCost = ({ value, cost }: Overview['top_models'][number]) => ({ value, amount: cost });
const cents = (amount: number): string => money(nanoOfCents(amount));

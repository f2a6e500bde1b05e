import { useNavigate } from '@tanstack/react-router';
import { lazy, Suspense, useMemo, useState } from 'react';
import { Histogram, HistogramLegend } from '../../parts/charts/histogram';
import { barsOf, RESULT_SERIES } from '../../parts/charts/result-bars';
import { duration } from '../../parts/format/numbers';
import { offset } from '../../parts/format/times';
import { bucketName, type Interval, rangeText } from '../../parts/range/range';
import { Loading } from '../../parts/states/states';
import { TableToggle } from '../../parts/charts/table-toggle';
import { useZone } from '../../parts/zone';
import { usePlace } from '../../session/session';
import { overviewWords } from '../../words/overview';
import { words } from '../../words/en';
import { Card } from './card';
import type { Figures } from './figure-cards';
import styles from './overview.module.css';

/** The chart's library is loaded after the figures, which matter first. */
const TimeChart = lazy(() =>
  import('../../parts/charts/time-chart').then((module) => ({ default: module.TimeChart })),
);

interface ResultsCardProps extends Figures {
  readonly interval: Interval;
  /** How many of them one bar stands for. */
  readonly minutes: number;
}

/** Requests by result. A dragged range opens in Logs. */
export function ResultsCard({ overview, state, interval, minutes }: ResultsCardProps) {
  const zone = useZone();
  const navigate = useNavigate();
  const { workspace } = usePlace();
  const [isTable, setTable] = useState(false);
  const bars = barsOf(interval, minutes, overview?.data_points ?? [], zone);
  return (
    <Card
      title={overviewWords.byResult}
      note={`${words.logs.buckets(bucketName(minutes))}, ${offset(zone)}`}
      span={8}
      state={state}
      action={<TableToggle isTable={isTable} onToggle={() => setTable(!isTable)} />}
    >
      {() => (
        <>
          <Histogram
            label={overviewWords.byResult}
            series={RESULT_SERIES}
            bars={bars}
            height={150}
            asTable={isTable}
            onSelect={(chosen) =>
              void navigate({
                to: '/w/$workspace/logs',
                params: { workspace: workspace.slug },
                search: { range: rangeText({ kind: 'absolute', ...chosen }) },
              })
            }
          />
          <HistogramLegend series={RESULT_SERIES} bars={bars} />
        </>
      )}
    </Card>
  );
}

export function LatencyCard({ overview, state }: Figures) {
  const zone = useZone();
  const [isTable, setTable] = useState(false);
  const points = overview?.data_points;
  const { times, series } = useMemo(() => {
    const all = points ?? [];
    return {
      times: all.map(({ timestamp }) => new Date(timestamp)),
      series: [
        {
          name: overviewWords.p50,
          values: all.map(({ requests, latency_p50 }) => (requests === 0 ? null : latency_p50)),
        },
        {
          name: overviewWords.p95,
          values: all.map(({ requests, latency_p95 }) => (requests === 0 ? null : latency_p95)),
        },
      ],
    };
  }, [points]);
  return (
    <Card
      title={overviewWords.latencyChart}
      note={offset(zone)}
      span={8}
      state={state}
      action={<TableToggle isTable={isTable} onToggle={() => setTable(!isTable)} />}
    >
      {() =>
        points?.every(({ requests }) => requests === 0) ? (
          <p className={styles.muted}>{overviewWords.none}</p>
        ) : (
          <Suspense fallback={<Loading lines={3} />}>
            <TimeChart
              label={overviewWords.latencyChart}
              times={times}
              series={series}
              format={duration}
              asTable={isTable}
            />
          </Suspense>
        )
      }
    </Card>
  );
}

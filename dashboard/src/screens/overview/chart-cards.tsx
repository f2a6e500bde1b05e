import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { lazy, Suspense, useMemo, useState } from 'react';
import { graphQuery } from '../../api/analytics';
import { loadStateOf, shownError } from '../../api/load-state';
import { useResultPoints } from '../../api/result-bars';
import { Histogram, HistogramLegend } from '../../parts/charts/histogram';
import { barsOf, RESULT_SERIES } from '../../parts/charts/result-bars';
import { duration } from '../../parts/format/numbers';
import { offset } from '../../parts/format/times';
import { bucketMinutes, bucketName, rangeText } from '../../parts/range/range';
import type { LoadState } from '../../parts/states/load-state';
import { Loading } from '../../parts/states/states';
import { useZone } from '../../parts/zone';
import { usePlace } from '../../session/session';
import { overviewWords } from '../../words/overview';
import { words } from '../../words/en';
import { Card } from './card';
import type { Periods } from './figure-cards';

/** The chart's library is loaded after the figures, which matter first. */
const TimeChart = lazy(() =>
  import('../../parts/charts/time-chart').then((module) => ({ default: module.TimeChart })),
);

function TableToggle({ isTable, onToggle }: { isTable: boolean; onToggle: () => void }) {
  return (
    <Button size="compact-xs" variant="subtle" color="gray" aria-pressed={isTable} onClick={onToggle}>
      {isTable ? words.parts.showChart : words.parts.showTable}
    </Button>
  );
}

/** Requests by result. A dragged range opens in Logs. */
export function ResultsCard({ now, interval }: Periods) {
  const zone = useZone();
  const navigate = useNavigate();
  const { workspace } = usePlace();
  const [isTable, setTable] = useState(false);
  const minutes = bucketMinutes(interval);
  const { points, error, isPending, refetch } = useResultPoints(now);
  const bars = barsOf(interval, minutes, points);
  const state: LoadState = error
    ? { phase: 'error', error: shownError(error), retry: () => void refetch() }
    : isPending
      ? { phase: 'loading' }
      : { phase: 'ready' };
  return (
    <Card
      title={overviewWords.byResult}
      note={`${bucketName(minutes)}, ${offset(zone)}`}
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

export function LatencyCard({ now }: Periods) {
  const zone = useZone();
  const [isTable, setTable] = useState(false);
  const query = useQuery(graphQuery('latency', now));
  const points = query.data?.data_points;
  const { times, series } = useMemo(() => {
    const all = points ?? [];
    return {
      times: all.map(({ timestamp }) => new Date(timestamp ?? 0)),
      series: [
        { name: overviewWords.p50, values: all.map(({ p50 }) => p50 ?? null) },
        { name: overviewWords.p95, values: all.map(({ p95 }) => p95 ?? null) },
      ],
    };
  }, [points]);
  return (
    <Card
      title={overviewWords.latencyChart}
      note={offset(zone)}
      span={12}
      state={loadStateOf(query, 'analytics.view')}
      action={<TableToggle isTable={isTable} onToggle={() => setTable(!isTable)} />}
    >
      {() => (
        <Suspense fallback={<Loading lines={3} />}>
          <TimeChart
            label={overviewWords.latencyChart}
            times={times}
            series={series}
            format={duration}
            asTable={isTable}
          />
        </Suspense>
      )}
    </Card>
  );
}

import { useState } from 'react';
import type { LogQuery } from '../../api/logs';
import { shownError } from '../../api/load-state';
import { Histogram, HistogramLegend } from '../../parts/charts/histogram';
import { RESULT_SERIES } from '../../parts/charts/result-bars';
import { TableToggle } from '../../parts/charts/table-toggle';
import { exact } from '../../parts/format/numbers';
import { bucketName, type Interval } from '../../parts/range/range';
import { ErrorCard } from '../../parts/states/states';
import { words } from '../../words/en';
import styles from './logs.module.css';
import { useLogBars } from './use-log-bars';

interface LogsHistogramProps {
  readonly query: LogQuery;
  readonly interval: Interval;
  readonly isLive: boolean;
  readonly onSelect: (interval: Interval) => void;
}

/** The number of requests by result; while live, it moves with the list. Fails independently: the list does not need it. */
export function LogsHistogram({ query, interval, isLive, onSelect }: LogsHistogramProps) {
  const { bars, minutes, total, error, refetch } = useLogBars(query, interval, isLive);
  const [isTable, setTable] = useState(false);
  if (error) return <ErrorCard error={shownError(error)} onRetry={() => void refetch()} />;
  return (
    <div className={styles.histogram}>
      <div className={styles.histogramHead}>
        <span>
          <strong>{words.logs.requests(total === null ? words.parts.none : exact(total))}</strong>{' '}
          <span className={styles.muted}>{words.logs.buckets(bucketName(minutes))}</span>
        </span>
        <span className={styles.histogramTools}>
          <HistogramLegend series={RESULT_SERIES} bars={bars} />
          <TableToggle isTable={isTable} onToggle={() => setTable(!isTable)} />
        </span>
      </div>
      <Histogram
        label={words.logs.histogramLabel}
        series={RESULT_SERIES}
        bars={bars}
        asTable={isTable}
        onSelect={onSelect}
      />
    </div>
  );
}

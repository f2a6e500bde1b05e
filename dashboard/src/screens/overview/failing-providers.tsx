import { Link } from '@tanstack/react-router';
import { IconAlertTriangle } from '@tabler/icons-react';
import type { Overview } from '../../api/overview';
import { filtersText } from '../../parts/filters/filter';
import { exact, percent } from '../../parts/format/numbers';
import { type Interval, rangeText } from '../../parts/range/range';
import { usePlace } from '../../session/session';
import { overviewWords } from '../../words/overview';
import styles from './overview.module.css';

const HOUR_MS = 3_600_000;

interface FailingProvidersProps {
  readonly providers: Overview['failing_providers'];
  readonly interval: Interval;
}

/** One line for each provider that failed often in the last hour, with a link to these failures. */
export function FailingProviders({ providers, interval: { from, to } }: FailingProvidersProps) {
  const { workspace } = usePlace();
  const lastHour = { from: new Date(Math.max(from.getTime(), to.getTime() - HOUR_MS)), to };
  return providers.map(({ provider, requests, failures, statuses }) => (
    <p key={provider} className={styles.failing} role="status">
      <IconAlertTriangle size={16} aria-hidden />
      <span>
        <strong>{provider}</strong>{' '}
        {overviewWords.failing(percent((failures / requests) * 100), exact(requests), String(statuses[0]))}
      </span>
      <Link
        to="/w/$workspace/logs"
        params={{ workspace: workspace.slug }}
        search={{
          filter: filtersText([
            { field: 'provider', operator: 'is', value: provider },
            { field: 'ending', operator: 'not', value: 'refused' },
            { field: 'ending', operator: 'not', value: 'gateway_crashed' },
            ...statuses.map(
              (status) => ({ field: 'status', operator: 'is', value: String(status) }) as const,
            ),
          ]),
          range: rangeText({ kind: 'absolute', ...lastHour }),
        }}
      >
        {overviewWords.showRequests}
      </Link>
    </p>
  ));
}

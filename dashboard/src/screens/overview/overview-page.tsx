import { useMemo, useState } from 'react';
import type { GraphQuery } from '../../api/analytics';
import { bucketMinutes, intervalBefore, intervalOf, parseRange, rangeText } from '../../parts/range/range';
import { RangePicker } from '../../parts/range/range-picker';
import { Page } from '../../parts/shell/page';
import { useZone } from '../../parts/zone';
import { usePlace } from '../../session/session';
import { overviewWords } from '../../words/overview';
import { words } from '../../words/en';
import { BudgetsCard } from './budgets-card';
import { LatencyCard, ResultsCard } from './chart-cards';
import { CostCard, ErrorsCard, LatencyFigureCard, RequestsCard } from './figure-cards';
import { GroupCard } from './group-card';
import styles from './overview.module.css';

const DEFAULT_RANGE = '24h';

interface OverviewPageProps {
  readonly range: string | undefined;
  readonly onRange: (range: string) => void;
}

/** Is it healthy, and what does it cost: every card loads and fails by itself. */
export function OverviewPage({ range: text, onRange }: OverviewPageProps) {
  const { workspace } = usePlace();
  const zone = useZone();
  const range = useMemo(() => parseRange(text, DEFAULT_RANGE), [text]);
  const [openedAt] = useState(Date.now);
  const interval = useMemo(() => intervalOf(range, openedAt), [range, openedAt]);
  const { now, before } = useMemo(() => {
    const minutes = bucketMinutes(interval);
    const of = ({ from, to }: typeof interval): GraphQuery => ({
      workspace: workspace.slug,
      conditions: {},
      time: { from: from.toISOString(), to: to.toISOString() },
      zone,
      interval: minutes < 60 ? 'minute' : minutes < 1_440 ? 'hour' : 'day',
    });
    return { now: of(interval), before: of(intervalBefore(interval)) };
  }, [interval, workspace.slug, zone]);
  const name =
    range.kind === 'relative'
      ? words.range.relative[range.name].toLowerCase()
      : words.range.absolute.toLowerCase();
  const periods = { now, before, interval };
  return (
    <Page
      title={overviewWords.title}
      text={overviewWords.text(workspace.name, name)}
      tools={<RangePicker value={range} onChange={(next) => onRange(rangeText(next))} />}
    >
      <div className={styles.board}>
        <RequestsCard {...periods} />
        <ErrorsCard {...periods} />
        <CostCard {...periods} />
        <LatencyFigureCard {...periods} />
        <ResultsCard {...periods} />
        <BudgetsCard />
        <LatencyCard {...periods} />
        <GroupCard title={overviewWords.costByModel} groupBy="ai-models" measure="cost" query={now} />
        <GroupCard title={overviewWords.costByKey} groupBy="api_key" measure="cost" query={now} />
        <GroupCard
          title={overviewWords.errorsByStatus}
          groupBy="status_code"
          measure="requests"
          query={{ ...now, conditions: { is_success: 'false' } }}
        />
      </div>
    </Page>
  );
}

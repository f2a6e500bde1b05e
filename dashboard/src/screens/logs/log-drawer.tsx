import { ActionIcon, Tabs, Tooltip } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { IconChevronDown, IconChevronUp, IconLink } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { ApiError } from '../../api/client';
import { loadStateOf } from '../../api/load-state';
import { type LogDetail, logQuery } from '../../api/logs';
import { Drawer } from '../../parts/overlay/drawer';
import { EmptyState, Loadable } from '../../parts/states/states';
import { visibleText } from '../../parts/format/visible-text';
import { Identifier } from '../../parts/values/identifier';
import { StatusPill, toneOfStatus } from '../../parts/values/values';
import { logWords } from '../../words/log';
import { words } from '../../words/en';
import styles from './log-drawer.module.css';
import { LogFacts } from './log-facts';
import { failureOf } from './log-failure';
import { CostTab } from './tabs/cost-tab';
import { FeedbackTab, GuardrailsTab } from './tabs/judgement-tabs';
import { MessagesTab } from './tabs/messages-tab';
import { RawTab } from './tabs/raw-tab';
import { RouteTab } from './tabs/route-tab';
import { TimingTab } from './tabs/timing-tab';
import { TraceTab } from './tabs/trace-tab';

const TABS = ['messages', 'raw', 'route', 'cost', 'timing', 'guardrails', 'feedback', 'trace'] as const;
export type LogTab = (typeof TABS)[number];
const isTab = (text: string | null | undefined): text is LogTab => TABS.some((tab) => tab === text);

interface LogDrawerProps {
  readonly id: string;
  readonly tab: string | undefined;
  /** The range of the list. */
  readonly range: string | undefined;
  readonly onTab: (tab: LogTab) => void;
  readonly onStep: (step: -1 | 1) => void;
  readonly onClose: () => void;
}

/** One request: what was sent, the response, the route and its reasons, the cost. */
export function LogDrawer({ id, tab, range, onTab, onStep, onClose }: LogDrawerProps) {
  const query = useQuery(logQuery(id));
  const isGone = query.error instanceof ApiError && query.error.status === 404;
  return (
    <Drawer
      label={logWords.label}
      onClose={onClose}
      onStep={onStep}
      head={query.data ? <Head log={query.data} range={range} /> : <Identifier id={id} />}
      actions={<Actions onStep={onStep} />}
    >
      {isGone ? (
        <EmptyState title={logWords.gone} text={logWords.goneText} />
      ) : (
        <div className={styles.loading}>
          <Loadable state={loadStateOf(query, 'logs.view')}>
            {() =>
              query.data && <LogTabs log={query.data} tab={isTab(tab) ? tab : 'messages'} onTab={onTab} />
            }
          </Loadable>
        </div>
      )}
    </Drawer>
  );
}

function Head({ log, range }: { log: LogDetail; range: string | undefined }) {
  return (
    <>
      <h2 className={styles.title}>
        <StatusPill tone={toneOfStatus(log.status)}>{log.status}</StatusPill> {log.method} {log.path}
      </h2>
      <LogFacts log={log} range={range} />
    </>
  );
}

function Actions({ onStep }: { onStep: (step: -1 | 1) => void }) {
  const actions = [
    { label: logWords.previous, Icon: IconChevronUp, run: () => onStep(-1) },
    { label: logWords.next, Icon: IconChevronDown, run: () => onStep(1) },
    {
      label: words.parts.copyLink,
      Icon: IconLink,
      run: () => void navigator.clipboard.writeText(location.href),
    },
  ];
  return actions.map(({ label, Icon, run }) => (
    <Tooltip key={label} label={label}>
      <ActionIcon aria-label={label} onClick={run}>
        <Icon size={16} />
      </ActionIcon>
    </Tooltip>
  ));
}

/** Above every tab: whoever opens a failed request looks for the reason first. */
function Failure({ log }: { log: LogDetail }) {
  const failure = failureOf(log);
  if (failure === null) return null;
  return (
    <div className={styles.failure} role="note">
      <strong>{failure.title}</strong>
      <p>{failure.message === null ? logWords.failure.noMessage : visibleText(failure.message)}</p>
      {failure.code !== null && <code>{failure.code}</code>}
    </div>
  );
}

const PANELS: Readonly<Record<LogTab, (props: { log: LogDetail }) => ReactNode>> = {
  messages: MessagesTab,
  raw: RawTab,
  route: RouteTab,
  cost: CostTab,
  timing: TimingTab,
  guardrails: GuardrailsTab,
  feedback: FeedbackTab,
  trace: TraceTab,
};

function LogTabs({ log, tab, onTab }: { log: LogDetail; tab: LogTab; onTab: (tab: LogTab) => void }) {
  const Panel = PANELS[tab];
  return (
    <Tabs
      value={tab}
      onChange={(next) => isTab(next) && onTab(next)}
      keepMounted={false}
      classNames={{ root: styles.tabs, panel: styles.panel, list: styles.list, tab: styles.tab }}
    >
      <Tabs.List>
        {TABS.map((name) => (
          <Tabs.Tab key={name} value={name}>
            {logWords.tabs[name]}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      <Tabs.Panel value={tab} tabIndex={0}>
        <Failure log={log} />
        <Panel log={log} />
      </Tabs.Panel>
    </Tabs>
  );
}

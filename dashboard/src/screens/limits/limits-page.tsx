import { Button } from '@mantine/core';
import { IconGauge } from '@tabler/icons-react';
import { useMemo } from 'react';
import { type Limit, liveLimitsQuery } from '../../api/limits';
import { useList } from '../../api/lists';
import { day } from '../../parts/format/times';
import { Page } from '../../parts/shell/page';
import { Can } from '../../parts/states/can';
import { EmptyState } from '../../parts/states/states';
import { CompactRow } from '../../parts/table/compact-row';
import { type Column, DataTable } from '../../parts/table/data-table';
import { isNarrow } from '../../parts/table/is-narrow';
import { Meter, Moment, StatusPill, Value } from '../../parts/values/values';
import { useZone } from '../../parts/zone';
import { useMay, usePlace } from '../../session/session';
import { limitWords } from '../../words/limits';
import { words } from '../../words/en';
import { AddLimitDialog } from './add-limit-dialog';
import { amountOf } from './limit-amount';
import styles from './limits-page.module.css';
import { RaiseDialog } from './raise-dialog';

const texts = limitWords;
const ROW_HEIGHT = 48;
/** With the action in the second line. */
const COMPACT_HEIGHT = 88;

interface LimitsPageProps {
  readonly isAdding: boolean;
  readonly onAdding: (isOpen: boolean) => void;
  /** Opens an API key, to change its limits. */
  readonly onKey: (id: string) => void;
  /** Id of the limit being raised. */
  readonly raised: string | undefined;
  readonly onRaising: (id: string | undefined) => void;
}

/** Every limit of a workspace with its use and forecast. */
export function LimitsPage({ isAdding, raised, onAdding, onKey, onRaising }: LimitsPageProps) {
  const { workspace } = usePlace();
  const { rows, pages, total, state, onEnd } = useList(liveLimitsQuery(workspace.slug), 'virtual_keys.list');
  const columns = useMemo(() => columnsOf(onRaising), [onRaising]);
  const raisedLimit = rows.find(({ id, resets_at }) => id === raised && resets_at !== null);
  const add = <AddButton onClick={() => onAdding(true)} />;
  return (
    <Page title={texts.title} text={texts.text(workspace.name)} isTable action={add}>
      <DataTable<Limit>
        label={texts.table}
        columns={columns}
        rows={rows}
        keyOf={({ id }) => id}
        state={state}
        onEnd={onEnd}
        rowHeight={isNarrow() ? COMPACT_HEIGHT : ROW_HEIGHT}
        renderCompact={(limit) => (
          <CompactRow
            title={limit.applies_to.name}
            end={<Used limit={limit} />}
            details={[texts.subjects[limit.applies_to.type], kindOf(limit)]}
            note={<RaiseButton limit={limit} onRaising={onRaising} isShort />}
          />
        )}
        empty={
          <EmptyState icon={<IconGauge size={20} aria-hidden />} title={texts.empty} text={texts.emptyText}>
            {add}
          </EmptyState>
        }
        footer={
          <>
            {texts.count(total)}
            {pages?.some(({ is_partial: isPartial }) => isPartial) && ` · ${texts.partial}`}
          </>
        }
      />
      {isAdding && <AddLimitDialog onKey={onKey} onClose={() => onAdding(false)} />}
      {raisedLimit && <RaiseDialog limit={raisedLimit} onClose={() => onRaising(undefined)} />}
    </Page>
  );
}

/** An API key that the user may change gets the limit. */
function AddButton({ onClick }: { onClick: () => void }) {
  const may = useMay();
  return (
    <Can isAllowed={may(SCOPES.api_key) || may('workspace_user_api_keys.update')} scope={SCOPES.api_key}>
      <Button variant="filled" onClick={onClick}>
        {texts.add}
      </Button>
    </Can>
  );
}

const columnsOf = (onRaising: LimitsPageProps['onRaising']): readonly Column<Limit>[] => [
  {
    key: 'applies-to',
    title: texts.columns.appliesTo,
    width: 'minmax(180px, 1.4fr)',
    cell: ({ applies_to: { name, slug, type } }) => (
      <span className={styles.subject}>
        <strong>{slug ?? name}</strong> <span>{texts.subjects[type]}</span>
      </span>
    ),
  },
  {
    key: 'limit',
    title: texts.columns.limit,
    width: 'minmax(140px, 1fr)',
    cell: (limit) => <Value isMuted>{kindOf(limit)}</Value>,
  },
  {
    key: 'used',
    title: texts.columns.used,
    width: 'minmax(180px, 1.3fr)',
    isSorted: true,
    cell: (limit) => <Used limit={limit} />,
  },
  {
    key: 'resets',
    title: texts.columns.resets,
    width: '110px',
    cell: ({ resets_at }) => <Moment at={resets_at} />,
  },
  {
    key: 'forecast',
    title: texts.columns.forecast,
    width: '160px',
    cell: (limit) => <Forecast limit={limit} />,
  },
  {
    key: 'actions',
    title: '',
    width: '170px',
    align: 'end',
    cell: (limit) => <RaiseButton limit={limit} onRaising={onRaising} />,
  },
];

function kindOf({ measure, period }: Limit): string {
  const name = texts.measures[measure];
  if (period === null) return name;
  const length = texts.periods[period];
  return measure === 'requests' || (length ?? '').startsWith('per')
    ? `${name} ${length ?? period}`
    : `${name}, ${length ?? texts.every(period)}`;
}

function Used({ limit }: { limit: Limit }) {
  const { used, raised_by, applies_to } = limit;
  if (used === null) return <Value isMuted>{texts.allowed(amountOf(limit, limit.limit))}</Value>;
  return (
    <Meter
      label={
        raised_by > 0 ? `${applies_to.name}, ${texts.raisedBy(amountOf(limit, raised_by))}` : applies_to.name
      }
      used={used}
      limit={limit.limit}
      format={(amount) => amountOf(limit, amount)}
    />
  );
}

function Forecast({ limit }: { limit: Limit }) {
  const zone = useZone();
  const { kind, status, exhausted_at, used, used_per_day } = limit;
  if (kind !== 'budget') return <Value>{null}</Value>;
  if (status === 'exhausted') return <StatusPill tone="error">{words.parts.exhausted}</StatusPill>;
  const perDay = used_per_day === null ? undefined : texts.perDay(amountOf(limit, used_per_day));
  if (exhausted_at !== null)
    return (
      <span title={perDay}>
        <StatusPill tone="warning">{texts.spentBy(day(new Date(exhausted_at), zone))}</StatusPill>
      </span>
    );
  return (
    <span title={perDay}>
      <Value isMuted>{used === 0 ? texts.unused : perDay === undefined ? texts.tooEarly : texts.lasts}</Value>
    </span>
  );
}

const SCOPES = {
  api_key: 'workspace_service_api_keys.update',
  virtual_key: 'virtual_keys.update',
  workspace: 'workspaces.update',
} as const;

interface RaiseButtonProps extends Pick<LimitsPageProps, 'onRaising'> {
  readonly limit: Limit;
  /** For places with room for one word. */
  readonly isShort?: boolean;
}

/** Only a budget that resets has a period to raise it for. */
function RaiseButton({ limit, onRaising, isShort = false }: RaiseButtonProps) {
  const may = useMay();
  if (limit.kind !== 'budget' || limit.resets_at === null) return null;
  const scope = SCOPES[limit.applies_to.type];
  return (
    <Can isAllowed={may(scope)} scope={scope}>
      <Button aria-label={texts.raise} onClick={() => onRaising(limit.id)}>
        {isShort ? texts.raiseShort : texts.raise}
      </Button>
    </Can>
  );
}

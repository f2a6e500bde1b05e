import { ActionIcon, Button, Menu } from '@mantine/core';
import { useClipboard } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { IconDots, IconLock } from '@tabler/icons-react';
import { useMemo, useState } from 'react';
import { type IdentityProvider, identityProvidersQuery } from '../../api/identity-providers';
import { loadStateOf } from '../../api/load-state';
import { isNarrow } from '../../parts/table/is-narrow';
import { Page } from '../../parts/shell/page';
import { EmptyState } from '../../parts/states/states';
import { CompactRow } from '../../parts/table/compact-row';
import { type Column, DataTable } from '../../parts/table/data-table';
import { Moment, StatusPill, Value } from '../../parts/values/values';
import { useMay } from '../../session/session';
import { identityProviderWords } from '../../words/identity-providers';
import { words } from '../../words/en';
import { DeleteDialog } from './delete-dialog';
import { IdentityProviderDialog } from './identity-provider-dialog';
import { OwnersOnly } from './owners-only';
import { RequiredCard } from './required-card';

const texts = identityProviderWords;
const ROW_HEIGHT = 44;
const COMPACT_HEIGHT = 64;
const READ = 'organisation_settings.read';

interface IdentityProvidersPageProps {
  readonly isCreating: boolean;
  /** Id of the identity provider being changed. */
  readonly edited: string | undefined;
  readonly onCreating: (isOpen: boolean) => void;
  readonly onEditing: (id: string | undefined) => void;
}

/** The identity providers of the organization. */
export function IdentityProvidersPage(props: IdentityProvidersPageProps) {
  const { isCreating, edited, onCreating, onEditing } = props;
  const may = useMay();
  const query = useQuery(identityProvidersQuery);
  const [removed, setRemoved] = useState<IdentityProvider | null>(null);
  const columns = useMemo(() => columnsOf(onEditing, setRemoved), [onEditing]);
  const editedProvider = query.data?.data.find(({ id }) => id === edited);
  const create = (
    <OwnersOnly>
      <Button variant="filled" onClick={() => onCreating(true)}>
        {texts.create}
      </Button>
    </OwnersOnly>
  );
  return (
    <Page title={texts.title} text={texts.text} isTable action={create}>
      {may(READ) && <RequiredCard />}
      <DataTable<IdentityProvider>
        label={texts.table}
        columns={columns}
        rows={query.data?.data ?? []}
        keyOf={({ id }) => id}
        state={loadStateOf(query, READ)}
        rowHeight={isNarrow() ? COMPACT_HEIGHT : ROW_HEIGHT}
        renderCompact={(provider) => (
          <CompactRow
            title={provider.name}
            end={<Status provider={provider} />}
            details={[provider.domains.join(', ') || texts.anyDomain, rolesText(provider)]}
            note={<RowMenu provider={provider} onEditing={onEditing} onRemoving={setRemoved} />}
          />
        )}
        empty={
          <EmptyState icon={<IconLock size={20} aria-hidden />} title={texts.empty} text={texts.emptyText}>
            {create}
          </EmptyState>
        }
        footer={texts.count(query.data?.total ?? 0)}
      />
      {isCreating && <IdentityProviderDialog provider={null} onClose={() => onCreating(false)} />}
      {editedProvider && (
        <IdentityProviderDialog provider={editedProvider} onClose={() => onEditing(undefined)} />
      )}
      {removed && <DeleteDialog provider={removed} onClose={() => setRemoved(null)} />}
    </Page>
  );
}

function Status({ provider: { enabled } }: { provider: IdentityProvider }) {
  return (
    <StatusPill tone={enabled ? 'success' : 'neutral'}>{enabled ? texts.enabled : texts.disabled}</StatusPill>
  );
}

function rolesText({ role_mappings, roles_follow_directory, create_users }: IdentityProvider): string {
  if (roles_follow_directory) return texts.follow;
  return create_users && role_mappings.length > 0 ? texts.firstSignIn : texts.byHand;
}

type OnEditing = IdentityProvidersPageProps['onEditing'];
type OnRemoving = (provider: IdentityProvider) => void;

const columnsOf = (onEditing: OnEditing, onRemoving: OnRemoving): readonly Column<IdentityProvider>[] => [
  {
    key: 'name',
    title: texts.columns.name,
    width: 'minmax(120px, 1fr)',
    cell: ({ name }) => <Value>{name}</Value>,
  },
  {
    key: 'issuer',
    title: texts.columns.issuer,
    width: 'minmax(160px, 1.6fr)',
    cell: ({ issuer }) => <Value isMuted>{issuer}</Value>,
  },
  {
    key: 'domains',
    title: texts.columns.domains,
    width: 'minmax(130px, 1.2fr)',
    cell: ({ domains }) => <Value isMuted>{domains.join(', ') || texts.anyDomain}</Value>,
  },
  {
    key: 'roles',
    title: texts.columns.roles,
    width: '200px',
    cell: (provider) => <Value isMuted>{rolesText(provider)}</Value>,
  },
  {
    key: 'status',
    title: texts.columns.status,
    width: '100px',
    cell: (provider) => <Status provider={provider} />,
  },
  {
    key: 'changed',
    title: texts.columns.changed,
    width: '110px',
    cell: ({ last_updated_at }) => <Moment at={last_updated_at} />,
  },
  {
    key: 'actions',
    title: '',
    width: '32px',
    align: 'end',
    cell: (provider) => <RowMenu provider={provider} onEditing={onEditing} onRemoving={onRemoving} />,
  },
];

interface RowMenuProps {
  readonly provider: IdentityProvider;
  readonly onEditing: OnEditing;
  readonly onRemoving: OnRemoving;
}

function RowMenu({ provider, onEditing, onRemoving }: RowMenuProps) {
  const clipboard = useClipboard();
  return (
    <Menu position="bottom-end" width={220}>
      <Menu.Target>
        <ActionIcon aria-label={`${words.parts.moreActions}: ${provider.name}`}>
          <IconDots size={16} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={() => clipboard.copy(provider.sign_in_url)}>{texts.copyLink}</Menu.Item>
        <OwnersOnly>
          <Menu.Item onClick={() => onEditing(provider.id)}>{texts.edit}</Menu.Item>
        </OwnersOnly>
        <OwnersOnly>
          <Menu.Item color="red" onClick={() => onRemoving(provider)}>
            {texts.remove}
          </Menu.Item>
        </OwnersOnly>
      </Menu.Dropdown>
    </Menu>
  );
}

import { ActionIcon, Menu, Tabs } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { IconDots } from '@tabler/icons-react';
import { useState } from 'react';
import { useMutation } from '../../api/use-mutation';
import { ApiError } from '../../api/client';
import { type Config, configQuery, deleteConfig, type TaggedConfig } from '../../api/configs';
import { loadStateOf, shownError } from '../../api/load-state';
import { ConfirmByName } from '../../parts/overlay/confirm-by-name';
import { Page } from '../../parts/shell/page';
import { EmptyState, Loadable } from '../../parts/states/states';
import { StatusPill } from '../../parts/values/values';
import { useMay } from '../../session/session';
import { configWords as texts } from '../../words/configs';
import { words } from '../../words/en';
import styles from './configs.module.css';
import { EditTab } from './edit-tab';
import { UsageTab } from './usage-tab';
import { VersionsTab } from './versions-tab';

const TABS = ['edit', 'versions', 'usage'] as const;
export type ConfigTab = (typeof TABS)[number];
export const isConfigTab = (text: string | null | undefined): text is ConfigTab =>
  TABS.some((tab) => tab === text);

interface ConfigPageProps {
  readonly slug: string;
  readonly tab: ConfigTab;
  /** The displayed version; null for none. */
  readonly version: number | null;
  readonly onTab: (tab: ConfigTab) => void;
  readonly onVersion: (version: number) => void;
  readonly onRemoved: () => void;
}

/** One config: its document and route, its versions, and its users. */
export function ConfigPage(props: ConfigPageProps) {
  const query = useQuery(configQuery(props.slug));
  const isGone = query.error instanceof ApiError && query.error.status === 404;
  return (
    <Page
      title={query.data?.name ?? props.slug}
      text={texts.subtitle(props.slug)}
      tools={
        query.data && (
          <span className={styles.pills}>
            <StatusPill tone="neutral">{texts.version(query.data.version)}</StatusPill>
            <StatusPill tone={query.data.status === 'active' ? 'success' : 'neutral'}>
              {texts.statuses[query.data.status]}
            </StatusPill>
            <MoreMenu config={query.data} onRemoved={props.onRemoved} />
          </span>
        )
      }
    >
      {isGone ? (
        <EmptyState title={texts.gone} text={texts.goneText} />
      ) : (
        <Loadable state={loadStateOf(query, 'configs.read')}>
          {() => query.data && <ConfigTabs config={query.data} {...props} />}
        </Loadable>
      )}
    </Page>
  );
}

function ConfigTabs({ config, tab, version, onTab, onVersion }: ConfigPageProps & { config: TaggedConfig }) {
  return (
    <Tabs value={tab} keepMounted={false} onChange={(next) => isConfigTab(next) && onTab(next)}>
      <Tabs.List className={styles.tabs}>
        {TABS.map((name) => (
          <Tabs.Tab key={name} value={name}>
            {texts.tabs[name]}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      <Tabs.Panel value="edit">
        <EditTab config={config} />
      </Tabs.Panel>
      <Tabs.Panel value="versions">
        <VersionsTab config={config} shown={version} onShow={onVersion} />
      </Tabs.Panel>
      <Tabs.Panel value="usage">
        <UsageTab config={config} />
      </Tabs.Panel>
    </Tabs>
  );
}

function MoreMenu({ config, onRemoved }: { config: Config; onRemoved: () => void }) {
  const may = useMay();
  const queryClient = useQueryClient();
  const [isRemoving, setRemoving] = useState(false);
  const removal = useMutation({
    mutationFn: () => deleteConfig(config.slug),
    onSuccess: async () => {
      // The list is reloaded first, so that it does not briefly show the removed config.
      await queryClient.invalidateQueries({ queryKey: ['configs', 'list'], refetchType: 'all' });
      onRemoved();
    },
  });
  return (
    <>
      <Menu position="bottom-end" width={200}>
        <Menu.Target>
          <ActionIcon variant="default" aria-label={`${words.parts.moreActions}: ${config.name}`}>
            <IconDots size={16} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item color="red" disabled={!may('configs.delete')} onClick={() => setRemoving(true)}>
            {texts.removeConfig}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {isRemoving && (
        <ConfirmByName
          title={texts.removeTitle(config.name)}
          text={texts.removeText}
          name={config.slug}
          action={texts.removeConfig}
          isRunning={removal.isPending}
          error={removal.isError ? shownError(removal.error) : null}
          onConfirm={() => removal.mutate()}
          onClose={() => setRemoving(false)}
        />
      )}
    </>
  );
}

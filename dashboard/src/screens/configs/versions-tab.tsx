import { Button } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useMutation } from '../../api/use-mutation';
import { type Config, type ConfigVersion, configVersionsQuery, rollBackConfig } from '../../api/configs';
import { useList } from '../../api/lists';
import { shownError } from '../../api/load-state';
import { JsonDiff } from '../../parts/json/json-diff';
import { JsonEditor } from '../../parts/json/json-editor';
import { Can } from '../../parts/states/can';
import { ErrorCard, Loadable } from '../../parts/states/states';
import { Moment, StatusPill } from '../../parts/values/values';
import { useMay } from '../../session/session';
import { words } from '../../words/en';
import { configWords } from '../../words/configs';
import styles from './configs.module.css';
import { ordered } from './ordered';

const { versions: texts, version: versionText } = configWords;

interface VersionsTabProps {
  readonly config: Config;
  readonly shown: number | null;
  readonly onShow: (version: number) => void;
}

/** All versions, newest first; for the selected one its changes, and the rollback to it. */
export function VersionsTab({ config, shown, onShow }: VersionsTabProps) {
  const { rows: versions, total, state, onEnd } = useList(configVersionsQuery(config.slug), 'configs.read');
  const number = shown ?? config.version;
  const version = versions.find((one) => one.version === number);
  return (
    <Loadable state={state}>
      {() => (
        <div className={styles.versions}>
          <ul className={styles.list} aria-label={texts.table}>
            {versions.map((one) => (
              <li key={one.version_id}>
                <button
                  type="button"
                  aria-current={one.version === number || undefined}
                  onClick={() => onShow(one.version)}
                >
                  <strong>{versionText(one.version)}</strong>
                  {one.version === config.version && <StatusPill tone="success">{texts.current}</StatusPill>}
                  <Moment at={one.last_updated_at} as="moment" />
                </button>
              </li>
            ))}
            {total > versions.length && (
              <li>
                <Button disabled={!onEnd} onClick={onEnd}>
                  {words.parts.showMore(versions.length, total)}
                </Button>
              </li>
            )}
          </ul>
          {version ? (
            <Version
              config={config}
              version={version}
              before={versions.find((one) => one.version === number - 1)}
              onRolledBack={onShow}
            />
          ) : (
            <p className={styles.muted}>{texts.gone}</p>
          )}
        </div>
      )}
    </Loadable>
  );
}

interface VersionProps {
  readonly config: Config;
  readonly version: ConfigVersion;
  readonly before: ConfigVersion | undefined;
  readonly onRolledBack: (version: number) => void;
}

const documentOf = ({ config }: ConfigVersion): unknown => ordered(JSON.parse(config));

function Version({ config, version, before, onRolledBack }: VersionProps) {
  const may = useMay();
  const queryClient = useQueryClient();
  const rollback = useMutation({
    mutationFn: () => rollBackConfig(config.slug, version.version_id),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: ['configs'] });
      onRolledBack(config.version + 1);
    },
  });
  const isCurrent = version.version === config.version;
  return (
    <section className={styles.version}>
      <div className={styles.versionHead}>
        <h2 className={styles.heading}>
          {before ? texts.diff(before.version, version.version) : texts.first}
        </h2>
        {!isCurrent && (
          <Can isAllowed={may('configs.update')} scope="configs.update">
            <Button title={texts.rollbackText} loading={rollback.isPending} onClick={() => rollback.mutate()}>
              {texts.rollback(version.version)}
            </Button>
          </Can>
        )}
      </div>
      {rollback.isError && <ErrorCard error={shownError(rollback.error)} />}
      {before ? (
        <JsonDiff before={documentOf(before)} after={documentOf(version)} />
      ) : (
        <JsonEditor value={JSON.stringify(documentOf(version), null, 2)} />
      )}
    </section>
  );
}

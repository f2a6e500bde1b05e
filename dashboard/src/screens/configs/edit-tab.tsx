import { Button } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { IconAlertCircle } from '@tabler/icons-react';
import { useEffect, useState } from 'react';
import { useMutation } from '../../api/use-mutation';
import { ApiError } from '../../api/client';
import {
  configQuery,
  type Document,
  saveConfig,
  type Simulation,
  type TaggedConfig,
} from '../../api/configs';
import { shownError } from '../../api/load-state';
import { RouteGraph } from '../../parts/graph/route-graph';
import { JsonDiff } from '../../parts/json/json-diff';
import { JsonEditor } from '../../parts/json/json-editor';
import { ErrorCard } from '../../parts/states/states';
import { Can } from '../../parts/states/can';
import { useMay } from '../../session/session';
import { configWords as texts } from '../../words/configs';
import styles from './configs.module.css';
import { Conflict } from './conflict';
import { ordered } from './ordered';
import { routeOfConfig } from './route-of-config';
import { SimulationPanel } from './simulation-panel';
import { LeaveDialog } from './leave-dialog';
import { readDraft, storeDraft } from './stored-draft';
import { type Draft, useDraft } from './use-draft';

/** The document with the server's validation on the left, the resulting route on the right. */
export function EditTab({ config }: { config: TaggedConfig }) {
  const mayEdit = useMay()('configs.update');
  const { base, setBase, draft, isOutdated } = useBase(config, mayEdit);
  const [isComparing, setComparing] = useState(false);
  const [simulation, setSimulation] = useState<Simulation | null>(null);
  const edit = (text: string): void => {
    setSimulation(null);
    draft.setText(text);
  };
  const follow = (): void => {
    draft.discard();
    setBase(config);
  };
  return (
    <div className={styles.edit}>
      <LeaveDialog isDirty={draft.isChanged} />
      {isOutdated && (
        <Conflict
          base={base}
          saved={config}
          draft={draft.document}
          onKeep={() => setBase(config)}
          onDiscard={follow}
        />
      )}
      <div className={styles.panes}>
        <section className={styles.document} aria-label={texts.editor}>
          {isComparing && draft.document ? (
            <JsonDiff before={ordered(base.config)} after={ordered(draft.document)} />
          ) : (
            <JsonEditor
              value={draft.text}
              label={texts.editor}
              marked={draft.mistakes.map(({ line }) => line)}
              {...(mayEdit && { onChange: edit })}
            />
          )}
          <Mistakes draft={draft} />
          {!mayEdit && <p className={styles.muted}>{texts.readOnly}</p>}
        </section>
        <section className={styles.meaning} aria-label={texts.route.title}>
          <Route document={draft.document} simulation={simulation} />
          <SimulationPanel document={draft.document} simulation={simulation} onResult={setSimulation} />
        </section>
      </div>
      <Footer
        base={base}
        draft={draft}
        isOutdated={isOutdated}
        isComparing={isComparing}
        onCompare={() => setComparing(!isComparing)}
        onSaved={setBase}
      />
    </div>
  );
}

/**
 * The version that the draft is based on, which stays while another user saves a new one. An unchanged draft follows the saved version.
 * Changes without a new version, such as a new name, do not affect the document.
 */
function useBase(config: TaggedConfig, mayEdit: boolean) {
  const [kept] = useState(() => readDraft(config.slug));
  const [base, setBase] = useState(kept?.base ?? config);
  const draft = useDraft(base, mayEdit, kept?.text ?? null);
  const isOther = config.version_id !== base.version_id;
  if (config.etag !== base.etag && !(isOther && draft.isChanged)) setBase(config);
  const { isChanged, text } = draft;
  useEffect(
    () => storeDraft(config.slug, isChanged ? { base, text } : null),
    [config.slug, base, isChanged, text],
  );
  return { base, setBase, draft, isOutdated: isOther && draft.isChanged };
}

function Mistakes({ draft: { mistakes } }: { draft: Draft }) {
  if (mistakes.length === 0) return null;
  return (
    <ul className={styles.mistakes}>
      {mistakes.map(({ line, text }) => (
        <li key={`${line} ${text}`}>
          <IconAlertCircle size={14} aria-hidden />
          <span>
            {texts.line(line)}
            {text}
          </span>
        </li>
      ))}
    </ul>
  );
}

interface RouteProps {
  readonly document: Document | null;
  readonly simulation: Simulation | null;
}

function Route({ document, simulation }: RouteProps) {
  const taken = simulation?.targets.filter(({ share, after }) => share > 0 && after === null) ?? [];
  return (
    <>
      <h2 className={styles.heading}>{texts.route.title}</h2>
      {document === null ? (
        <p className={styles.muted}>{texts.route.broken}</p>
      ) : (
        <div className={styles.graph}>
          <RouteGraph
            root={routeOfConfig(
              document,
              taken.map(({ path }) => path),
            )}
          />
        </div>
      )}
    </>
  );
}

interface FooterProps {
  readonly base: TaggedConfig;
  readonly draft: Draft;
  readonly isOutdated: boolean;
  readonly isComparing: boolean;
  readonly onCompare: () => void;
  readonly onSaved: (saved: TaggedConfig) => void;
}

function statusText({ isChanged, isChecking, mistakes }: Draft): string {
  if (!isChanged) return texts.unchanged;
  if (mistakes.length > 0) return texts.problems(mistakes.length);
  return isChecking ? texts.checking : texts.valid;
}

const isOutdatedError = (error: unknown): boolean => error instanceof ApiError && error.status === 412;

/** Saves only over the version that the draft is based on. After a conflict, the saved version is loaded. */
function useSaving(base: TaggedConfig, onSaved: (saved: TaggedConfig) => void) {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: (document: Document) => saveConfig(base, document),
    onSuccess: async () => {
      onSaved(await queryClient.query({ ...configQuery(base.slug), staleTime: 0 }));
      await queryClient.invalidateQueries({ queryKey: ['configs'] });
    },
    onError: (error) =>
      isOutdatedError(error)
        ? queryClient.invalidateQueries({ queryKey: configQuery(base.slug).queryKey })
        : undefined,
  });
}

function Footer({ base, draft, isOutdated, isComparing, onCompare, onSaved }: FooterProps) {
  const may = useMay();
  const saving = useSaving(base, (saved) => {
    draft.discard();
    onSaved(saved);
  });
  const { document, isChanged, isChecking, mistakes } = draft;
  const isReady = isChanged && document !== null && mistakes.length === 0 && !isChecking && !isOutdated;
  return (
    <footer className={styles.footer}>
      {saving.isError && !isOutdatedError(saving.error) && <ErrorCard error={shownError(saving.error)} />}
      <span role="status" data-wrong={mistakes.length > 0 || undefined}>
        {statusText(draft)}
      </span>
      <Button variant="subtle" color="gray" disabled={!isChanged} onClick={draft.discard}>
        {texts.discard}
      </Button>
      <Button disabled={!isChanged || document === null} onClick={onCompare}>
        {isComparing ? texts.edit : texts.compare(base.version)}
      </Button>
      <Can isAllowed={may('configs.update')} scope="configs.update">
        <Button
          variant="filled"
          disabled={!isReady}
          loading={saving.isPending}
          onClick={() => document && saving.mutate(document)}
        >
          {texts.save(base.version + 1)}
        </Button>
      </Can>
    </footer>
  );
}

import { Button } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { IconAlertCircle } from '@tabler/icons-react';
import { useState } from 'react';
import { type Config, type Document, saveConfig, type Simulation } from '../../api/configs';
import { shownError } from '../../api/load-state';
import { RouteGraph } from '../../parts/graph/route-graph';
import { JsonDiff } from '../../parts/json/json-diff';
import { JsonEditor } from '../../parts/json/json-editor';
import { ErrorCard } from '../../parts/states/states';
import { Can } from '../../parts/states/can';
import { useMay } from '../../session/session';
import { configWords as texts } from '../../words/configs';
import styles from './configs.module.css';
import { ordered } from './ordered';
import { routeOfConfig } from './route-of-config';
import { SimulationPanel } from './simulation-panel';
import { type Draft, useDraft } from './use-draft';

/** Left the document with the server's own check of it, right the route that it means. */
export function EditTab({ config }: { config: Config }) {
  const may = useMay();
  const mayEdit = may('configs.update');
  const draft = useDraft(config, mayEdit);
  const [isComparing, setComparing] = useState(false);
  const [simulation, setSimulation] = useState<Simulation | null>(null);
  const edit = (text: string): void => {
    setSimulation(null);
    draft.setText(text);
  };
  return (
    <div className={styles.edit}>
      <div className={styles.panes}>
        <section className={styles.document} aria-label={texts.editor}>
          {isComparing && draft.document ? (
            <JsonDiff before={ordered(config.config)} after={ordered(draft.document)} />
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
        config={config}
        draft={draft}
        isComparing={isComparing}
        onCompare={() => setComparing(!isComparing)}
      />
    </div>
  );
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
  readonly config: Config;
  readonly draft: Draft;
  readonly isComparing: boolean;
  readonly onCompare: () => void;
}

function statusText({ isChanged, isChecking, mistakes }: Draft): string {
  if (!isChanged) return texts.unchanged;
  if (mistakes.length > 0) return texts.problems(mistakes.length);
  return isChecking ? texts.checking : texts.valid;
}

function Footer({ config, draft, isComparing, onCompare }: FooterProps) {
  const may = useMay();
  const queryClient = useQueryClient();
  const saving = useMutation({
    mutationFn: (document: Document) => saveConfig(config.slug, document),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ['configs'] }),
  });
  const { document, isChanged, isChecking, mistakes } = draft;
  const isReady = isChanged && document !== null && mistakes.length === 0 && !isChecking;
  return (
    <footer className={styles.footer}>
      {saving.isError && <ErrorCard error={shownError(saving.error)} />}
      <span role="status" data-wrong={mistakes.length > 0 || undefined}>
        {statusText(draft)}
      </span>
      <Button variant="subtle" color="gray" disabled={!isChanged} onClick={draft.discard}>
        {texts.discard}
      </Button>
      <Button disabled={!isChanged || document === null} onClick={onCompare}>
        {isComparing ? texts.edit : texts.compare(config.version)}
      </Button>
      <Can isAllowed={may('configs.update')} scope="configs.update">
        <Button
          variant="filled"
          disabled={!isReady}
          loading={saving.isPending}
          onClick={() => document && saving.mutate(document)}
        >
          {texts.save(config.version + 1)}
        </Button>
      </Can>
    </footer>
  );
}

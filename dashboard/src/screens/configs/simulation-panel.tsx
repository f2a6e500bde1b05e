import { Button, TextInput } from '@mantine/core';
import { IconPlayerPlay } from '@tabler/icons-react';
import { type SubmitEvent, useState } from 'react';
import { useMutation } from '../../api/use-mutation';
import { type Document, simulateConfig, type Simulation } from '../../api/configs';
import { shownError } from '../../api/load-state';
import { NONE, percent } from '../../parts/format/numbers';
import { ErrorCard } from '../../parts/states/states';
import { usePlace } from '../../session/session';
import { configWords } from '../../words/configs';
import styles from './configs.module.css';

const { simulation: texts } = configWords;

interface SimulationPanelProps {
  readonly document: Document | null;
  readonly simulation: Simulation | null;
  readonly onResult: (simulation: Simulation | null) => void;
}

/** A JSON object of texts; null for any other text. */
function metadataIn(text: string): Record<string, string> | null {
  if (text.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject && Object.values(value).every((one) => typeof one === 'string')
      ? (value as Record<string, string>)
      : null;
  } catch {
    return null;
  }
}

/** Where a request with these facts would go with the draft, and why. */
export function SimulationPanel({ document, simulation, onResult }: SimulationPanelProps) {
  const { workspace } = usePlace();
  const [model, setModel] = useState('');
  const [metadataText, setMetadataText] = useState('');
  const metadata = metadataIn(metadataText);
  const run = useMutation({
    mutationFn: (draft: Document) =>
      simulateConfig(workspace.slug, draft, {
        ...(model.trim() && { model: model.trim() }),
        ...(metadata && { metadata }),
      }),
    onSuccess: onResult,
    onError: () => onResult(null),
  });
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    if (document && metadata) run.mutate(document);
  };
  return (
    <div className={styles.card}>
      <h2 className={styles.heading}>{texts.title}</h2>
      <p className={styles.muted}>{texts.text}</p>
      <form className={styles.facts} onSubmit={submit}>
        <TextInput
          label={texts.model}
          value={model}
          onChange={({ currentTarget }) => setModel(currentTarget.value)}
        />
        <TextInput
          label={texts.metadata}
          value={metadataText}
          error={metadata === null ? texts.metadataInvalid : null}
          onChange={({ currentTarget }) => setMetadataText(currentTarget.value)}
        />
        <Button
          type="submit"
          leftSection={<IconPlayerPlay size={16} aria-hidden />}
          disabled={document === null || metadata === null}
          loading={run.isPending}
        >
          {texts.run}
        </Button>
      </form>
      {run.isError && <ErrorCard error={shownError(run.error)} />}
      {simulation && <Result simulation={simulation} />}
    </div>
  );
}

function Result({ simulation: { decisions, targets } }: { simulation: Simulation }) {
  return (
    <div role="status">
      <h3 className={styles.subheading}>{texts.decisions}</h3>
      {decisions.length === 0 && <p className={styles.muted}>{texts.direct}</p>}
      <ul className={styles.decisions}>
        {decisions.map((decision) => (
          <li key={decision}>{decision}</li>
        ))}
      </ul>
      {targets.length === 0 ? (
        <p className={styles.muted}>{texts.none}</p>
      ) : (
        <table className={styles.table}>
          <thead>
            <tr>
              {[texts.target, texts.share, texts.retries, texts.after].map((title) => (
                <th key={title} scope="col">
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {targets.map(({ path, name, virtual_key, provider, share, retries, after }) => (
              <tr key={path}>
                <th scope="row">
                  {name ?? virtual_key ?? provider ?? path}
                  <small>{path}</small>
                </th>
                <td>{percent(share * 100)}</td>
                <td>{retries}</td>
                <td>{after ?? NONE}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </div>
  );
}

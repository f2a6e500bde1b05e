import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { IconPlugConnected } from '@tabler/icons-react';
import { useMutation } from '../../api/use-mutation';
import { ApiError } from '../../api/client';
import {
  type IdentityProvider,
  startTrial,
  type TrialResult,
  trialQuery,
} from '../../api/identity-providers';
import { shownError } from '../../api/load-state';
import { ErrorCard } from '../../parts/states/states';
import { StatusPill } from '../../parts/values/values';
import { usePlace } from '../../session/session';
import { identityProviderWords } from '../../words/identity-providers';
import { words } from '../../words/en';
import styles from './identity-providers.module.css';
import { type Form, isReachable, trialBody } from './provider-form';

const texts = identityProviderWords.trial;

interface TrialPanelProps {
  readonly form: Form;
  readonly provider: IdentityProvider | null;
  /** Id for a new provider, whose redirect URI the dialog shows. */
  readonly reservedId: string | undefined;
}

/** Signs in with the entered settings in another tab, and shows the provider's claims and their effect. */
export function TrialPanel({ form, provider, reservedId }: TrialPanelProps) {
  const start = useMutation({
    mutationFn: () => startTrial(trialBody(form, provider, reservedId)),
    // If a browser blocks the tab, the link below remains.
    onSuccess: ({ authorization_url }) => void window.open(authorization_url, '_blank', 'noopener'),
  });
  const trial = useQuery(trialQuery(start.data?.id ?? null));
  const result = trial.data?.result;
  const isWaiting = start.data !== undefined && !result && !trial.isError;
  return (
    <section className={styles.trial} aria-label={texts.section}>
      <div className={styles.trialHead}>
        <p aria-live="polite">{isWaiting ? texts.waiting : texts.intro}</p>
        <Button
          leftSection={<IconPlugConnected size={14} aria-hidden />}
          disabled={!isReachable(form, provider)}
          loading={start.isPending}
          onClick={() => start.mutate()}
        >
          {start.data ? texts.again : texts.run}
        </Button>
      </div>
      {isWaiting && (
        <a href={start.data.authorization_url} target="_blank" rel="noopener">
          {texts.open}
        </a>
      )}
      {start.isError && <ErrorCard error={shownError(start.error)} title={words.errors.actionTitle} />}
      {trial.isError && <TrialError error={trial.error} />}
      {result && <Result result={result} />}
    </section>
  );
}

function TrialError({ error }: { error: Error }) {
  if (error instanceof ApiError && error.status === 404) return <p>{texts.expired}</p>;
  return <ErrorCard error={shownError(error)} />;
}

function Result({ result }: { result: TrialResult }) {
  const { error, claims } = result;
  const { session } = usePlace();
  const nameOf = (id: string): string => session.workspaces.find((known) => known.id === id)?.name ?? id;
  return (
    <div className={styles.result} role="status">
      <p>
        <StatusPill tone={error ? 'error' : 'success'} withIcon>
          {error ? texts.refused : texts.works}
        </StatusPill>{' '}
        {error ? error.message : outcomeOf(result, nameOf)}
      </p>
      {Object.keys(claims).length > 0 && (
        <>
          <h3>{texts.claims}</h3>
          <pre tabIndex={0}>{JSON.stringify(claims, null, 2)}</pre>
        </>
      )}
    </div>
  );
}

type NameOf = (workspaceId: string) => string;

function outcomeOf({ action, email, role, workspaces }: TrialResult, nameOf: NameOf): string {
  const roleName = role === null ? words.parts.none : (words.roles[role] ?? role);
  return [
    action !== null && texts.actions[action](email ?? words.parts.none),
    texts.role(roleName),
    workspacesOf(workspaces, nameOf),
  ]
    .filter(Boolean)
    .join(' ');
}

function workspacesOf(workspaces: TrialResult['workspaces'], nameOf: NameOf): string {
  if (workspaces === null) return texts.kept;
  if (workspaces.length === 0) return texts.noWorkspaces;
  return texts.workspaces(
    workspaces.map(({ workspace_id, role }) =>
      texts.workspace(nameOf(workspace_id), words.roles[role] ?? role),
    ),
  );
}

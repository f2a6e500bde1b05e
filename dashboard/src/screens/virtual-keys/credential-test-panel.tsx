import { Button } from '@mantine/core';
import { IconPlugConnected } from '@tabler/icons-react';
import { useMutation } from '../../api/use-mutation';
import type { VirtualKey } from '../../api/virtual-keys';
import { shownError } from '../../api/load-state';
import {
  type CatalogProvider,
  type CredentialTest,
  testCredential,
  testVirtualKey,
} from '../../api/virtual-keys';
import { Can } from '../../parts/states/can';
import { ErrorCard } from '../../parts/states/states';
import { StatusPill, type Tone } from '../../parts/values/values';
import { useMay, usePlace } from '../../session/session';
import { virtualKeyWords } from '../../words/virtual-keys';
import { words } from '../../words/en';
import styles from './virtual-key-dialog.module.css';
import { type Form, isReachable, testBody } from './virtual-key-form';

const texts = virtualKeyWords.test;
const TONES: Readonly<Record<CredentialTest['outcome'], Tone>> = {
  works: 'success',
  refused: 'error',
  unreachable: 'error',
  inconclusive: 'warning',
  not_testable: 'neutral',
};
const SHOWN_MODELS = 4;

interface CredentialTestPanelProps {
  readonly form: Form;
  readonly provider: CatalogProvider;
  readonly virtualKey: VirtualKey | null;
}

/** Tests the entered credential, or the stored one if the secret was not entered again. */
export function CredentialTestPanel({ form, provider, virtualKey }: CredentialTestPanelProps) {
  const { workspace } = usePlace();
  const may = useMay();
  const stored = virtualKey !== null && form.secret === '' ? virtualKey : null;
  const scope = stored ? 'virtual_keys.update' : 'virtual_keys.create';
  const test = useMutation({
    mutationFn: () =>
      stored ? testVirtualKey(stored.slug) : testCredential(testBody(form, provider, workspace.id)),
  });
  const canTest = stored !== null || isReachable(form, provider, false);
  return (
    <div className={styles.test}>
      <div className={styles.testHead}>
        <p aria-live="polite">
          {test.data ? <Outcome test={test.data} /> : stored ? texts.introStored : texts.intro}
        </p>
        <Can isAllowed={may(scope)} scope={scope}>
          <Button
            leftSection={<IconPlugConnected size={14} aria-hidden />}
            disabled={!canTest}
            loading={test.isPending}
            onClick={() => test.mutate()}
          >
            {test.data ? texts.again : texts.run}
          </Button>
        </Can>
      </div>
      {test.data && <Details test={test.data} />}
      {test.isError && <ErrorCard error={shownError(test.error)} title={words.errors.actionTitle} />}
    </div>
  );
}

export function Outcome({ test: { outcome, status, latency_ms } }: { test: CredentialTest }) {
  return (
    <>
      <StatusPill tone={TONES[outcome]} withIcon>
        {status === null ? texts.pills[outcome] : String(status)}
      </StatusPill>{' '}
      <strong>{texts.outcomes[outcome]}</strong>{' '}
      {latency_ms !== null && <span className={styles.latency}>{texts.latency(latency_ms)}</span>}
    </>
  );
}

export function Details({ test }: { test: CredentialTest }) {
  return (
    <>
      {test.total_models > 0 && (
        <p className={styles.found}>
          {texts.models(test.models.slice(0, SHOWN_MODELS), test.total_models)}{' '}
          {test.unpriced_models === 0 ? texts.priced : texts.unpriced(test.unpriced_models)}
        </p>
      )}
      {test.reason !== null && test.reason !== '' && <p className={styles.found}>{test.reason}</p>}
    </>
  );
}

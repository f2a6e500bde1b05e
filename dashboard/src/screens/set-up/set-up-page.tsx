import { useNavigate } from '@tanstack/react-router';
import { IconCheck } from '@tabler/icons-react';
import type { ComponentType } from 'react';
import { Brand } from '../../parts/brand';
import { Loading } from '../../parts/states/states';
import { PlaceProvider, useSession } from '../../session/session';
import { setUpWords } from '../../words/set-up';
import { AccountStep } from './account-step';
import { RequestStep } from './request-step';
import styles from './set-up.module.css';
import { TeamStep } from './team-step';

const STEPS = ['account', 'provider', 'request', 'team'] as const;
export type SetUpStep = (typeof STEPS)[number];
export const isSetUpStep = (text: string | undefined): text is SetUpStep =>
  STEPS.some((step) => step === text);

interface SetUpPageProps {
  /** The part after the `#` of the link. */
  readonly token: string;
  readonly step: SetUpStep;
  /** Stores the first credential; without one, the sandbox responds. */
  readonly CredentialForm: ComponentType<{ onDone: () => void }>;
  readonly onStep: (step: SetUpStep) => void;
}

/** From a new installation to the first request. Each step can be skipped and resumed; the URL contains the current one. */
export function SetUpPage({ token, step, CredentialForm, onStep }: SetUpPageProps) {
  const { data: session, isPending } = useSession();
  const navigate = useNavigate();
  const workspace = session?.workspaces[0];
  const shown = workspace ? (step === 'account' ? 'provider' : step) : 'account';
  const goOn = (): void => {
    const next = STEPS[STEPS.indexOf(shown) + 1];
    if (next) onStep(next);
    else void navigate({ to: '/' });
  };
  return (
    <div className={styles.page}>
      <aside className={styles.sidebar}>
        <Brand />
        <Progress shown={shown} />
      </aside>
      <main className={styles.content}>
        {isPending && <Loading lines={4} />}
        {!isPending && !workspace && <AccountStep token={token} onDone={() => onStep('provider')} />}
        {session && workspace && (
          <PlaceProvider value={{ session, workspace }}>
            {shown === 'provider' && (
              <>
                <h1>{setUpWords.provider.title}</h1>
                <p className={styles.intro}>{setUpWords.provider.text}</p>
                <div className={styles.form}>
                  <CredentialForm onDone={goOn} />
                </div>
              </>
            )}
            {shown === 'request' && <RequestStep onDone={goOn} />}
            {shown === 'team' && <TeamStep onDone={goOn} />}
          </PlaceProvider>
        )}
      </main>
    </div>
  );
}

function Progress({ shown }: { shown: SetUpStep }) {
  const at = STEPS.indexOf(shown);
  return (
    <ol className={styles.steps} aria-label={setUpWords.progress}>
      {STEPS.map((step, index) => (
        <li key={step} aria-current={index === at ? 'step' : undefined} data-done={index < at || undefined}>
          <span className={styles.mark}>{index < at ? <IconCheck size={14} aria-hidden /> : index + 1}</span>
          {setUpWords.steps[step]}
        </li>
      ))}
    </ol>
  );
}

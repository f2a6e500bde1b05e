import { Button } from '@mantine/core';
import { Link, Navigate, useRouter } from '@tanstack/react-router';
import { useEffect } from 'react';
import { useSession } from '../../session/session';
import { signInWords } from '../../words/sign-in';
import { singleSignOnWords } from '../../words/single-sign-on';
import { SignInForm } from './sign-in-form';
import { SignInFrame } from './sign-in-frame';
import { type Refusal, SignOnRefusal } from './sign-on-refusal';
import styles from './sign-in-page.module.css';

/** Only a path within the dashboard is accepted: anything else would be an open redirect. */
const isOwnPath = (path: string | undefined): path is string => path?.startsWith('/ui/') === true;

interface SignInPageProps {
  readonly returnTo: string | undefined;
  /** Why signing in with the identity provider failed. */
  readonly refusal: Refusal | null;
  /** The browser returns from a test of an identity provider, which signs in no user. */
  readonly isTrialDone: boolean;
}

/** Continues to the page that the user requested. */
export function SignInPage({ returnTo, refusal, isTrialDone }: SignInPageProps) {
  const { data: session } = useSession();
  const { history } = useRouter();
  const isReturning = Boolean(session) && isOwnPath(returnTo);
  useEffect(() => {
    if (isReturning && isOwnPath(returnTo)) history.replace(returnTo);
  }, [isReturning, returnTo, history]);
  if (isTrialDone)
    return <SignInFrame title={singleSignOnWords.trialTitle} text={singleSignOnWords.trialText} />;
  if (session && refusal) return <RefusedStepUp refusal={refusal} />;
  if (session) return isReturning ? null : <Navigate to="/" replace />;
  return (
    <SignInFrame title={signInWords.title}>
      {refusal && <SignOnRefusal refusal={refusal} />}
      <SignInForm returnTo={isOwnPath(returnTo) ? returnTo : undefined} isAfterRefusal={refusal !== null} />
    </SignInFrame>
  );
}

/** The step-up of a signed-in user failed: they stay signed in. */
function RefusedStepUp({ refusal }: { refusal: Refusal }) {
  return (
    <SignInFrame title={signInWords.stepUp.title}>
      <SignOnRefusal refusal={refusal} />
      <div className={styles.form}>
        <Button component={Link} to="/" size="sm" fullWidth>
          {singleSignOnWords.toDashboard}
        </Button>
      </div>
    </SignInFrame>
  );
}

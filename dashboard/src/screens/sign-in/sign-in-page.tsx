import { Navigate, useRouter } from '@tanstack/react-router';
import { useEffect } from 'react';
import { useSession } from '../../session/session';
import { signInWords } from '../../words/sign-in';
import { SignInForm } from './sign-in-form';
import { SignInFrame } from './sign-in-frame';

/** Only a path of the dashboard itself may follow: anything else would be an open redirect. */
const isOwnPath = (path: string | undefined): path is string => path?.startsWith('/ui/') === true;

/** Goes on to where the person wanted to go. */
export function SignInPage({ returnTo }: { returnTo: string | undefined }) {
  const { data: session } = useSession();
  const { history } = useRouter();
  const isReturning = Boolean(session) && isOwnPath(returnTo);
  useEffect(() => {
    if (isReturning && isOwnPath(returnTo)) history.replace(returnTo);
  }, [isReturning, returnTo, history]);
  if (session) return isReturning ? null : <Navigate to="/" replace />;
  return (
    <SignInFrame title={signInWords.title}>
      <SignInForm />
    </SignInFrame>
  );
}

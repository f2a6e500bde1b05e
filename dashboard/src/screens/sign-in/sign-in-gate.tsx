import { useQueryClient } from '@tanstack/react-query';
import { lazy, Suspense } from 'react';
import type { Session } from '../../api/auth';
import { SIGNED_OUT } from '../../api/client';
import { sessionQuery, useSession } from '../../session/session';
import { useRemedy } from './use-remedy';

const SignInDialog = lazy(() =>
  import('./sign-in-dialog').then((module) => ({ default: module.SignInDialog })),
);

/**
 * A session that ends while a page is open is replaced over the page, and its requests are repeated: nothing that was entered is lost. Another
 * user starts anew.
 */
export function SignInGate() {
  const { data: session } = useSession();
  return session ? <GateOf session={session} /> : null;
}

function GateOf({ session }: { session: Session }) {
  const queryClient = useQueryClient();
  const { isOpen, close } = useRemedy(SIGNED_OUT);
  if (!isOpen) return null;
  const onSignedIn = (): void => {
    const isSame = queryClient.getQueryData(sessionQuery.queryKey)?.user.id === session.user.id;
    if (isSame) return close(true);
    sessionStorage.clear();
    location.replace('/ui/');
  };
  return (
    <Suspense fallback={null}>
      <SignInDialog email={session.user.email} onSignedIn={onSignedIn} onClose={() => close(false)} />
    </Suspense>
  );
}

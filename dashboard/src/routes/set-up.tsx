import { createFileRoute } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { isSetUpStep, SetUpPage } from '../screens/set-up/set-up-page';
import { FirstVirtualKeyForm } from '../screens/virtual-keys/first-virtual-key-form';
import { isResetToken, ResetPage } from '../screens/sign-in/reset-page';
import { texts } from '../search';

export const Route = createFileRoute('/set-up')({ validateSearch: texts('step'), component: SetUpRoute });

/** The target of one-use links: a new password, or the set-up. */
function SetUpRoute() {
  const token = useLinkToken();
  const { step } = Route.useSearch();
  const navigate = Route.useNavigate();
  if (isResetToken(token)) return <ResetPage token={token} />;
  return (
    <SetUpPage
      token={token}
      step={isSetUpStep(step) ? step : 'account'}
      CredentialForm={FirstVirtualKeyForm}
      onStep={(next) => void navigate({ search: { step: next } })}
    />
  );
}

/** The one-use token after the `#`, which stays out of servers and history. */
function useLinkToken(): string {
  const [token] = useState(() => location.hash.slice(1));
  useEffect(() => {
    if (location.hash) history.replaceState(history.state, '', location.pathname + location.search);
  }, []);
  return token;
}

import { createFileRoute } from '@tanstack/react-router';
import { SignInPage } from '../screens/sign-in/sign-in-page';
import { texts } from '../search';

export const Route = createFileRoute('/sign-in')({
  validateSearch: texts('return_to', 'error', 'request_id', 'trial'),
  component: SignInRoute,
});

function SignInRoute() {
  const { return_to, error, request_id, trial } = Route.useSearch();
  return (
    <SignInPage
      returnTo={return_to}
      refusal={error === undefined ? null : { code: error, requestId: request_id }}
      isTrialDone={trial === 'done'}
    />
  );
}

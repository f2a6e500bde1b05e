import { createFileRoute } from '@tanstack/react-router';
import { SignInPage } from '../screens/sign-in/sign-in-page';
import { texts } from '../search';

export const Route = createFileRoute('/sign-in')({
  validateSearch: texts('return_to'),
  component: SignInRoute,
});

function SignInRoute() {
  const { return_to } = Route.useSearch();
  return <SignInPage returnTo={return_to} />;
}

import { createFileRoute } from '@tanstack/react-router';
import { isSetUpStep, SetUpPage } from '../screens/set-up/set-up-page';
import { texts } from '../search';

export const Route = createFileRoute('/set-up')({ validateSearch: texts('step'), component: SetUpRoute });

function SetUpRoute() {
  const { step } = Route.useSearch();
  const navigate = Route.useNavigate();
  return (
    <SetUpPage
      step={isSetUpStep(step) ? step : 'account'}
      onStep={(next) => void navigate({ search: { step: next } })}
    />
  );
}

import { lazy, Suspense } from 'react';
import { useRemedy } from './use-remedy';

const StepUpDialog = lazy(() =>
  import('./step-up-dialog').then((module) => ({ default: module.StepUpDialog })),
);

/** Any request that requires a step-up opens this dialog, and is repeated afterwards. */
export function StepUpGate() {
  const { isOpen, close } = useRemedy('step_up_required');
  if (!isOpen) return null;
  return (
    <Suspense fallback={null}>
      <StepUpDialog onProved={() => close(true)} onClose={() => close(false)} />
    </Suspense>
  );
}

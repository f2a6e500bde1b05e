import { lazy, Suspense, useEffect, useState } from 'react';
import { remedy } from '../../api/client';

const StepUpDialog = lazy(() =>
  import('./step-up-dialog').then((module) => ({ default: module.StepUpDialog })),
);

/** Any request that requires a step-up opens this dialog, and is repeated afterwards. */
export function StepUpGate() {
  const [answer, setAnswer] = useState<((isProved: boolean) => void) | null>(null);
  useEffect(
    () => remedy('step_up_required', () => new Promise<boolean>((resolve) => setAnswer(() => resolve))),
    [],
  );
  if (!answer) return null;
  const close = (isProved: boolean): void => {
    answer(isProved);
    setAnswer(null);
  };
  return (
    <Suspense fallback={null}>
      <StepUpDialog onProved={() => close(true)} onClose={() => close(false)} />
    </Suspense>
  );
}

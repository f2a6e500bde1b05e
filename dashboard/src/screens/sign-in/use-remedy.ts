import { useCallback, useEffect, useRef, useState } from 'react';
import { remedy } from '../../api/client';

interface OpenRemedy {
  readonly isOpen: boolean;
  /** `isDone`: the refused requests are repeated. */
  readonly close: (isDone: boolean) => void;
}

/** Refused requests with this code wait until the user has resolved the cause. */
export function useRemedy(code: string): OpenRemedy {
  const waiting = useRef<((isDone: boolean) => void) | null>(null);
  const [isOpen, setOpen] = useState(false);
  const close = useCallback((isDone: boolean): void => {
    waiting.current?.(isDone);
    waiting.current = null;
    setOpen(false);
  }, []);
  useEffect(() => {
    const forget = remedy(
      code,
      () =>
        new Promise<boolean>((resolve) => {
          waiting.current = resolve;
          setOpen(true);
        }),
    );
    return () => {
      forget();
      waiting.current?.(false);
    };
  }, [code]);
  return { isOpen, close };
}

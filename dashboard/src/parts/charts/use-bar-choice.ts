import { type KeyboardEvent, type PointerEvent, useRef, useState } from 'react';

type Choice = readonly [anchor: number, end: number];

const STEPS: Readonly<Record<string, number>> = {
  ArrowLeft: -1,
  ArrowRight: 1,
  Home: -Infinity,
  End: Infinity,
};
const PRIMARY_BUTTON = 1;

/**
 * Choosing bars of a chart with a pointer or with keys: dragging, or Shift with the arrows, chooses several, a click or Enter those that are
 * marked, and Escape none. `onChoose` gets the first and the last.
 */
export function useBarChoice(count: number, onChoose: ((first: number, last: number) => void) | undefined) {
  const [chosen, setChosen] = useState<Choice | null>(null);
  const [pointed, setPointed] = useState<number | null>(null);
  const box = useRef<HTMLDivElement>(null);
  const within = (at: number): number => Math.max(0, Math.min(count - 1, at));
  const barAt = ({ clientX }: PointerEvent): number => {
    const { left = 0, width = 1 } = box.current?.getBoundingClientRect() ?? {};
    return within(Math.floor(((clientX - left) / width) * count));
  };
  const finish = ([anchor, end]: Choice): void => {
    setChosen(null);
    onChoose?.(Math.min(anchor, end), Math.max(anchor, end));
  };
  const leave = (): void => {
    setChosen(null);
    setPointed(null);
  };

  const onKeyDown = (event: KeyboardEvent): void => {
    const step = STEPS[event.key];
    if (step !== undefined) {
      const next = within((pointed ?? count) + step);
      setChosen(event.shiftKey ? [chosen?.[0] ?? pointed ?? next, next] : null);
      setPointed(next);
    } else if (event.key === 'Enter' && pointed !== null) finish(chosen ?? [pointed, pointed]);
    else if (event.key === 'Escape' && pointed !== null) leave();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };

  return {
    box,
    pointed,
    isChosen: (at: number): boolean =>
      chosen !== null && at >= Math.min(...chosen) && at <= Math.max(...chosen),
    handlers: {
      onPointerDown: (event: PointerEvent<HTMLElement>) => {
        if (!onChoose) return;
        event.currentTarget.setPointerCapture(event.pointerId);
        setChosen([barAt(event), barAt(event)]);
      },
      onPointerMove: (event: PointerEvent) => {
        setPointed(barAt(event));
        if (chosen && event.buttons === PRIMARY_BUTTON) setChosen([chosen[0], barAt(event)]);
      },
      onPointerUp: (event: PointerEvent) => chosen && finish([chosen[0], barAt(event)]),
      onPointerLeave: () => setPointed(null),
      ...(onChoose && { onKeyDown, onBlur: leave }),
    },
  };
}

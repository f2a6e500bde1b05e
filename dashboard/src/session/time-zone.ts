import { useLocalStorage } from '@mantine/hooks';

/** Holds an explicit choice only: a laptop that travels follows its browser. */
const KEY = 'gatehouse-chosen-time-zone';

export const browserTimeZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;

interface TimeZoneChoice {
  /** The user's choice, else the browser's time zone. */
  readonly zone: string;
  readonly isChosen: boolean;
  /** Null follows the browser. */
  readonly choose: (zone: string | null) => void;
}

export function useTimeZone(): TimeZoneChoice {
  const [chosen, setChosen, removeChosen] = useLocalStorage<string | undefined>({
    key: KEY,
    getInitialValueInEffect: false,
  });
  return {
    zone: chosen ?? browserTimeZone(),
    isChosen: chosen !== undefined,
    choose: (zone) => (zone === null ? removeChosen() : setChosen(zone)),
  };
}

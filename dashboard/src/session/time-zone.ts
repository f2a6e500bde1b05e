import { useLocalStorage } from '@mantine/hooks';

const KEY = 'gatehouse-time-zone';

export const browserTimeZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;

/** The user's time zone: their choice, else the browser's. */
export function useTimeZone(): [string, (zone: string) => void] {
  const [zone, setZone] = useLocalStorage({
    key: KEY,
    defaultValue: browserTimeZone(),
    getInitialValueInEffect: false,
  });
  return [zone, setZone];
}

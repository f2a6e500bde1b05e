import { Menu, SegmentedControl, Select, useMantineColorScheme } from '@mantine/core';
import { browserTimeZone, useTimeZone } from '../../session/time-zone';
import { words } from '../../words/en';

const ZONES = ['UTC', ...Intl.supportedValuesOf('timeZone')];

/** The user's theme and time zone in this browser. */
export function PersonSettings() {
  return (
    <>
      <Menu.Label>{words.shell.theme}</Menu.Label>
      <ThemeChoice />
      <Menu.Label>{words.shell.zone}</Menu.Label>
      <ZoneChoice />
    </>
  );
}

function ThemeChoice() {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  return (
    <SegmentedControl
      size="xs"
      fullWidth
      aria-label={words.shell.theme}
      value={colorScheme}
      data={(['light', 'dark', 'auto'] as const).map((value) => ({
        value,
        label: words.shell.themes[value],
      }))}
      onChange={(value) => setColorScheme(value)}
    />
  );
}

function ZoneChoice() {
  const [zone, setZone] = useTimeZone();
  const zones = ZONES.includes(zone) ? ZONES : [zone, ...ZONES];
  return (
    <Select
      size="xs"
      aria-label={words.shell.zone}
      data={[...new Set([browserTimeZone(), ...zones])]}
      value={zone}
      searchable
      limit={50}
      comboboxProps={{ withinPortal: false }}
      onChange={(next) => next && setZone(next)}
    />
  );
}

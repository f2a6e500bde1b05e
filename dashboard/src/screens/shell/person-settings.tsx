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

/** The value of the choice that follows the browser. */
const BROWSER = '';

function ZoneChoice() {
  const { zone, isChosen, choose } = useTimeZone();
  const zones = ZONES.includes(zone) ? ZONES : [zone, ...ZONES];
  return (
    <Select
      size="xs"
      aria-label={words.shell.zone}
      data={[{ value: BROWSER, label: words.shell.browserZone(browserTimeZone()) }, ...zones]}
      value={isChosen ? zone : BROWSER}
      searchable
      limit={50}
      comboboxProps={{ withinPortal: false }}
      allowDeselect={false}
      onChange={(next) => choose(next === BROWSER ? null : next)}
    />
  );
}

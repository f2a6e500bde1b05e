import { Button, Popover } from '@mantine/core';
import { IconChevronDown, IconClock } from '@tabler/icons-react';
import { useState } from 'react';
import { words } from '../../words/en';
import { moment, offset } from '../format/times';
import { useZone } from '../zone';
import { fromLocal, toLocal } from './local-time';
import { intervalOf, type Range, RELATIVE_RANGES } from './range';
import styles from './range-picker.module.css';

interface RangePickerProps {
  readonly value: Range;
  readonly onChange: (range: Range) => void;
}

/** Relative or absolute, in the user's zone, which is shown beside it. */
export function RangePicker({ value, onChange }: RangePickerProps) {
  const [isOpen, setOpen] = useState(false);
  const zone = useZone();
  const choose = (range: Range): void => {
    setOpen(false);
    onChange(range);
  };
  const label =
    value.kind === 'relative'
      ? words.range.relative[value.name]
      : `${moment(value.from, zone)} – ${moment(value.to, zone)}`;
  return (
    <Popover opened={isOpen} onChange={setOpen} position="bottom-end" shadow="md" trapFocus returnFocus>
      <Popover.Target>
        <Button
          leftSection={<IconClock size={16} aria-hidden />}
          rightSection={<IconChevronDown size={14} aria-hidden />}
          aria-label={`${words.range.label}: ${label}`}
          onClick={() => setOpen(!isOpen)}
        >
          {label}
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <div className={styles.panel}>
          <div className={styles.relative}>
            {RELATIVE_RANGES.map((name) => (
              <button
                key={name}
                type="button"
                className={styles.choice}
                aria-pressed={value.kind === 'relative' && value.name === name}
                onClick={() => choose({ kind: 'relative', name })}
              >
                {words.range.relative[name]}
              </button>
            ))}
          </div>
          <AbsoluteRange value={value} onChoose={choose} />
        </div>
      </Popover.Dropdown>
    </Popover>
  );
}

function AbsoluteRange({ value, onChoose }: { value: Range; onChoose: (range: Range) => void }) {
  const zone = useZone();
  const [initial] = useState(() => intervalOf(value, Date.now()));
  const [from, setFrom] = useState(toLocal(initial.from, zone));
  const [to, setTo] = useState(toLocal(initial.to, zone));
  const [begin, end] = [fromLocal(from, zone), fromLocal(to, zone)];
  const isOrdered = begin !== null && end !== null && begin < end;
  return (
    <form
      className={styles.absolute}
      onSubmit={(event) => {
        event.preventDefault();
        if (isOrdered) onChoose({ kind: 'absolute', from: begin, to: end });
      }}
    >
      <label>
        {words.range.from}
        <input type="datetime-local" step="1" value={from} onChange={({ target }) => setFrom(target.value)} />
      </label>
      <label>
        {words.range.to}
        <input type="datetime-local" step="1" value={to} onChange={({ target }) => setTo(target.value)} />
      </label>
      <p className={styles.zone}>{isOrdered ? `${zone}, ${offset(zone)}` : words.range.order}</p>
      <Button type="submit" variant="filled" disabled={!isOrdered}>
        {words.range.apply}
      </Button>
    </form>
  );
}

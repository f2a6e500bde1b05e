import { ActionIcon, Tooltip } from '@mantine/core';
import { useClipboard } from '@mantine/hooks';
import { IconCheck, IconCopy } from '@tabler/icons-react';
import { words } from '../../words/en';
import styles from './identifier.module.css';

const HEAD = 13;
const TAIL = 4;

const shortened = (id: string): string =>
  id.length > HEAD + TAIL + 3 ? `${id.slice(0, HEAD)}…${id.slice(-TAIL)}` : id;

/** A copy button with its own confirmation. */
export function CopyButton({ value, label }: { value: string; label: string }) {
  const clipboard = useClipboard({ timeout: 1_500 });
  return (
    <Tooltip label={clipboard.copied ? words.parts.copied : label}>
      <ActionIcon aria-label={label} onClick={() => clipboard.copy(value)}>
        {clipboard.copied ? <IconCheck size={16} /> : <IconCopy size={16} />}
      </ActionIcon>
    </Tooltip>
  );
}

/** A shortened id, with the complete one on hover and in the clipboard. */
export function Identifier({ id }: { id: string }) {
  return (
    <span className={styles.identifier}>
      <code title={id}>{shortened(id)}</code>
      <CopyButton value={id} label={words.identifier.copy(id)} />
    </span>
  );
}

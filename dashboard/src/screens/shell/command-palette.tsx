import { useNavigate } from '@tanstack/react-router';
import { type KeyboardEvent, useState } from 'react';
import { Dialog } from '../../parts/overlay/dialog';
import { useMay, usePlace } from '../../session/session';
import { words } from '../../words/en';
import styles from './command-palette.module.css';
import { PAGES } from './navigation';

interface Command {
  readonly key: string;
  readonly title: string;
  readonly run: () => void;
}

const REQUEST_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Goes to a page by name, or to a request by id. */
export function CommandPalette({ onClose }: { onClose: () => void }) {
  const [text, setText] = useState('');
  const [reached, setReached] = useState(0);
  const commands = useCommands(text.trim(), onClose);
  const at = Math.min(reached, commands.length - 1);
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'ArrowDown') setReached(Math.min(at + 1, commands.length - 1));
    else if (event.key === 'ArrowUp') setReached(Math.max(at - 1, 0));
    else if (event.key === 'Enter') commands[at]?.run();
    else return;
    event.preventDefault();
  };
  return (
    <Dialog
      onClose={onClose}
      withCloseButton={false}
      centered={false}
      padding={0}
      size={560}
      aria-label={words.shell.search}
    >
      <input
        className={styles.input}
        role="combobox"
        aria-expanded
        aria-controls="commands"
        aria-activedescendant={commands[at] ? `command-${commands[at].key}` : undefined}
        aria-label={words.shell.search}
        placeholder={words.shell.search}
        value={text}
        data-autofocus
        onChange={({ target }) => setText(target.value)}
        onKeyDown={onKeyDown}
      />
      <ul id="commands" role="listbox" className={styles.commands} aria-label={words.shell.searchGoTo}>
        {commands.map(({ key, title, run }, index) => (
          <li
            key={key}
            id={`command-${key}`}
            role="option"
            aria-selected={index === at}
            onPointerEnter={() => setReached(index)}
            onClick={run}
          >
            {title}
          </li>
        ))}
      </ul>
      {commands.length === 0 && <p className={styles.nothing}>{words.shell.searchNothing}</p>}
    </Dialog>
  );
}

function useCommands(text: string, onClose: () => void): readonly Command[] {
  const navigate = useNavigate();
  const may = useMay();
  const { workspace } = usePlace();
  const params = { workspace: workspace.slug };
  const closing = (go: () => unknown) => () => {
    onClose();
    void go();
  };
  if (REQUEST_ID.test(text))
    return [
      {
        key: 'request',
        title: words.shell.searchOpenRequest(text),
        run: closing(() =>
          navigate({
            to: '/w/$workspace/logs/$id',
            params: { ...params, id: text.toLowerCase() },
            search: {},
          }),
        ),
      },
    ];
  return PAGES.filter(
    ({ scopes, title }) => scopes.some(may) && title.toLowerCase().includes(text.toLowerCase()),
  ).map(({ key, title, to }) => ({
    key,
    title: `${words.shell.searchGoTo} ${title}`,
    run: closing(() => navigate({ to, params, search: {} })),
  }));
}

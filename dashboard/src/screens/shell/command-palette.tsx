import { useMantineColorScheme } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { type KeyboardEvent, useState } from 'react';
import { Dialog } from '../../parts/overlay/dialog';
import { useMay, usePlace, useSignOut } from '../../session/session';
import { words } from '../../words/en';
import styles from './command-palette.module.css';
import { type NamedThing, useNamedThings } from './named-things';
import { PAGES } from './navigation';

const { shell } = words;

interface Command {
  readonly key: string;
  readonly title: string;
  readonly run: () => void;
}

const REQUEST_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Goes to a page, a workspace, a key, a config or a user by name, or to a request by id, and runs actions. */
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

/** Places and actions; an action has the scope that its page asks for. */
function useCommands(text: string, onClose: () => void): readonly Command[] {
  const navigate = useNavigate();
  const may = useMay();
  const { session, workspace } = usePlace();
  const signOut = useSignOut();
  const { setColorScheme } = useMantineColorScheme();
  const things = useNamedThings(REQUEST_ID.test(text) ? '' : text, workspace.slug, may);
  const command = (key: string, title: string, run: () => unknown): Command => ({
    key,
    title,
    run: () => {
      onClose();
      void run();
    },
  });
  const go = ({ key, title, to, search = {} }: NamedThing): Command =>
    command(key, title, () => navigate({ to, search } as never));
  const goTo = (key: string, title: string, to: string): Command =>
    go({ key, title: `${shell.searchGoTo} ${title}`, to });
  const inWorkspace = (to: string, slug = workspace.slug): string => to.replace('$workspace', slug);

  if (REQUEST_ID.test(text)) {
    const to = inWorkspace(`/w/$workspace/logs/${text.toLowerCase()}`);
    return [go({ key: 'request', title: shell.searchOpenRequest(text), to })];
  }
  const fixed = [
    ...PAGES.filter(({ scopes }) => scopes.some(may)).map(({ key, title, to }) =>
      goTo(key, title, inWorkspace(to)),
    ),
    ...CREATIONS.filter(({ scope }) => may(scope)).map(({ key, title, to }) =>
      go({ key, title, to: inWorkspace(to), search: { create: 'on' } }),
    ),
    ...session.workspaces
      .filter(({ id }) => id !== workspace.id)
      .map(({ id, name, slug }) => goTo(id, `${shell.workspace} ${name}`, inWorkspace(OVERVIEW, slug))),
    goTo('account', shell.accountPage, '/account'),
    ...THEMES.map((theme) =>
      command(theme, `${shell.theme}: ${shell.themes[theme]}`, () => setColorScheme(theme)),
    ),
    command('sign-out', shell.signOut, signOut),
  ];
  const wanted = text.toLowerCase();
  return [...fixed.filter(({ title }) => title.toLowerCase().includes(wanted)), ...things.map(go)];
}

const OVERVIEW = '/w/$workspace/overview';
const THEMES = ['light', 'dark', 'auto'] as const;
const CREATIONS = [
  {
    key: 'create-api-key',
    title: shell.create.apiKey,
    to: '/w/$workspace/api-keys',
    scope: 'workspace_service_api_keys.create',
  },
  {
    key: 'create-virtual-key',
    title: shell.create.virtualKey,
    to: '/w/$workspace/virtual-keys',
    scope: 'virtual_keys.create',
  },
  { key: 'create-config', title: shell.create.config, to: '/w/$workspace/configs', scope: 'configs.create' },
] as const;

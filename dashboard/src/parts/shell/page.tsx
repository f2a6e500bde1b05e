import { ActionIcon, Kbd } from '@mantine/core';
import { IconMenu2, IconSearch } from '@tabler/icons-react';
import { type ReactNode, useEffect } from 'react';
import { words } from '../../words/en';
import styles from './page.module.css';
import { useShell } from './shell';

interface PageProps {
  readonly title: string;
  /** One line about the page. */
  readonly text: string;
  /** The primary action, in the top bar. */
  readonly action?: ReactNode;
  /** Range picker and other tools beside the title. */
  readonly tools?: ReactNode;
  /** A table page fills the window and scrolls inside; other pages scroll as a whole. */
  readonly isTable?: boolean;
  readonly children: ReactNode;
}

/** One page: the top bar with its location, its title, and its content. */
export function Page({ title, text, action, tools, isTable = false, children }: PageProps) {
  const { crumbs, openMenu, openSearch } = useShell();
  useEffect(() => {
    document.title = `${title} – ${words.product}`;
  }, [title]);
  return (
    <>
      <header className={styles.bar}>
        <ActionIcon className={styles.menu} aria-label={words.shell.menu} onClick={openMenu}>
          <IconMenu2 size={18} />
        </ActionIcon>
        <ol className={styles.crumbs}>
          {[...crumbs, title].map((crumb, at) => (
            <li key={crumb} aria-current={at === crumbs.length ? 'page' : undefined}>
              {crumb}
            </li>
          ))}
        </ol>
        <button type="button" className={styles.search} onClick={openSearch}>
          <IconSearch size={16} aria-hidden />
          <span>{words.shell.search}</span>
          <span className={styles.keys} aria-hidden>
            <Kbd size="xs">{words.shell.searchKey}</Kbd> <Kbd size="xs">K</Kbd>
          </span>
        </button>
        {action}
      </header>
      <div className={styles.page} data-table={isTable || undefined}>
        <div className={styles.head}>
          <div>
            <h1>{title}</h1>
            <p>{text}</p>
          </div>
          {tools && <div className={styles.tools}>{tools}</div>}
        </div>
        {children}
      </div>
    </>
  );
}

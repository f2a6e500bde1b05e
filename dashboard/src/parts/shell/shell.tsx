import { ActionIcon, Tooltip } from '@mantine/core';
import { useLocalStorage } from '@mantine/hooks';
import { IconLayoutSidebarLeftCollapse, IconLayoutSidebarLeftExpand } from '@tabler/icons-react';
import { createContext, type ReactNode, useContext, useState } from 'react';
import { words } from '../../words/en';
import { Brand } from '../brand';
import styles from './shell.module.css';

export interface NavigationGroup {
  readonly title: string | null;
  readonly links: readonly NavigationLink[];
}

export interface NavigationLink {
  readonly key: string;
  readonly title: string;
  readonly icon: ReactNode;
}

interface ShellContextValue {
  readonly crumbs: readonly string[];
  readonly openMenu: () => void;
  readonly openSearch: () => void;
}

const ShellContext = createContext<ShellContextValue>({
  crumbs: [],
  openMenu: () => undefined,
  openSearch: () => undefined,
});
export const useShell = (): ShellContextValue => useContext(ShellContext);

interface ShellProps {
  readonly groups: readonly NavigationGroup[];
  /** Wraps the content of a link in an element that navigates to it and marks the current page with `aria-current`. */
  readonly renderLink: (link: NavigationLink, className: string | undefined, content: ReactNode) => ReactNode;
  readonly switcher: ReactNode;
  readonly person: ReactNode;
  /** Shown by `Page` before its title in the top bar. */
  readonly crumbs: readonly string[];
  readonly openSearch: () => void;
  readonly banner?: ReactNode;
  readonly children: ReactNode;
}

/** The frame of every page: navigation on the left, which collapses to icons and becomes a drawer on a narrow screen. */
export function Shell({
  groups,
  renderLink,
  switcher,
  person,
  crumbs,
  openSearch,
  banner,
  children,
}: ShellProps) {
  const [isCollapsed, setCollapsed] = useLocalStorage({
    key: 'gatehouse-sidebar-collapsed',
    defaultValue: false,
    getInitialValueInEffect: false,
  });
  const [isOpen, setOpen] = useState(false);
  return (
    <ShellContext value={{ crumbs, openSearch, openMenu: () => setOpen(true) }}>
      <div className={styles.shell} data-collapsed={isCollapsed || undefined} data-open={isOpen || undefined}>
        <a className={styles.skip} href="#content">
          {words.shell.skip}
        </a>
        <aside className={styles.sidebar} onKeyDown={({ key }) => key === 'Escape' && setOpen(false)}>
          <div className={styles.brand}>
            <Brand isIconOnly={isCollapsed && !isOpen} />
            <CollapseButton isCollapsed={isCollapsed} onToggle={() => setCollapsed(!isCollapsed)} />
          </div>
          {switcher}
          <nav
            className={styles.navigation}
            aria-label={words.shell.navigation}
            onClick={() => setOpen(false)}
          >
            {groups.map(({ title, links }) => (
              <section key={title ?? ''}>
                {title && <h2>{title}</h2>}
                {links.map((link) => (
                  <NavigationItem
                    key={link.key}
                    link={link}
                    isIconOnly={isCollapsed && !isOpen}
                    renderLink={renderLink}
                  />
                ))}
              </section>
            ))}
          </nav>
          <div className={styles.person}>{person}</div>
        </aside>
        {isOpen && (
          <button
            type="button"
            className={styles.shade}
            aria-label={words.parts.close}
            onClick={() => setOpen(false)}
          />
        )}
        <main id="content" className={styles.content} tabIndex={-1}>
          {banner}
          {children}
        </main>
      </div>
    </ShellContext>
  );
}

interface NavigationItemProps {
  readonly link: NavigationLink;
  readonly isIconOnly: boolean;
  readonly renderLink: ShellProps['renderLink'];
}

function NavigationItem({ link, isIconOnly, renderLink }: NavigationItemProps) {
  const content = (
    <>
      {link.icon}
      <span className={isIconOnly ? 'visually-hidden' : undefined}>{link.title}</span>
    </>
  );
  return (
    <Tooltip label={link.title} position="right" disabled={!isIconOnly}>
      <span className={styles.item}>{renderLink(link, styles.link, content)}</span>
    </Tooltip>
  );
}

function CollapseButton({ isCollapsed, onToggle }: { isCollapsed: boolean; onToggle: () => void }) {
  const label = isCollapsed ? words.shell.expand : words.shell.collapse;
  const Icon = isCollapsed ? IconLayoutSidebarLeftExpand : IconLayoutSidebarLeftCollapse;
  return (
    <Tooltip label={label} position="right">
      <ActionIcon className={styles.collapse} aria-label={label} onClick={onToggle}>
        <Icon size={16} />
      </ActionIcon>
    </Tooltip>
  );
}

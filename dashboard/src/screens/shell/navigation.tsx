import { Link } from '@tanstack/react-router';
import {
  IconApi,
  IconGauge,
  IconHistory,
  IconKey,
  IconKeyOff,
  IconLayoutDashboard,
  IconListDetails,
  IconLock,
  IconRoute2,
  IconShieldCheck,
  IconUsers,
  IconUsersGroup,
} from '@tabler/icons-react';
import type { ReactNode } from 'react';
import type { NavigationGroup, NavigationLink } from '../../parts/shell/shell';
import { words } from '../../words/en';

const { pages, groups } = words.shell;

/** All pages of a workspace; any one of the listed permissions grants access. */
export const PAGES = [
  {
    key: 'overview',
    to: '/w/$workspace/overview',
    title: pages.overview,
    icon: IconLayoutDashboard,
    scopes: ['analytics.view'],
    group: null,
  },
  {
    key: 'logs',
    to: '/w/$workspace/logs',
    title: pages.logs,
    icon: IconListDetails,
    scopes: ['logs.list'],
    group: groups.observe,
  },
  {
    key: 'virtual-keys',
    to: '/w/$workspace/virtual-keys',
    title: pages.virtualKeys,
    icon: IconKey,
    scopes: ['virtual_keys.list'],
    group: groups.build,
  },
  {
    key: 'configs',
    to: '/w/$workspace/configs',
    title: pages.configs,
    icon: IconRoute2,
    scopes: ['configs.list'],
    group: groups.build,
  },
  {
    key: 'api-keys',
    to: '/w/$workspace/api-keys',
    title: pages.apiKeys,
    icon: IconApi,
    scopes: [
      'workspace_service_api_keys.list',
      'workspace_user_api_keys.list',
      'organisation_service_api_keys.list',
    ],
    group: groups.govern,
  },
  {
    key: 'limits',
    to: '/w/$workspace/limits',
    title: pages.limits,
    icon: IconGauge,
    scopes: [
      'virtual_keys.list',
      'workspace_service_api_keys.list',
      'workspace_user_api_keys.list',
      'workspaces.read',
    ],
    group: groups.govern,
  },
  {
    key: 'members',
    to: '/w/$workspace/members',
    title: pages.members,
    icon: IconUsersGroup,
    scopes: ['workspace_users.list'],
    group: groups.govern,
  },
  {
    key: 'people',
    to: '/org/people',
    title: pages.people,
    icon: IconUsers,
    scopes: ['organisation_users.list'],
    group: groups.organization,
  },
  {
    key: 'admin-keys',
    to: '/org/admin-keys',
    title: pages.adminKeys,
    icon: IconShieldCheck,
    scopes: ['organisation_service_api_keys.list'],
    group: groups.organization,
  },
  {
    key: 'sign-in',
    to: '/org/sign-in',
    title: pages.signIn,
    icon: IconLock,
    scopes: ['organisation_settings.read'],
    group: groups.organization,
  },
  {
    key: 'refused-keys',
    to: '/org/refused-keys',
    title: pages.refusedKeys,
    icon: IconKeyOff,
    scopes: ['audit_logs.list'],
    group: groups.organization,
  },
  {
    key: 'audit-log',
    to: '/w/$workspace/audit-log',
    title: pages.auditLog,
    icon: IconHistory,
    scopes: ['audit_logs.list'],
    group: groups.organization,
  },
] as const;

/** Whether a path is a page of the organization, although its address may name a workspace. */
export const isOrganizationPage = (path: string): boolean =>
  PAGES.some(
    ({ to, group }) => group === groups.organization && path.endsWith(to.slice(to.lastIndexOf('/'))),
  );

/** The links of areas that the user can enter. Null (no user yet) shows all. */
export function navigationOf(may: ((scope: string) => boolean) | null): readonly NavigationGroup[] {
  const visible = PAGES.filter(({ scopes }) => may === null || scopes.some(may));
  const titles = [...new Set(visible.map(({ group }) => group))];
  return titles.map((title) => ({
    title,
    links: visible
      .filter(({ group }) => group === title)
      .map(({ key, title: name, icon: Icon }) => ({
        key,
        title: name,
        icon: <Icon aria-hidden stroke={1.6} />,
      })),
  }));
}

export function renderNavigationLink(
  workspace: string,
  { key }: NavigationLink,
  className: string | undefined,
  content: ReactNode,
): ReactNode {
  const page = PAGES.find((one) => one.key === key);
  if (!page) return content;
  return (
    <Link
      to={page.to}
      params={{ workspace }}
      search={{}}
      className={className}
      activeProps={{ 'aria-current': 'page' }}
      activeOptions={{ includeSearch: false }}
    >
      {content}
    </Link>
  );
}

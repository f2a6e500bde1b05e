const LONGEST_PATH = 2_000;
const DASHBOARD = '/ui/';
const NO_HOST = 'http://own.invalid';

/** The start page of the dashboard, the default target. */
export const DASHBOARD_PATH = DASHBOARD;

/** Whether the path is within the dashboard. */
export function isDashboardPath(text: string): boolean {
  if (text.length > LONGEST_PATH || !/^\/ui(?:[/?#]|$)/.test(text) || /[\\\s\p{Cc}]/u.test(text))
    return false;
  if (!URL.canParse(text, NO_HOST)) return false;
  const { origin, pathname } = new URL(text, NO_HOST);
  return origin === NO_HOST && (pathname === '/ui' || pathname.startsWith(DASHBOARD));
}

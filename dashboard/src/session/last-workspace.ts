import type { Session, SessionWorkspace } from '../api/auth';

const LAST_WORKSPACE = 'gatehouse-workspace';

export const rememberWorkspace = ({ slug }: SessionWorkspace): void =>
  localStorage.setItem(LAST_WORKSPACE, slug);

/** The workspace that was open last in this browser, or else the first by name. Undefined for a user without one. */
export function lastWorkspaceOf({ workspaces }: Session): SessionWorkspace | undefined {
  const slug = localStorage.getItem(LAST_WORKSPACE);
  return workspaces.find((one) => one.slug === slug) ?? workspaces[0];
}
